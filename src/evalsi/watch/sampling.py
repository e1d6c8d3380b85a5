"""Which of the traces that a policy matches it evaluates.

What always holds: the draw is a pure function of policy-independent facts, so that every worker, restart and version
draws alike, and a trace that a small rate takes is also taken by every larger one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from evalsi.schema import Sampling
from evalsi.watch.condition import TRACE_VARIABLES, Condition

ERROR, NEGATIVE_FEEDBACK, SLOW, NEW_VERSION = "error", "negative_feedback", "slow", "new_version"
NAMED_RULES = (ERROR, NEGATIVE_FEEDBACK, SLOW, NEW_VERSION)
"""Words that may stand in `always` in place of a condition."""
NEW_TRACES = 100
"""How many traces of a version are taken by "new_version"."""
SLOW_QUANTILE = 0.95
FEWEST_FOR_SLOW = 100
"""Traces that must have been seen before one of them can be called slow."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a draw needs to know of other traces."""

    slow_ms: float | None = None
    """Duration that 95 of 100 traces do not exceed; None while that is not known."""
    seen_of_version: int = 0
    """Traces of the same version that were seen before."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A compiled `Sampling`."""

    rate: float
    rules: frozenset[str]
    conditions: tuple[Condition, ...]

    def takes(self, subject: str, facts: Mapping[str, Any], around: Surroundings) -> bool:
        """Whether a trace, or a session, is evaluated.

        Args:
            subject: Its identifier.
            facts: A value for each of `TRACE_VARIABLES`.
        """
        if self.rate >= 1 or share_of(subject) < self.rate:
            return True
        if ERROR in self.rules and facts["error"]:
            return True
        if NEGATIVE_FEEDBACK in self.rules and facts["feedback"] < 0:
            return True
        if SLOW in self.rules and around.slow_ms is not None and facts["duration_ms"] > around.slow_ms:
            return True
        if NEW_VERSION in self.rules and facts["version"] and around.seen_of_version < NEW_TRACES:
            return True
        return any(condition.holds(facts) is True for condition in self.conditions)


def draw_of(sampling: Sampling | None) -> Draw:
    """The draw of a sampling that was checked; all of no sampling."""
    if sampling is None:
        return Draw(rate=1.0, rules=frozenset(), conditions=())
    named = frozenset(rule for rule in sampling.always if rule in NAMED_RULES)
    conditions = tuple(Condition(rule, TRACE_VARIABLES) for rule in sampling.always if rule not in NAMED_RULES)
    rate = 1.0 if sampling.rate is None else sampling.rate
    return Draw(rate=rate, rules=named, conditions=conditions)


def share_of(subject: str) -> float:
    """Where an identifier falls between 0 and 1: the first 8 bytes of its SHA-256, as a fraction of 2^64."""
    return int.from_bytes(sha256(subject.encode()).digest()[:8]) / 2**64
