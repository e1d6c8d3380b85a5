"""Where something stands in a JSON answer: `choices[0].message.content`, `[-1].text`, `["a.b"].c`.

Its own module, and no more than this on purpose: keys, positions (negative ones from the end) and quoted keys. There are
no wildcards and no filters, so a path always means one place or none.
"""

import re
from typing import Any, cast

import msgspec

from evalsi.core.errors import InvalidSpecError

_STEP = re.compile(r'\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]|(?:^|\.)([^.\[\]"\s]+)')
MISSING: Any = msgspec.UNSET
"""What `JsonPath.find` gives when there is nothing; null is something."""


class JsonPath:
    """A compiled path; "" is the whole value. A leading `$` is allowed.

    Raises: InvalidSpecError: it is no path; points at the place.
    """

    def __init__(self, text: str, *, where: str) -> None:
        self.text = text
        self._steps: list[str | int] = []
        rest = text.removeprefix("$").removeprefix(".") if text.startswith("$") else text
        position = 0
        while position < len(rest):
            found = None if rest.startswith(".") else _STEP.match(rest, position)
            if found is None:
                raise InvalidSpecError(
                    f"{text!r} is no path: it cannot be read from {rest[position:][:20]!r} on",
                    where=where,
                    hint="write it as choices[0].message.content",
                )
            number, quoted, key = found.groups()
            self._steps.append(int(number) if number else msgspec.json.decode(quoted) if quoted else key)
            position = found.end()

    def __bool__(self) -> bool:
        return bool(self._steps)

    def find(self, value: Any) -> Any:
        """What stands there, or `MISSING`."""
        for step in self._steps:
            if isinstance(step, str) and isinstance(value, dict):
                value = cast("dict[str, Any]", value).get(step, MISSING)
            elif isinstance(step, int) and isinstance(value, list):
                items = cast("list[Any]", value)
                value = items[step] if -len(items) <= step < len(items) else MISSING
            else:
                return MISSING
            if value is MISSING:
                return MISSING
        return value


def outline(value: Any) -> str:
    """What a value holds, in a few words for an error: its keys, its length or its type."""
    if isinstance(value, dict):
        keys = [str(key) for key in cast("dict[Any, Any]", value)]
        return "it has the keys " + ", ".join(keys[:12]) + (", …" if len(keys) > 12 else "") if keys else "it is empty"
    if isinstance(value, list):
        return f"it is a list of {len(cast('list[Any]', value))}"
    return f"it is {value!r:.40}"
