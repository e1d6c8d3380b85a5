"""Evaluators whose values a rollout's metadata decides, for the tests of rewards."""

import time
from pathlib import Path
from typing import Any

import msgspec

from evalsi import Record, evaluator, output
from evalsi.core.errors import MeasurementError


def _said(value: Any) -> float:
    if isinstance(value, str) and value.startswith("ERROR"):
        raise MeasurementError(value.removeprefix("ERROR "))
    if value == "NaN":
        return float("nan")
    return 0.0 if value == "timeout of the program" else float(value)


@evaluator(name="format", outputs=[output("format", "passed")], bounded=True)
def format(record: Record) -> bool:  # noqa: A001 - the part's name in the shared case
    return bool(record.metadata["format"])


@evaluator(name="tests", outputs=[output("tests")], bounded=True)
def tests(record: Record) -> float:
    return _said(record.metadata["tests"])


class CountedParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file: str


@evaluator(name="counted", params=CountedParams, outputs=[output("counted")], bounded=True)
def counted(record: Record, params: CountedParams) -> float:
    with Path(params.file).open("a") as calls:
        calls.write("x")
    return _said(record.metadata["value"])


@evaluator(name="hanging", outputs=[output("hanging")])
def hanging(record: Record) -> float:
    if record.metadata["hangs"]:
        time.sleep(60)
    return 1.0
