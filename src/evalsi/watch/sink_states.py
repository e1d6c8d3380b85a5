"""How deliveries to sinks stand, for people: beside what a policy found, and as a warning where somebody should know. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from evalsi.ports.score_outbox import SinkStanding
from evalsi.schema import PolicyStats, SinkState


def with_sinks(stats: PolicyStats, standings: Sequence[SinkStanding]) -> PolicyStats:
    """The figures of a policy with how its sinks stand."""
    warnings = [warning for each in standings if (warning := _warning(each))]
    return msgspec.structs.replace(stats, sinks=sink_states(standings), warnings=[*stats.warnings, *warnings])


def sink_states(standings: Sequence[SinkStanding]) -> list[SinkState]:
    """As the interface shows them."""
    return [
        SinkState(
            sink=each.sink,
            delivered=each.delivered,
            waiting=each.waiting,
            given_up=each.given_up,
            last_delivered=_time(each.delivered_ms),
            last_error=each.error,
            last_error_time=_time(each.error_ms),
        )
        for each in standings
    ]


def _warning(standing: SinkStanding) -> str:
    sink = standing.sink
    if standing.is_in_trouble:
        waiting = f"{standing.waiting:,} {'delivery waits' if standing.waiting == 1 else 'deliveries wait'}"
        return f"the sink {sink} does not take scores, {waiting}: {standing.error}"
    if standing.given_up:
        count = f"{standing.given_up:,} {'delivery was' if standing.given_up == 1 else 'deliveries were'}"
        return f"{count} given up that should have gone to the sink {sink}: {standing.error}"
    return ""


def _time(ms: int) -> datetime | None:
    return datetime.fromtimestamp(ms / 1000, UTC) if ms else None
