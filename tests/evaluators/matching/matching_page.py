"""docs/reference/matching.md, made of the data that the matching tests run on.

    python -m tests.evaluators.matching.matching_page

writes it; a test fails when it is not what this would write.
"""

import json
from pathlib import Path
from typing import Any

from tests.case_files import case

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "matching.md"
BEYOND: dict[str, list[list[Any]]] = json.loads(
    (Path(__file__).parent / "beyond_cases.json").read_text(encoding="utf-8")
)

_INTRODUCTION = """# What matches what

Generated from the data of the tests (`python -m tests.evaluators.matching.matching_page`); every row below is run by one.

A check reads the **answer**: the text of the output without reasoning blocks. `·` stands for a blank at an end, `\\uXXXX`
for a character that cannot be seen.
"""


def render() -> str:
    """The whole page."""
    sections = [_numbers, _texts, _choices, _reasoning, _simple_checks]
    return "\n".join([_INTRODUCTION, *(section() for section in sections)])


def _numbers() -> str:
    given = case("A01")
    rows = [
        (row["text"], row["reference"], expected["match"], expected["why"])
        for row, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True)
    ] + [tuple(row) for row in BEYOND["numbers"]]
    return _table(
        "## Numbers: `numeric-match`\n\nThe final stated number, as an exact decimal, within `rel_tol` and `abs_tol`.",
        ("answer", "reference", "match", "because"),
        [(_shown(text), _shown(reference), _mark(match), why) for text, reference, match, why in rows],
    )


def _texts() -> str:
    given = case("A02")
    return _table(
        "## Texts: `exact-match`",
        ("answer", "reference", "params", "match", "because"),
        [
            (
                _shown(row["text"]),
                _shown(row["reference"]),
                ", ".join(f"`{key}`" for key in row["options"]) or "defaults",
                _mark(expected["match"]),
                expected["why"],
            )
            for row, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True)
        ],
    )


def _choices() -> str:
    given = case("A03")
    rows = [
        (row["text"], expected["choice"], expected["why"])
        for row, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True)
    ] + [tuple(row) for row in BEYOND["choices"]]
    return _table(
        "## Choices: `choice-match`\n\nOf the choices A, B, C, D. No choice is a scored miss.",
        ("answer", "choice", "because"),
        [(_shown(text), choice or "none", why) for text, choice, why in rows],
    )


def _reasoning() -> str:
    given = case("A04")
    rows = [
        (_shown(row["text"]), _shown(row["reference"]), _mark(expected["match"]), expected["why"])
        for row, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True)
    ]
    blocks = [
        (_shown(text), "none" if answer is None else _shown(answer), why) for text, answer, why in BEYOND["reasoning"]
    ]
    return "\n".join(
        [
            _table(
                "## Reasoning blocks: `reasoning_tags`\n\nWith `numeric-match`:",
                ("output", "reference", "match", "because"),
                rows,
            ),
            _table("The answer itself:", ("output", "answer", "because"), blocks),
        ]
    )


def _simple_checks() -> str:
    given = case("A05")
    return _table(
        "## Simple checks",
        ("check", "answer", "value", "negated", "score", "because"),
        [
            (
                f"`{row['check'].replace('_', '-')}`",
                _shown(row["text"]),
                _shown(json.dumps(row["value"]) if isinstance(row["value"], list) else row["value"]),
                "yes" if row["negate"] else "",
                _score(expected["score"]),
                expected["why"],
            )
            for row, expected in zip(given["input"]["rows"], given["expected"]["rows"], strict=True)
        ],
    )


def _score(expected: Any) -> str:
    if expected == "CONFIG_ERROR":
        return "refused before the run"
    return "0 or error" if isinstance(expected, dict) else str(expected)


def _mark(matches: bool) -> str:
    return "yes" if matches else "no"


def _shown(text: str) -> str:
    """Text for a table cell: blanks at the ends and invisible characters can be seen."""
    shown = "".join(_visible(mark) for mark in text)
    inner = shown.strip(" ")
    lead = len(shown) - len(shown.lstrip(" ")) if inner else len(shown)
    tail = len(shown) - len(shown.rstrip(" ")) if inner else 0
    shown = "·" * lead + inner + "·" * tail
    fence = "``" if "`" in shown else "`"
    return f"{fence}{shown}{fence}".replace("|", "\\|") if shown else "(empty)"


def _visible(mark: str) -> str:
    if mark == "\n":
        return "\\n"
    if mark == "\r":
        return "\\r"
    return mark if mark == " " or (mark.isprintable() and not 0x300 <= ord(mark) <= 0x36F) else f"\\u{ord(mark):04x}"


def _table(title: str, heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [title, "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
