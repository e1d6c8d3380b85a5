# Two commands do everything on a fresh machine: `make demo` and `make test`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
export UV_PYTHON_PREFERENCE ?= system
export UV_COMPILE_BYTECODE = 1
unexport PYTHONDONTWRITEBYTECODE  # tests start hundreds of processes; compiling every module in each is most of their time

UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := $(UV) run --frozen --no-sync

.PHONY: help setup demo test grpo check quick format generate generated lint types layers clean

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

test: setup  ## Every test, with the same generated inputs each time (`make quick` draws new ones)
	$(RUN) pytest -n auto --dist loadgroup --hypothesis-profile=ci

grpo: .grpo/.ready  ## Train a tiny model with TRL's GRPO and rewards from sandboxed code (its own environment, with torch)
	.grpo/bin/python -m pytest tests/trainers -q -s

.grpo/.ready: tools/grpo-requirements.txt pyproject.toml
	python3 -m venv .grpo
	.grpo/bin/pip install --quiet --requirement tools/grpo-requirements.txt --editable '.[math,sandbox]'
	@touch $@

check: setup  ## Everything a change must pass in under a minute (on two idle cores), side by side
	@$(MAKE) --no-print-directory -j 4 --output-sync=target lint types layers generated quick

quick: setup
	$(RUN) pytest -n auto --dist loadgroup -m "not slow" -q

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

generated: setup
	$(RUN) python tools/generate_schema.py --check
	$(RUN) python tools/generate_reference.py --check
	$(RUN) python tools/generate_notices.py --check

format: setup  ## Format and fix what can be fixed
	$(RUN) ruff format . && $(RUN) ruff check --fix .

clean:
	rm -rf .venv .uv .grpo build dist .pytest_cache .ruff_cache
