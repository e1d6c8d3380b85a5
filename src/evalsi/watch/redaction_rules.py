"""What an operator or a policy wants taken out, as values.

Its own module because everybody who may redact holds the rules, and most have none: the detectors are loaded by who redacts.
"""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from evalsi.evaluators.detectors.presidio import PresidioOptions


class RedactionRules(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken out. Names of attributes may hold "*" for any text; upper and lower case are the same."""

    keys: tuple[str, ...] = ()
    """Attributes, and keys of JSON in them, whose values are replaced whole. A name without a dot is also the last part of
    a longer one: "password" hides "db.password"."""
    patterns: tuple[str, ...] = ()
    """Expressions, in RE2's syntax, whose matches are replaced."""
    detectors: tuple[str, ...] = ()
    """Detectors whose finds are replaced; see `watch.redaction.DETECTORS`."""
    presidio: "PresidioOptions | None" = None
    """What Presidio looks for; None: it is not asked. It reads texts as they stand, and no names of attributes or keys."""
    drop_attributes: tuple[str, ...] = ()
    """Attributes that are left out."""
    keep_attributes: tuple[str, ...] = ()
    """When there are any, attributes that none of these names is left out."""

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__struct_fields__)
