"""What was used for a project: counted where a model is asked, told to whoever keeps accounts."""

from typing import Literal

import msgspec


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was used since it was last told."""

    project: str
    role: Literal["target", "judge"]
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """The known part."""
    asked: int = 0
    """Questions that a provider answered; counted for judges."""
    cached: int = 0
    """Questions that were answered without asking; counted for judges."""

    def __bool__(self) -> bool:
        return any((self.input_tokens, self.output_tokens, self.cost_usd, self.asked, self.cached))
