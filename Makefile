# Two commands do everything on a fresh machine: `make demo` and `make test`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
export UV_PYTHON_PREFERENCE ?= system
export UV_COMPILE_BYTECODE = 1
# Else every process of the tests starts threads with numpy that it never uses.
export OPENBLAS_NUM_THREADS = 1
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes; compiling every module in each is most of their time

UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := $(UV) run --frozen --no-sync

# Many tests wait: for a process that was killed, a lease, a server. Twice as many workers as processors use that time.
PARALLEL = -n $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN)) --dist loadgroup

# A slow test that fails is tried once more, and the summary names it: docs/decisions/0029-a-second-try.md
SECOND_TRY = --reruns 1 --reruns-delay 5 -raR

.PHONY: help setup demo test thorough grpo check quick format generate generated lint types changed-types layers clean

help:  ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.uv/bin/uv:
	python3 -m venv .uv && .uv/bin/pip install --quiet uv

setup: .venv/.synced  ## Install everything into .venv (bootstraps uv from the package index when it is missing)

.venv/.synced: pyproject.toml uv.lock $(wildcard adapters/*/pyproject.toml) $(filter .uv/bin/uv,$(UV))
	$(UV) sync --frozen --quiet --extra all --extra sandbox
	@touch $@

demo: setup  ## Score a shipped dataset, print the table, write the report
	$(RUN) bash examples/demo/run.sh

# Our own modules are compiled once, and not in every process that finds them uncompiled.
test: setup  ## Every test, with the same generated inputs each time (`make quick` draws new ones)
	$(RUN) python -m compileall -q -j 0 src
	$(RUN) pytest $(PARALLEL) $(SECOND_TRY) --hypothesis-profile=ci

thorough: setup  ## Every test, and those that repeat go on for long: many more kills, minutes of hammering
	EVALSI_THOROUGH=1 $(RUN) pytest $(PARALLEL) --hypothesis-profile=quick

grpo: .grpo/.ready  ## Train a tiny model with TRL's GRPO and rewards from sandboxed code (its own environment, with torch)
	.grpo/bin/python -m pytest tests/trainers -q -s

.grpo/.ready: tools/grpo-requirements.txt pyproject.toml
	python3 -m venv .grpo
	.grpo/bin/pip install --quiet --requirement tools/grpo-requirements.txt --editable '.[math,sandbox]'
	@touch $@

check: setup  ## What a change must pass, in under a minute on two idle cores: quick tests, and the types it touches
	@$(MAKE) --no-print-directory -j 3 --output-sync=target lint changed-types layers generated quick

quick: setup
	$(RUN) pytest -n auto --dist loadgroup -m "not slow" -q --hypothesis-profile=quick $(addprefix --ignore=,$(shell grep -v '^\#' tests/slow_files.txt))

changed-types: setup  # those of the files that differ from origin/main, and of what imports them; `make types` has all
	$(RUN) python tools/changed_modules.py | xargs -r $(RUN) pyright

lint: setup
	$(RUN) ruff check . && $(RUN) ruff format --check .

types: setup
	$(RUN) pyright

layers: setup
	$(RUN) lint-imports

generate: setup  ## Write the schema types, JSON Schema and reference pages again from proto/ and the code
	$(RUN) python tools/generate_schema.py
	$(RUN) python tools/generate_reference.py
	$(RUN) python tools/generate_notices.py
	$(RUN) python tools/generate_dashboard.py

generated: setup
	$(RUN) python tools/generate_schema.py --check
	$(RUN) python tools/generate_reference.py --check
	$(RUN) python tools/generate_notices.py --check
	$(RUN) python tools/generate_dashboard.py --check

format: setup  ## Format and fix what can be fixed
	$(RUN) ruff format . && $(RUN) ruff check --fix .

clean:
	rm -rf .venv .uv .grpo build dist .pytest_cache .ruff_cache
