"""Traces as rows: what a part becomes before it is written, and what a row is read back as.

A module of its own because both databases share it. Text that a database would refuse is replaced, never an error: a span
that arrived is worth more than its NUL character.
"""

import hashlib
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec

from evalsi.core.clock import moment_of
from evalsi.ports.trace_store import TracePart, Waiting
from evalsi.schema import ErrorKind, EvaluationResult, Fault, Feedback, Outcome, PolicyResults, TraceSummary
from evalsi.traces.completion import due_ms
from evalsi.traces.stored_spans import DAMAGED_BODY

if TYPE_CHECKING:
    import zstandard

_LATEST_NS = 2**63 - 1
_LONGEST_NAME = 1000
"""Letters of a service, a name, an id or a label that are kept in the row; the body has them whole."""
_MOST_INDEXED_BYTES = 2600
"""PostgreSQL refuses a row of an index above 2,704 bytes."""
_MOST_UNPACKED_BYTES = 1 << 30
DAMAGED_RESULTS = "evalsi.damaged"
"""Stands for the evaluators of a policy whose results cannot be read."""
_local = threading.local()
T = TypeVar("T", PolicyResults, Feedback)
logger = logging.getLogger(__name__)

SHOWN = (
    "t.trace_id",
    "t.service",
    "t.name",
    "t.start_ns",
    "t.duration_ns",
    "t.error",
    "t.steps",
    "t.results",
    "t.labels",
    "t.session_id",
    "t.user_id",
    "t.version",
    "t.model",
    "t.input",
    "t.output",
    "t.input_tokens",
    "t.output_tokens",
    "t.cost_usd",
    "t.complete",
    "t.revision",
    "t.spans",
    "t.feedback",
    "t.scores",
    "t.failed_spans",
)
"""What a list shows of a trace, in the order that `summary_of_row` takes."""


