"""What a target said, as it is kept in the store: an answer, or the failure that stood in its place."""

import msgspec

from evalsi.core.errors import MeasurementError
from evalsi.ports.target import Answer
from evalsi.schema import ErrorKind, Fault


class KeptFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no answer."""

    message: str
    kind: ErrorKind
    fault: Fault
    detail: str = ""


class Kept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row's outcome; exactly one of the two is set."""

    answer: Answer | None = None
    failure: KeptFailure | None = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Kept)


def encode_outcome(outcome: Answer | MeasurementError) -> bytes:
    if isinstance(outcome, Answer):
        return _ENCODER.encode(Kept(answer=outcome))
    failure = KeptFailure(message=outcome.message, kind=outcome.kind, fault=outcome.fault, detail=outcome.detail or "")
    return _ENCODER.encode(Kept(failure=failure))


def decode_outcome(body: bytes) -> Answer | MeasurementError:
    kept = _DECODER.decode(body)
    if kept.answer is not None:
        return kept.answer
    assert kept.failure is not None
    failure = kept.failure
    return MeasurementError(failure.message, kind=failure.kind, fault=failure.fault, detail=failure.detail or None)


def is_final(outcome: Answer | MeasurementError) -> bool:
    """Whether asking again later could not end otherwise: a failure of the infrastructure is not kept, so it is asked again."""
    return isinstance(outcome, Answer) or outcome.fault in _FAULTS_OF_THE_ASKED


def is_lasting(fault: Fault) -> bool:
    """Whether an error with this fault would come again: it lies in what is asked or in what measures."""
    return fault in _FAULTS_OF_THE_ASKED or fault is Fault.EVALUATOR


_FAULTS_OF_THE_ASKED = frozenset({Fault.AGENT, Fault.MODEL, Fault.DATASET})
