"""What a detector reports. It is its own module because detectors, evaluators and redaction all speak of it."""

from typing import Literal, TypeAlias, get_args

import msgspec

Kind: TypeAlias = Literal["CARD", "EMAIL", "IBAN", "IP", "PHONE", "SECRET", "SSN"]

EVERY_KIND: frozenset[Kind] = frozenset(get_args(Kind))
PERSONAL_DATA: frozenset[Kind] = EVERY_KIND - {"SECRET"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of personal data or one secret.

    `text` is `source[start:end]`: offsets count code points, the end is exclusive. `detail` says which sort it is
    within its type, e.g. "visa", "ipv6" or "github-token".
    """

    type: Kind
    start: int
    end: int
    text: str
    detail: str = ""


def mask(value: str) -> str:
    """A hint at `value` for people that cannot be used in its place.

    At most two characters of each end survive, and of short values none, so that neither an address, a number nor a key
    can be read back from an explanation.
    """
    if len(value) < 12:
        return "•" * 4
    return f"{value[:2]}{'•' * 4}{value[-2:]}"
