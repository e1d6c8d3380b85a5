"""What leaves a server in a message, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidDataError, NotFoundError, UnknownNameError, UsageError
from evalsi.core.outward_words import outward_words, without_paths


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("no store at /var/lib/evalsi/evalsi.db", "no store at evalsi.db"),
        ("/srv/sets/a b.jsonl:3:1: not JSON", "a b.jsonl:3:1: not JSON"),
        ("'/root/x/y.jsonl' is no file, nor is (/tmp/z/)", "'y.jsonl' is no file, nor is (a folder)"),
        ("objects are at file:///var/lib/objects", "objects are at objects"),
        ("https://api.example.com/v1/chat says no", "https://api.example.com/v1/chat says no"),
        ("see #/$defs/Thing/properties", "see #/$defs/Thing/properties"),
        ("spec.gates[0]/min, ratio 3/4, sets/a/b.jsonl", "spec.gates[0]/min, ratio 3/4, sets/a/b.jsonl"),
        ("ask GET /v1 or / alone", "ask GET /v1 or / alone"),
    ],
)
def test_paths_of_this_machine_are_cut_down_to_their_last_name(inside: str, outside: str) -> None:
    assert without_paths(inside) == outside


@given(
    st.lists(st.from_regex(r"\A[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,8}\Z"), min_size=2, max_size=5),
    st.sampled_from((" ", "'", "(", "=", ",")),
)
def test_no_folder_survives(parts: list[str], before: str) -> None:
    told = without_paths(f"x{before}/{'/'.join(parts)} y")
    assert told == f"x{before}{parts[-1]} y"


def test_advice_for_a_command_line_is_left_out_or_becomes_a_call() -> None:
    assert outward_words(UsageError("no judge", hint="name one with --judge-model NAME")) == "no judge"
    assert outward_words(UsageError("no judge", hint="name one; see: evalsi serve --help")) == "no judge; name one"
    assert (
        outward_words(NotFoundError("no run x", hint="'evalsi runs list' shows all")) == "no run x; ListRuns lists them"
    )
    assert outward_words(UnknownNameError("evaluator", "exact-mtch", ["exact-match"])).endswith(
        "did you mean 'exact-match'?"
    )


def test_the_place_of_a_mistake_is_kept() -> None:
    error = InvalidDataError("not JSON", where="/srv/data/sets/a.jsonl:3:1", hint="mend the line")
    assert outward_words(error) == "a.jsonl:3:1: not JSON; mend the line"


def test_an_option_in_brackets_is_left_out_and_the_advice_around_it_kept() -> None:
    hint = 'correct this, or leave invalid rows out (--skip-invalid; on_invalid="skip")'
    error = InvalidDataError("not JSON", hint=hint)
    assert outward_words(error) == "not JSON; correct this, or leave invalid rows out"
