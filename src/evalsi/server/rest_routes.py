"""The REST addresses of the schema: from verb and path to a method and the fields that the path holds.

Its own module because it is a pure function of the schema. What always holds: the most literal address wins, and
`/v1/…` means `/v1alpha1/…`.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import unquote

from evalsi.server.served_method import ServedMethod

_PLACE = re.compile(r"\{(\w+)\}")


class Found(NamedTuple):
    served: ServedMethod
    places: dict[str, str]
    """Fields of the request that the path holds, by their names."""


class RestRoutes:
    """All addresses, ready to be looked up."""

    def __init__(self, served: Iterable[ServedMethod]) -> None:
        self._plain: dict[str, dict[str, ServedMethod]] = {}
        self._patterns: dict[int, list[tuple[re.Pattern[str], dict[str, ServedMethod]]]] = {}
        patterns: dict[str, dict[str, ServedMethod]] = {}
        for one in served:
            if not one.method.verb:
                continue
            for path in filter(None, (one.method.path, one.method.also)):
                table = patterns if "{" in path else self._plain
                table.setdefault(path, {})[one.method.verb] = one
        # Longer literal text first, so that `/runs/{id}:watch` is tried before `/runs/{id}`.
        for path, verbs in sorted(patterns.items(), key=lambda item: -len(_PLACE.sub("", item[0]))):
            pattern = re.compile(_PLACE.sub(r"(?P<\1>[^/]+?)", re.escape(path).replace(r"\{", "{").replace(r"\}", "}")))
            self._patterns.setdefault(path.count("/"), []).append((pattern, verbs))

    def find(self, verb: str, raw_path: str) -> Found | list[str] | None:
        """The method; or, where the path is right and the verb is not, the verbs there are; or None."""
        path = "/v1alpha1/" + raw_path.removeprefix("/v1/") if raw_path.startswith("/v1/") else raw_path
        verbs = self._plain.get(path)
        if verbs is not None:
            served = verbs.get(verb)
            return Found(served, {}) if served is not None else sorted(verbs)
        others: set[str] = set()
        for pattern, verbs in self._patterns.get(path.count("/"), ()):
            found = pattern.fullmatch(path)
            if found is None:
                continue
            served = verbs.get(verb)
            if served is not None:
                return Found(served, {name: unquote(text) for name, text in found.groupdict().items()})
            others |= set(verbs)
        return sorted(others) or None
