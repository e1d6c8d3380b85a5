"""What sinks were told of a subject, and so what they must hear of once it is not there any more.

Its own module because it is remembered in the transaction that stores a mark: whatever a worker dies of, a score that a
sink has and a later revision has not is withdrawn there. What always holds: nothing that was ever told is forgotten while
the mark is kept, so that a withdrawal that waits is not lost when something newer takes its place.
"""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from evalsi.ports.policy_store import PolicyMark
from evalsi.ports.score_sink import WITHDRAWN, OutgoingScore, OutgoingScores


class _Told(msgspec.Struct, frozen=True, array_like=True):
    """As it is remembered: no values, only what says which scores they were."""

    sinks: list[str]
    began_ms: int
    first_trace_id: str
    there: list[OutgoingScore]
    gone: list[OutgoingScore]


class NewsForSinks(NamedTuple):
    scores: OutgoingScores | None
    """What is to be sent; None for nothing."""
    sinks: Sequence[str]
    remembered: bytes


logger = logging.getLogger(__name__)
_TOLD = msgspec.msgpack.Decoder(_Told)


def news_for_sinks(
    project: str,
    mark: PolicyMark,
    before: bytes | None,
    found: tuple[OutgoingScores, Sequence[str]] | None,
    now_ms: int,
) -> NewsForSinks:
    """What sinks are to be told of a mark.

    Args:
        before: What was remembered of the mark that it takes the place of.
        found: Its scores and where they go; None when there are none any more.
    """
    told = (_told_of(before, mark) if before is not None else None) or _Told([], mark.at_ms, mark.subject, [], [])
    if found is None:
        if before is not None and not told.there:
            return NewsForSinks(None, (), before)  # they know already
        gone = [*told.there, *told.gone]
        scores = OutgoingScores(
            project=project,
            policy=mark.policy,
            subject=mark.subject,
            revision=mark.revision,
            began_ms=told.began_ms,
            at_ms=now_ms,
            first_trace_id=told.first_trace_id,
            scores=[],
            withdrawn=gone,
        )
        sinks: Sequence[str] = told.sinks
    else:
        scores, sinks = found
        ids = {score.id for score in scores.scores}
        gone = [score for score in (*told.there, *told.gone) if score.id not in ids]
        scores = msgspec.structs.replace(scores, withdrawn=gone) if gone else scores
    there = [_without_value(score) for score in scores.scores]
    remembered = _Told(list(sinks), scores.began_ms, scores.first_trace_id, there, gone)
    return NewsForSinks(scores, sinks, msgspec.msgpack.encode(remembered))


def _told_of(before: bytes, mark: PolicyMark) -> _Told | None:
    """What sinks know; None of damaged bytes: then what is withdrawn stays there."""
    try:
        return _TOLD.decode(before)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        logger.warning("what sinks were told of %s by policy %s cannot be read: %s", mark.subject, mark.policy, error)
        return None


def _without_value(score: OutgoingScore) -> OutgoingScore:
    return OutgoingScore(
        id=score.id,
        metric=score.metric,
        evaluator_ref=score.evaluator_ref,
        trace_id=score.trace_id,
        span_id=score.span_id,
        is_of_trace=score.is_of_trace,
        session_id=score.session_id,
        is_judged=score.is_judged,
        label=WITHDRAWN if score.value is not None or score.label else None,
    )
