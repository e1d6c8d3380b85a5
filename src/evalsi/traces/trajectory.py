"""The spans of one trace as one trajectory: ordered, joined to their parents, each call of a model counted once.

Nothing is dropped but what a mapping excludes: orphans, spans older than their root and spans that end before they start
are kept and flagged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any

import msgspec

from evalsi.judges.prices import PriceTable, shipped_prices
from evalsi.schema import Step, StepType, Trajectory, Usage
from evalsi.traces.log_event import EVENT_OF, with_their_events
from evalsi.traces.same_tool_call import each_tool_call_once
from evalsi.traces.source_reading import Mappers, SpanInTrace, first_value, matches, redacted, shipped_mappers
from evalsi.traces.span import Span
from evalsi.traces.span_conventions import SpanConventions
from evalsi.traces.step_of_span import FLAGS, MODEL, RESPONSE_ID, SAME_CALL_AS, step_of_span

_LLM, _GENERIC = StepType.LLM, StepType.GENERIC  # as members of their class they are found in ten times as long
_ADDED_UP = (
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "cached_input_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "requests",
)
_MAX_DEPTH = 1000
_BY_START = attrgetter("span.start_ns", "span.span_id")
_MOST_ABOVE = 64
"""Spans above a span that are asked for what it does not say itself."""


@dataclass(frozen=True)
class Tracing:
    """How spans are read: by which conventions, at which prices."""

    mappers: Mappers
    prices: PriceTable


def default_tracing() -> Tracing:
    """The conventions and the prices that come with this release."""
    return Tracing(shipped_mappers(), shipped_prices())


def by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Spans by their trace, in the order the traces are first met."""
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.trace_id, []).append(span)
    return found


def distinct(spans: Iterable[Span]) -> list[Span]:
    """Each span once, with the events that came apart from it. Of several with the same id the one that ended last counts,
    then the one with more attributes.
    """
    every = list(spans)
    each = every if len({span.span_id for span in every}) == len(every) else _each_once(every)
    return with_their_events(each) if any(EVENT_OF in span.attributes for span in each) else each


def _each_once(every: Sequence[Span]) -> list[Span]:
    found: dict[str, Span] = {}
    for span in every:
        known = found.get(span.span_id)
        if known is None or (span.end_ns, len(span.attributes)) > (known.end_ns, len(known.attributes)):
            found[span.span_id] = span
    return list(found.values())


def trajectory_of_spans(spans: Sequence[Span], tracing: Tracing) -> Trajectory:
    """The trajectory of one trace. Pure: the same spans in any order and number of copies give the same trajectory.

    Args:
        spans: At least one, all of one trace.
        tracing: The conventions and prices.
    """
    read = [ReadSpan(span, tracing.mappers.of_span(span)) for span in distinct(spans)]
    return trajectory_of(read, tracing.prices)


class ReadSpan(msgspec.Struct, frozen=True, gc=False):
    """A span and the conventions that it may follow, which are looked up once."""

    span: Span
    conventions: SpanConventions


def trajectory_of(read: Sequence[ReadSpan], prices: PriceTable) -> Trajectory:
    """The trajectory of the spans of one trace, at least one, each of them once."""
    tree = _tree(read)
    steps = [_step(each, tree, prices) for each in tree.ordered]
    if tree.flags or len(steps) < len(read):  # else every step belongs where its span says
        steps = [_in_its_place(step, tree) for step in steps]
    return Trajectory(
        trace_id=read[0].span.trace_id,
        session_id=_session_id(tree),
        steps=each_tool_call_once(_each_call_once(steps)),
    )


def _step(read: ReadSpan, tree: "_Tree", prices: PriceTable) -> Step:
    span, conventions = read.span, read.conventions
    if conventions.redactions:
        span = redacted(span, conventions.redactions)
    at = tree.place(span) if conventions.looks_around else SpanInTrace(span)
    return step_of_span(at, conventions, prices)


def _in_its_place(step: Step, tree: "_Tree") -> Step:
    """The step below the one that it belongs to, with what is odd about that."""
    flags, parent = tree.flags.get(step.span_id, ()), tree.parents.get(step.span_id, "")
    if not flags and parent == step.parent_span_id:
        return step
    known = step.attributes.get(FLAGS, [])
    added = {FLAGS: [*known, *flags]} if flags else {}
    return msgspec.structs.replace(step, parent_span_id=parent, attributes={**step.attributes, **added})


def root_of(steps: Sequence[Step]) -> Step | None:
    """The step below none, the earliest of several; None of no steps."""
    return next((step for step in steps if not step.parent_span_id), steps[0] if steps else None)


