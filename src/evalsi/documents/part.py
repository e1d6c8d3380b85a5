"""What a check of one part of a spec needs: the tree to write mistakes into, and the path of the part.

Its own module because all checks speak through it, so they word the same mistake alike and find places in either
spelling.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evalsi.core.errors import suggestion
from evalsi.documents.placed_tree import PlacedTree
from evalsi.documents.spelling import first_spelling

__all__ = ["Part"]

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class Part:
    """The part of a spec at `path`."""

    tree: PlacedTree
    path: str
    wrong: Collection[str] = ()
    """Paths that the schema refused already; nothing more is said about them."""

    def below(self, name: str | int) -> "Part":
        if isinstance(name, int):
            return Part(self.tree, f"{self.path}[{name}]", self.wrong)
        return Part(self.tree, f"{self.path}.{name}" if self.path else name, self.wrong)

    def at(self, name: str) -> str:
        path = f"{self.path}.{name}" if name and self.path else name or self.path
        return first_spelling(self.tree, path)

    def gives(self, name: str) -> bool:
        """Whether the document says something at `name` that could be read."""
        path = self.at(name)
        return self.tree.has(path) and path not in self.wrong

    def say(self, name: str, message: str, hint: str | None = None) -> None:
        """Notes a mistake about the field `name`, which begins the sentence."""
        path = self.at(name)
        self.tree.add(path, f"{path} {message}", hint=hint)

    def one_of(self, name: str, value: str, known: Iterable[str]) -> bool:
        """Whether `value` is one of the known words; empty is."""
        words = list(known)
        if not value or value in words:
            return True
        near = suggestion(value, words)
        hint = f"{near} Allowed: {', '.join(words)}" if near and near.startswith("did") else None
        self.say(name, f"must be one of {', '.join(words)}, not {value!r}", hint)
        return False

    def at_least(self, name: str, value: float | None, least: float, *, beyond: bool = False) -> None:
        """A number from `least` up, or above it with `beyond`. Only what is written is looked at."""
        if value is None or not self.gives(name):
            return
        if value < least or (beyond and value == least):
            word = "above" if beyond else "at least"
            self.say(
                name, f"must be {word} {least:g}, not {value:g}", "leave it out for no limit" if value == 0 else None
            )

    def fraction(self, name: str, value: float | None, *, open_ended: bool = True) -> None:
        """A number strictly between 0 and 1, or from 0 to 1."""
        if value is None or not self.gives(name):
            return
        right = 0 < value < 1 if open_ended else 0 <= value <= 1
        if not right:
            hint = f"did you mean {value / 100:g}?" if 1 < value < 100 else None
            self.say(name, f"must lie between 0 and 1, not {value:g}", hint)

    def variable_name(self, name: str, value: str) -> None:
        """A name of an environment variable. The value is not shown: it may be the secret itself."""
        if value and not VARIABLE_NAME.match(value):
            self.say(
                name,
                "must be the name of an environment variable, such as OPENAI_API_KEY",
                "a key itself never stands in a spec",
            )

    def web_address(self, name: str, value: str) -> None:
        """An http or https address without user name and password."""
        if not value:
            return
        if not re.match(r"https?://[^\s/]", value):
            self.say(name, "must be an address that begins with http:// or https://")
        elif "@" in value.partition("://")[2].partition("/")[0]:
            self.say(name, "holds a user name or password", "name them by environment variable: headers_env")
