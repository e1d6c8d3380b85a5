"""Coverage-guided fuzzing of what reads hostile input: datasets, replies of judges, extractors of answers.

    uv run --with atheris python tools/fuzz.py datasets -max_total_time=60
    uv run --with atheris python tools/fuzz.py replies -max_total_time=60
    uv run --with atheris python tools/fuzz.py extractors -max_total_time=60

A finding is an exception that is none of evalsi's own, or an input that takes longer than a second: the fuzzer keeps it
in `crash-…` or `timeout-…`. The options are libFuzzer's. Kept out of CI, where hypothesis looks at the same readers.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris  # pyright: ignore[reportMissingModuleSource]

with atheris.instrument_imports(include=["evalsi"]):  # pyright: ignore[reportAttributeAccessIssue]
    from evalsi.core.errors import EvalsiError
    from evalsi.datasets import DatasetOptions, open_dataset
    from evalsi.evaluators.matching.choice_extraction import ChoiceFinder
    from evalsi.evaluators.matching.number_extraction import number_reader
    from evalsi.evaluators.matching.reasoning_blocks import answer_finder
    from evalsi.evaluators.matching.text_normalization import squad_words
    from evalsi.judges.replies.claims import read_claims
    from evalsi.judges.replies.grade import read_grade
    from evalsi.judges.replies.json_form import FlagField, JsonForm, LabelField, NumberField, TextField
    from evalsi.ports.chat_model import ChatReply

FORMATS = ("jsonl", "json", "csv", "tsv")
FORM = JsonForm(
    (
        TextField("reasoning"),
        NumberField("score", low=0, high=1),
        LabelField("grade", ("A", "B")),
        FlagField("passed"),
    )
)
FOLDER = tempfile.TemporaryDirectory()
FILE = Path(FOLDER.name) / "data"


def datasets(data: bytes) -> None:
    if not data:
        return
    form = FORMATS[data[0] % len(FORMATS)]
    FILE.write_bytes(data[1:])
    with contextlib.suppress(EvalsiError):
        dataset = open_dataset(str(FILE), options=DatasetOptions(format=form, on_invalid="skip"))
        dataset.scan()
        for _ in dataset.records():
            pass


def replies(data: bytes) -> None:
    reply = ChatReply(text=data.decode("utf-8", errors="replace"))
    readers: list[Callable[[ChatReply], object]] = [
        FORM.read,
        read_claims,
        lambda one: read_grade(one, ["C", "I", "P"]),
    ]
    for read in readers:
        with contextlib.suppress(EvalsiError):
            read(reply)


NUMBERS = [number_reader("."), number_reader(",")]
CHOICES = ChoiceFinder(["A", "B", "C", "D"])
ANSWER = answer_finder(["think", "reasoning"])


def extractors(data: bytes) -> None:
    text = data.decode("utf-8", errors="replace")
    for read in NUMBERS:
        read(text)
    CHOICES(text)
    ANSWER(text)
    squad_words(text)


TARGETS = {"datasets": datasets, "replies": replies, "extractors": extractors}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        raise SystemExit(f"usage: fuzz.py {'|'.join(TARGETS)} [-max_total_time=60]")
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, line_buffering=True)
    atheris.Setup([sys.argv[0], "-timeout=1", "-max_len=4096", *sys.argv[2:]], TARGETS[sys.argv[1]])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
