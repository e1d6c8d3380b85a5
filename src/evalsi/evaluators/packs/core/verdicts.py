"""What the yes/no checks of this pack share: an optional negation, and the answer that was never given.

Its own module so that `negate` cannot mean different things in two checks. What always holds: an output whose reasoning
block is not closed gives no answer, and no answer satisfies no check, negated or not.
"""

from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, AnswerParams
from evalsi.schema import Score


class CheckParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The params of every yes/no check of an answer."""

    negate: bool = False
    """Pass where the check fails, and fail where it passes."""


def missed(name: str, why: str = NO_FINAL_ANSWER) -> Score:
    """A scored miss with its reason. Made once per evaluator: scores are frozen and can be shared."""
    return Score(name=name, passed=False, explanation=why)
