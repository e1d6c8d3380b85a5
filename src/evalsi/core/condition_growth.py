"""Whether what a condition in CEL builds stays about as large as what it reads.

Its own module because policies, datasets and gates all take conditions from people. CEL bounds the steps of a condition and
not what a step makes: a text that is added to itself in each of thirty `map` has a billion times its size, and a list of two
of itself takes as long to compare. What always holds: where nothing is found, what is built is at most some dozen times what
is read, and for each element of a list that is read no more than one value that was there before.
"""

import re
from typing import NamedTuple

MOST_SUMS = 32

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<text>[bB]?(?:[rR](?:'''.*?'''|\"\"\".*?\"\"\"|'[^'\r\n]*'|"[^"\r\n]*")
        |'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\r\n])*'|"(?:\\.|[^"\\\r\n])*"))
    |(?P<number>\d+\.\d+(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|0[xX][0-9a-fA-F]+[uU]?|\d+[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_FOR_EACH = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
_WORDS = frozenset({"true", "false", "null", "in"})


class Growth(NamedTuple):
    """What may make a condition build more than it reads."""

    at: int
    """Where it stands, in characters from the begin."""
    message: str
    hint: str


def growth_in(text: str) -> Growth | None:
    """The first of what may make a condition, which CEL has read, build far more than it is given; None where nothing can."""
    tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup != "space"]
    open_places: list[str] = []
    """What each bracket that is open begins: "each" the arguments of a function that goes through a list, "list" a list or map
    that is written out within such arguments, "" anything else."""
    sums = 0
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if token.lastgroup == "sign":
            if token[0] == "(":
                is_each = before is not None and before[0] in _FOR_EACH and place > 1 and tokens[place - 2][0] == "."
                if is_each and before is not None and before[0] == "map" and "each" in open_places:
                    return Growth(before.start(), "map stands within another loop", "write one loop after the other")
                open_places.append("each" if is_each else "")
            elif token[0] in "[{":
                is_written_out = "each" in open_places and (token[0] == "{" or not _ends_value(before))
                open_places.append("list" if is_written_out else "")
            elif token[0] in ")]}":
                if open_places:
                    open_places.pop()
            elif token[0] == "+":
                sums += 1
                if sums > MOST_SUMS:
                    return Growth(token.start(), f"more than {MOST_SUMS} values are added", "add fewer")
                if "each" in open_places and not any(side and side.lastgroup == "number" for side in (before, after)):
                    return Growth(
                        token.start(),
                        "in a loop (all, exists, filter, map) only a number that is written out may be added",
                        "add after the loop, or write for example x + 1",
                    )
        elif token.lastgroup == "name" and token[0] not in _WORDS and "list" in open_places:
            return Growth(
                token.start(),
                "in a loop (all, exists, filter, map) a list holds only values that are written out",
                "write the list before the loop",
            )
    return None


def _ends_value(token: "re.Match[str] | None") -> bool:
    """Whether a bracket after it reads an element of a value."""
    if token is None:
        return False
    if token.lastgroup == "sign":
        return token[0] in ")]}`"
    return token[0] != "in"