def total_usage(steps: Iterable[Step]) -> Usage | None:
    """The sum over the steps that were measured; None when none was. A cost that lacks a part says so in `unpriced_requests`."""
    measured = [step.usage for step in steps if step.usage is not None]
    if not measured:
        return None
    sums = map(_sum, zip(*map(attrgetter(*_ADDED_UP), measured), strict=True))
    return Usage(
        **dict(zip(_ADDED_UP, sums, strict=True)),
        unpriced_requests=sum([usage.unpriced_requests for usage in measured]),
    )


def _sum(values: Sequence[Any]) -> Any:
    """The sum of what is known; None where nothing is."""
    unknown = values.count(None)
    if unknown == len(values):
        return None
    return sum([value for value in values if value is not None] if unknown else values)


@dataclass(frozen=True)
class _Tree:
    spans: Mapping[str, Span]
    ordered: Sequence[ReadSpan]
    """The spans that are steps, by start, then by id."""
    parents: Mapping[str, str]
    """The step that each step belongs to; a step without one is a root."""
    flags: Mapping[str, Sequence[str]]
    """What is odd about where spans stand."""

    @cached_property
    def roots(self) -> Mapping[str, str]:
        """The root above each step, itself for a root."""
        return _roots(self.parents, self.ordered)

    def place(self, span: Span) -> SpanInTrace:
        """The span with what stands above it."""
        found: list[Span] = []
        at = self.parents.get(span.span_id, "")
        while at and len(found) < _MOST_ABOVE:
            found.append(self.spans[at])
            at = self.parents.get(at, "")
        root = self.roots[span.span_id]
        return SpanInTrace(span, found, self.spans[root] if root != span.span_id else None)


def _tree(read: Sequence[ReadSpan]) -> _Tree:
    every = {each.span.span_id: each.span for each in read}
    kept = [each for each in read if not each.conventions.leaves_out or _is_step(each)]
    ordered = sorted(kept, key=_BY_START)
    flags: dict[str, list[str]] = {}
    parents = {name: span.parent_span_id for name, span in every.items() if span.parent_span_id}
    for name in _cut_circles(parents):
        flags.setdefault(name, []).append("it is above itself")
    missing = set(parents.values()) - every.keys()
    orphans = {name for name, parent in parents.items() if parent in missing} if missing else set[str]()
    for name in orphans:
        del parents[name]
        flags.setdefault(name, []).append("its parent is missing")
    if len(ordered) < len(every):
        _skip_excluded(parents, every, {each.span.span_id for each in ordered})
    steps = [each.span for each in ordered]
    root = next((span for span in steps if span.span_id not in parents and span.span_id not in orphans), None)
    if root is not None:
        for span in steps if orphans else ():
            if span.span_id in orphans and span.span_id not in parents:
                parents[span.span_id] = root.span_id
        for span in takewhile(lambda span: span.start_ns < root.start_ns, steps):
            flags.setdefault(span.span_id, []).append("started before its root")
    return _Tree(every, ordered, parents, flags)


def _cut_circles(parents: dict[str, str]) -> list[str]:
    """Takes from each circle of parents, in place, the one link that the smallest id of the circle has; those ids."""
    if parents.keys().isdisjoint(parents.values()):  # all stand below roots
        return []
    cut: list[str] = []
    done: set[str] = set()
    for start in list(parents):
        if parents.get(start) not in parents:
            continue
        way: dict[str, None] = {}
        at = start
        while at in parents and at not in done and at not in way:
            way[at] = None
            at = parents[at]
        if at in way:
            names = list(way)
            circle = names[names.index(at) :]
            cut.append(min(circle))
            del parents[cut[-1]]
        done.update(way)
    return cut


def _skip_excluded(parents: dict[str, str], every: Mapping[str, Span], kept: set[str]) -> None:
    """Leads each span, in place, past those that are no steps. Each link is followed once: what is found is kept."""
    for name in every:
        way: list[str] = []
        at = name
        while at in parents and parents[at] not in kept:
            way.append(at)
            at = parents[at]
        above = parents.get(at, "")
        for each in way:
            if above:
                parents[each] = above
            else:
                parents.pop(each, None)


