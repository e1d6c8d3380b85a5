"""An error of the tree as it crosses a process: by its code, so that the other side raises the same class.

Its own module because every call from a server to its workers may be answered with one, and the two ends must agree. What
always holds: the sentence is the same on both sides; what else an error carries stays where it was raised.
"""

import msgspec

from evalsi.core.errors import EvalsiError, error_kind, told_error


class CarriedError(msgspec.Struct, tag="error", array_like=True):
    """An error on its way."""

    code: str
    message: str
    where: str | None
    hint: str | None

    @classmethod
    def of(cls, error: EvalsiError) -> "CarriedError":
        return cls(error.code, str(error.message), error.where, error.hint)

    def as_error(self) -> EvalsiError:
        """The error again; a plain `EvalsiError` where this version knows no such code."""
        return told_error(error_kind(self.code) or EvalsiError, self.message, where=self.where, hint=self.hint)
