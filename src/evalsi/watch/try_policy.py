"""What a policy would have done with stored traffic, and what that would have cost. Nothing is evaluated or stored."""

from collections.abc import Callable
from datetime import datetime, timedelta

from evalsi.core.content import text_of
from evalsi.ports.trace_store import TraceStore
from evalsi.schema import PolicyScope, Record, TestPolicyResponse, TraceFilter, Usage
from evalsi.traces import Tracing
from evalsi.watch.past_traffic import MOST_READ, needs_spans, past_traces, records_without_content
from evalsi.watch.policy import CheckedPolicy
from evalsi.watch.stored_traffic import stored_trace
from evalsi.watch.traffic import records_of

DEFAULT_LOOKBACK_S = 86_400.0
SHOWN = 20
"""Traces that are named, and that are read to say what judging one costs."""
_PROMPT_TOKENS = 700
"""Tokens of a judge's instructions, about."""
_REPLY_TOKENS = 200
_CHARACTERS_PER_TOKEN = 4

PriceOfQuestion = Callable[[Usage], float | None]
"""US dollars of a question to the policy's judge that takes these tokens; None when the price is not known."""


def try_policy(
    store: TraceStore,
    checked: CheckedPolicy,
    tracing: Tracing,
    now: datetime,
    *,
    lookback_s: float | None = None,
    price: PriceOfQuestion = lambda _usage: None,
) -> TestPolicyResponse:
    """What the policy would have matched and drawn in that time.

    Args:
        lookback_s: How far back is looked; None for a day.
        price: What its judge takes.
    """
    project = checked.policy.project
    since = now - timedelta(seconds=lookback_s or DEFAULT_LOOKBACK_S)
    seen = matched = sampled = 0
    named: list[str] = []
    for trace in past_traces(store, project, checked, TraceFilter(since=since, until=now), tracing):
        seen += 1
        matched += trace.mark.stage != "seen"
        sampled += trace.mark.stage == "sampled"
        if trace.mark.stage == "sampled" and len(named) < SHOWN:
            named.append(trace.summary.trace_id)
    records = [
        record
        for trace_id in named
        for record in records_of(stored_trace(store, project, trace_id, tracing), checked.scope)
    ]
    return TestPolicyResponse(
        seen=seen,
        matched=matched,
        sampled=sampled,
        cost_usd=_cost(checked, records, len(named), sampled, price),
        trace_ids=named,
        warnings=_warnings(checked, records, seen),
    )


def _cost(
    checked: CheckedPolicy, records: list[Record], read: int, sampled: int, price: PriceOfQuestion
) -> float | None:
    """As if every stage let all through and every judged evaluator asked once for each record."""
    judged = sum("judge" in each.requires for stage in checked.stages for each in stage.definitions)
    if not judged or not sampled:
        return 0.0
    total = 0.0
    for record in records:
        letters = len(text_of(record.input)) + len(text_of(record.output)) + sum(map(len, map(text_of, record.context)))
        tokens = _PROMPT_TOKENS + letters // _CHARACTERS_PER_TOKEN
        usd = price(Usage(input_tokens=tokens, output_tokens=_REPLY_TOKENS))
        if usd is None:
            return None
        total += judged * usd
    return total / read * sampled


def _warnings(checked: CheckedPolicy, records: list[Record], seen: int) -> list[str]:
    found: list[str] = []
    if checked.scope is PolicyScope.SESSION:
        found.append("the policy looks at sessions, and these are the traces that they are made of")
    wants = [each.name for stage in checked.stages for each in stage.definitions if {"input", "output"} & each.requires]
    without = records_without_content(records)
    if wants and without:
        found.append(
            f"{', '.join(wants)} would be skipped on {without} of {len(records)} records, whose content was not captured"
        )
    if needs_spans(checked) and seen >= MOST_READ:
        found.append(f"only the newest {MOST_READ:,} traces were looked at, because their spans must be read")
    return found