def _roots(parents: Mapping[str, str], ordered: Sequence[ReadSpan]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in ordered:
        way: list[str] = []
        at = each.span.span_id
        while at in parents and at not in found:
            way.append(at)
            at = parents[at]
        root = found.get(at, at)
        found[at] = root
        found.update(dict.fromkeys(way, root))
    return found


def _is_step(read: ReadSpan) -> bool:
    span = read.span
    for mapping in read.conventions.mappings:
        if any(matches(selector, span) for selector in mapping.exclude_spans):
            return False
        if mapping.include_spans and not any(matches(selector, span) for selector in mapping.include_spans):
            return False
    return True


def _session_id(tree: _Tree) -> str:
    """The first session that a span names, from the root on; then the resource's."""
    naming = [each for each in tree.ordered if each.conventions.whole.session_id]
    for each in sorted(naming, key=lambda each: each.span.span_id in tree.parents):
        value = first_value(each.conventions.whole.session_id, tree.place(each.span))
        if value is not None:
            return str(value)
    roots = (each.span for each in tree.ordered if each.span.span_id not in tree.parents)
    for root in islice(roots, 1):
        for key in ("session.id", "gen_ai.conversation.id"):
            if isinstance(root.resource.get(key), str):
                return root.resource[key]
    return ""


def _each_call_once(steps: list[Step]) -> list[Step]:
    """The steps with every model call counted once, however many libraries and gateways recorded it.

    A model step around one other model step is the same call: the one that shows more of the conversation stays the call,
    and takes over what only the other measured. Around several it is their sum. Two steps with the same response id are
    the same call wherever they stand.
    """
    asking = [place for place, step in enumerate(steps) if step.type is _LLM]
    if not asking:
        return steps
    places = {step.span_id: place for place, step in enumerate(steps)}
    inner: dict[int, list[int]] = {}
    for place in asking:
        outer = _model_step_above(place, steps, places)
        if outer is not None:
            inner.setdefault(outer, []).append(place)
    changed = list(steps)
    for outer in sorted(inner, key=lambda place: -_depth(place, steps, places)):
        found = inner[outer]
        if len(found) == 1 and _may_be_one(steps[outer], steps[found[0]]):
            _join(changed, outer, found[0])
        else:
            changed[outer] = _stripped(changed[outer], "")
    first: dict[str, int] = {}
    for place in [place for place in asking if RESPONSE_ID in changed[place].attributes]:
        response_id = changed[place].attributes[RESPONSE_ID]
        if changed[place].type is not _LLM or not isinstance(response_id, str) or not response_id:
            continue
        known = first.setdefault(response_id, place)
        if known != place:
            _join(changed, known, place)
            first[response_id] = known if changed[known].type is _LLM else place
    return changed


def _model_step_above(place: int, steps: Sequence[Step], places: Mapping[str, int]) -> int | None:
    """The nearest model step above, with nothing between that is a step of its own: a tool or an agent may ask anew."""
    at = steps[place].parent_span_id
    for _ in range(_MAX_DEPTH):
        above = places.get(at)
        if above is None or steps[above].type is _LLM:
            return above
        if steps[above].type is not _GENERIC:
            return None
        at = steps[above].parent_span_id
    return None


def _depth(place: int, steps: Sequence[Step], places: Mapping[str, int]) -> int:
    depth, at = 0, steps[place].parent_span_id
    while at in places and depth < _MAX_DEPTH:
        depth, at = depth + 1, steps[places[at]].parent_span_id
    return depth


def _may_be_one(one: Step, other: Step) -> bool:
    """Whether two nested model steps may be one call: not when both know their response and it differs."""
    ids = {step.attributes.get(RESPONSE_ID) for step in (one, other)} - {None}
    return len(ids) < 2


def _join(steps: list[Step], one: int, other: int) -> None:
    """Makes one call of two steps, in place."""
    chosen, rest = (one, other) if _shown(steps[one]) >= _shown(steps[other]) else (other, one)
    usage = _merged(steps[chosen].usage, steps[rest].usage)
    missing = {key: value for key in (MODEL, RESPONSE_ID) if (value := steps[rest].attributes.get(key)) is not None}
    steps[chosen] = msgspec.structs.replace(
        steps[chosen], usage=usage, attributes={**missing, **steps[chosen].attributes}
    )
    steps[rest] = _stripped(steps[rest], steps[chosen].span_id)


def _shown(step: Step) -> int:
    """How much of the conversation a step shows."""
    return (step.input is not None) + 2 * (step.output is not None)


def _stripped(step: Step, same_as: str) -> Step:
    added = {SAME_CALL_AS: same_as} if same_as else {}
    return msgspec.structs.replace(step, type=_GENERIC, usage=None, attributes={**step.attributes, **added})


def _merged(chosen: Usage | None, rest: Usage | None) -> Usage | None:
    """What one of two records of the same call measured, completed by the other. A known cost settles the price."""
    if chosen is None or rest is None:
        return chosen or rest
    values = {
        name: (getattr(chosen, name) if getattr(chosen, name) is not None else getattr(rest, name))
        for name in (
            "input_tokens",
            "output_tokens",
            "cost_usd",
            "cached_input_tokens",
            "cache_write_tokens",
            "reasoning_tokens",
        )
    }
    return Usage(**values, requests=1, unpriced_requests=0 if values["cost_usd"] is not None else 1)
