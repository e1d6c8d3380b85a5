"""No log makes a reader crash: changed at random, it gives samples, runs and records, or an error of ours."""

import copy
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalsi.core.errors import EvalsiError
from evalsi.datasets import DatasetOptions, open_dataset
from evalsi.datasets.imports import UnreadableSample, open_logs
from evalsi.results.document import document_parts
from evalsi.results.imported_run import imported_runs
from tests.case_files import CASES

LOGS = Path(__file__).parent / "logs"
DOCUMENTS = [
    ("inspect", CASES / "files" / "P01_tiny_sums.json"),
    ("promptfoo", LOGS / "promptfoo.json"),
    ("deepeval", LOGS / "deepeval.json"),
]
LINES = [
    ("lm-eval", next((LOGS / "lm-eval").glob("samples_capitals*.jsonl"))),
    ("lm-eval", next((LOGS / "lm-eval").glob("samples_choices*.jsonl"))),
    ("promptfoo", LOGS / "promptfoo.jsonl"),
    ("openai-evals", LOGS / "openai_evals.jsonl"),
]
ODD = st.sampled_from(
    [None, True, False, 0, -1, 7, 1.5, math.nan, math.inf, 10**30, 10**400, "", "text", "é\ud800", "C", "nan", "1e999",
     [], {}, [None], [[[]]], {"a": {"b": []}}, [{"role": "tool"}], {"role": "user", "content": 3}, "attachment://" + "0" * 32,
     "\0", "9" * 40, {"text": 3}, {"type": "tool_use"}]
).map(copy.deepcopy)  # fmt: skip
ROBUST = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
SKIP = DatasetOptions(on_invalid="skip")


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value, those inside the event logs left out: nobody reads them."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if key not in ("events", "events_data", "env"):
            found += places_in(inner, (*path, key))
    return found


def changed(document: Any, path: tuple[Any, ...], value: Any, *, drop: bool) -> None:
    for key in path[:-1]:
        document = document[key]
    if drop:
        del document[path[-1]]
    else:
        document[path[-1]] = value


def mutate(draw: st.DataObject, document: Any) -> Any:
    for _ in range(draw.draw(st.integers(1, 3))):
        places = places_in(document)
        if not places:
            break
        path = draw.draw(st.sampled_from(places))
        changed(document, path, draw.draw(ODD), drop=draw.draw(st.booleans()))
    return document


def survives(tool: str, name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        address = f"{tool}://{path}"
        try:
            logs = open_logs(address)
            for log in logs:
                for sample in log.read_samples():
                    assert isinstance(sample, UnreadableSample) or sample.record.id
        except EvalsiError as error:
            assert name in str(error)
            return
        try:
            for run in imported_runs(address, on_invalid="skip"):
                written = b"".join(document_parts(run))
                json.loads(written, parse_constant=_refuse)
        except EvalsiError as error:
            assert name in str(error)
        try:
            list(open_dataset(address, options=SKIP))
        except EvalsiError as error:
            assert name in str(error)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in a results document")


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "path"), DOCUMENTS, ids=lambda value: getattr(value, "name", value))
@given(draw=st.data())
@ROBUST
def test_a_document_changed_anywhere_never_crashes_a_reader(tool: str, path: Path, draw: st.DataObject) -> None:
    document = mutate(draw, json.loads(path.read_text()))
    survives(tool, path.name, json.dumps(document).encode())


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "path"), LINES, ids=lambda value: getattr(value, "name", value))
@given(draw=st.data())
@ROBUST
def test_a_line_changed_anywhere_never_crashes_a_reader(tool: str, path: Path, draw: st.DataObject) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    mutate(draw, lines)
    survives(tool, path.name, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["weather.eval", "capitals_deflate.eval"])
@given(draw=st.data())
@ROBUST
def test_a_zip_with_bytes_changed_or_cut_off_never_crashes_a_reader(name: str, draw: st.DataObject) -> None:
    content = bytearray((LOGS / name).read_bytes())
    # The directory is at the end; changes there are the interesting ones.
    tail = draw.draw(st.booleans())
    for _ in range(draw.draw(st.integers(1, 4))):
        low = max(0, len(content) - 2000) if tail else 0
        content[draw.draw(st.integers(low, len(content) - 1))] = draw.draw(st.integers(0, 255))
    if draw.draw(st.booleans()):
        del content[draw.draw(st.integers(0, len(content))) :]
    survives("inspect", name, bytes(content))


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["inspect", "lm-eval", "promptfoo", "deepeval", "openai-evals"])
@given(
    content=st.one_of(
        st.binary(max_size=300),
        st.recursive(ODD, lambda inner: st.lists(inner, max_size=3)).map(json.dumps).map(str.encode),
    )
)
@ROBUST
def test_any_bytes_never_crash_a_reader(tool: str, content: bytes) -> None:
    survives(tool, "any.json", content)