def summary_of_row(project: str, row: Sequence[Any]) -> TraceSummary:
    """The trace as lists show it. `row` begins with the columns `SHOWN`."""
    return TraceSummary(
        trace_id=bytes(row[0]).hex(),
        service=row[1],
        name=row[2],
        start_time=moment_of(row[3] // 1000),
        duration=row[4] / 1e9 or None,
        error=bool(row[5]),
        steps=row[6],
        results=row[7],
        project=project,
        labels=json_labels(row[8]),
        session_id=row[9],
        user_id=row[10],
        version=row[11],
        model=row[12],
        input=row[13],
        output=row[14],
        input_tokens=row[15],
        output_tokens=row[16],
        cost_usd=row[17],
        complete=bool(row[18]),
        revision=row[19],
        spans=row[20],
        feedback=row[21],
        scores={} if row[22] == "{}" else msgspec.json.decode(row[22], type=dict[str, float]),
        failed_spans=row[23],
    )


def json_labels(text: str) -> dict[str, str]:
    """The labels that a row holds as JSON."""
    return {} if text == "{}" else msgspec.json.decode(text, type=dict[str, str])


class PartRow(NamedTuple):
    """A part as it is written."""

    digest: bytes
    body: bytes


class Arrival(msgspec.Struct, kw_only=True, gc=False):
    """What arrived of one trace in one call. Mutable: further parts of the same call join it."""

    trace_id: bytes
    service: str
    name: str
    start_ns: int
    end_ns: int
    root_ended: bool
    error: bool
    session_id: str
    user_id: str
    labels: dict[str, str]
    parts: list[tuple[PartRow, int, int]]
    """With the number of spans, and of failed spans."""

    @property
    def spans(self) -> int:
        return sum(spans for _, spans, _ in self.parts)

    @property
    def failed_spans(self) -> int:
        return sum(failed for _, _, failed in self.parts)


class Arrived(NamedTuple):
    """One call's parts, ready to be written."""

    project: str
    traces: dict[bytes, Arrival]
    now_ms: int
    waiting: Waiting


TRACE_COLUMNS = (
    "project",
    "trace_id",
    "start_ns",
    "end_ns",
    "duration_ns",
    "first_ms",
    "last_ms",
    "due_ms",
    "session_ms",
    "root_ended",
    "parts",
    "spans",
    "failed_spans",
    "error",
    "service",
    "session_id",
    "user_id",
    "name",
    "labels",
)
"""What is written of a trace that had not been seen, in the order of `trace_row`."""


def trace_row(project: int, arrival: Arrival, now_ms: int, waiting: Waiting) -> tuple[Any, ...]:
    due = due_ms(first_ms=now_ms, last_ms=now_ms, root_ended=arrival.root_ended, revision=0, waiting=waiting)
    return (
        *(project, arrival.trace_id, arrival.start_ns, arrival.end_ns),
        *(max(arrival.end_ns - arrival.start_ns, 0), now_ms, now_ms, due, waiting.session_ms),
        *(int(arrival.root_ended), len(arrival.parts), arrival.spans, arrival.failed_spans, int(arrival.error)),
        *(arrival.service, arrival.session_id, arrival.user_id, arrival.name, labels_text(arrival.labels)),
    )


def arrivals_of(parts: Sequence[TracePart], level: int) -> dict[bytes, Arrival]:
    """The parts, packed, by trace. A part that is there twice counts once."""
    found: dict[bytes, Arrival] = {}
    for part, body in zip(parts, _packed_together([part.body for part in parts], level), strict=True):
        row = PartRow(hashlib.blake2b(body, digest_size=12).digest(), body)
        piece = (row, len(part.span_ids) // 8, part.failed_spans)
        labels = {sound(key): sound(value) for key, value in part.labels.items()} if part.labels else {}
        start_ns, end_ns = min(part.start_ns, _LATEST_NS), min(part.end_ns, _LATEST_NS)
        known = found.get(part.trace_id)
        if known is None:
            found[part.trace_id] = Arrival(
                trace_id=part.trace_id,
                service=sound(part.service),
                name=sound(part.name),
                start_ns=start_ns,
                end_ns=end_ns,
                root_ended=part.root_ended,
                error=part.root_failed,
                session_id=sound(part.session_id),
                user_id=sound(part.user_id),
                labels=labels,
                parts=[piece],
            )
        elif not any(row.digest == other.digest for other, _, _ in known.parts):
            known.parts.append(piece)
            known.service = known.service or sound(part.service)
            known.name = known.name or sound(part.name)
            known.start_ns = earliest(known.start_ns, start_ns)
            known.end_ns = max(known.end_ns, end_ns)
            known.root_ended = known.root_ended or part.root_ended
            known.error = known.error or part.root_failed
            known.session_id = known.session_id or sound(part.session_id)
            known.user_id = known.user_id or sound(part.user_id)
            known.labels.update(labels)
    return found


def _packed_together(bodies: Sequence[bytes], level: int) -> list[bytes]:
    """Each as `compress` packs it, in one call, since for each call Python's lock has to be got back from another thread."""
    compressor = _compressor(level)
    if not any(bodies):  # which the library refuses
        return [compressor.compress(body) for body in bodies]
    return [piece.tobytes() for piece in compressor.multi_compress_to_buffer(cast("Any", bodies))]


def earliest(one_ns: int, other_ns: int) -> int:
    """The earlier of two times, of which 0 is none."""
    return min(one_ns or other_ns, other_ns or one_ns)


def sound(text: str) -> str:
    """A text that any database takes, of bounded length."""
    if len(text) > _LONGEST_NAME:
        text = text[:_LONGEST_NAME]
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else _within(text, _MOST_INDEXED_BYTES)


def labels_text(labels: dict[str, str]) -> str:
    return msgspec.json.encode(labels, order="sorted").decode() if labels else "{}"


def label_of(key: str, value: str) -> str:
    """A label as it is looked up: of a long one, its beginning."""
    text = f"{key}={value}"
    return text if len(text) * 4 <= _MOST_INDEXED_BYTES else _within(text, _MOST_INDEXED_BYTES)


def _within(text: str, most_bytes: int) -> str:
    """As much of the text as its bytes may be, with marks for what is no Unicode."""
    return text.encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")


def packed(value: PolicyResults | Feedback) -> bytes:
    # Measured on results of three evaluators: level -1 takes 1.9 us and leaves 339 bytes, level 1 takes 5.5 us and leaves 317.
    return _compressor(-1).compress(msgspec.msgpack.encode(value))


def unpacked_results(policy: str, body: bytes, revision: int = 0, time_us: int = 0) -> PolicyResults:
    """What a policy found; of damaged bytes an error in its name, which a later revision or evaluation replaces."""
    found = _unpacked_as(PolicyResults, body, f"what the policy {policy} found")
    if found is not None:
        return found
    result = EvaluationResult(
        evaluator=DAMAGED_RESULTS,
        outcome=Outcome.ERROR,
        error_kind=ErrorKind.INTERNAL,
        fault=Fault.PLATFORM,
        reason="what was found is damaged where it is stored; have the policy evaluate the trace again",
    )
    return PolicyResults(policy=policy, results=[result], revision=revision, time=moment_of(time_us))


def unpacked_feedback(name: str, body: bytes) -> Feedback | None:
    """What was said; None of damaged bytes, which are left out and logged."""
    return _unpacked_as(Feedback, body, f"the feedback {name}")


def _unpacked_as(kind: type[T], body: bytes, what: str) -> T | None:
    import zstandard

    try:
        return msgspec.msgpack.decode(unpacked(body), type=kind)
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError) as error:
        logger.warning("%s cannot be read and is set aside: %s", what, error)
        return None


def unpacked(body: bytes) -> bytes:
    """Raises: zstandard.ZstdError: it is damaged, also where it only says that it is larger than anything stored."""
    import zstandard

    if zstandard.frame_content_size(body) > _MOST_UNPACKED_BYTES:
        raise zstandard.ZstdError("it says that it unpacks to more than a gigabyte")
    return _decompressor().decompress(body)


def unpacked_spans(body: bytes) -> bytes:
    """The body of a part; `DAMAGED_BODY` for one whose bytes are damaged, so that others can be read."""
    import zstandard

    try:
        return unpacked(body)
    except zstandard.ZstdError:
        return DAMAGED_BODY


def packed_text(text: str) -> bytes:
    return _compressor(1).compress(text.encode())


def _decompressor() -> "zstandard.ZstdDecompressor":
    known: Any = getattr(_local, "decompressor", None)
    if known is None:
        import zstandard

        known = _local.decompressor = zstandard.ZstdDecompressor()
    return known


def _compressor(level: int) -> "zstandard.ZstdCompressor":
    """Of this thread: one that is used again takes half the time, and none may be used by two threads at once."""
    known: dict[int, Any] | None = getattr(_local, "compressors", None)
    if known is None:
        known = _local.compressors = {}
    compressor = known.get(level)
    if compressor is None:
        import zstandard

        compressor = known[level] = zstandard.ZstdCompressor(level=level)
    return compressor
