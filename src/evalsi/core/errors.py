"""The one error tree. Every error a person can meet is here, with a stable code and a page of its own.

EvalsiError
├── UsageError                what was asked for is wrong; nothing was started       exit 2 · HTTP 400
│   ├── UnknownNameError      a name that does not exist: evaluator, param, column, key
│   ├── InvalidParamsError    an evaluator's params do not fit their types
│   ├── InvalidSpecError      a spec, flag or expression cannot be read
│   ├── InvalidDataError      a dataset cannot be read: file, line and column are named
│   │   └── DuplicateIdError  two records carry the same id
│   └── MissingExtraError     an optional dependency is not installed
├── NotFoundError             a run, file or case that is not there                   exit 1 · HTTP 404
├── TooLargeError             a request is larger than the server takes               exit 1 · HTTP 413
├── OverloadedError           a server has as much to do as it takes on               exit 1 · HTTP 503
│   └── RateLimitError        a caller sends faster than it may                    exit 1 · HTTP 429
├── CallDeadlineError         a call was not done within its time                     exit 1 · HTTP 504
├── AlreadyExistsError        a name that is taken                                    exit 1 · HTTP 409
├── UnauthenticatedError      a server asks who is calling, and was not told          exit 1 · HTTP 401
├── ForbiddenError            the caller may not do this                              exit 1 · HTTP 403
│   └── CredentialDeniedError a credential is not granted to the project              exit 1 · HTTP 403
├── UnimplementedError        a method that this version does not serve               exit 1 · HTTP 501
├── StoreError                the store cannot be opened, read or written             exit 1 · HTTP 503
│   ├── StoreTooNewError      written by a later version
│   └── LeaseLostError        another worker has the run now                      exit 1 · HTTP 409
├── ConflictError             it contradicts what is there                            exit 1 · HTTP 409
├── QuotaError                a project has used up what it may use                   exit 1 · HTTP 429
├── PluginError               a third-party evaluator cannot be loaded                exit 1 · HTTP 500
├── SandboxUnavailableError   no fence here is as strong as was asked for             exit 1 · HTTP 503
├── SandboxError              a sandbox failed, not the program in it                 exit 1 · HTTP 500
├── ImageError                the image of a sandbox cannot be had or trusted         exit 1 · HTTP 502
├── NothingScoredError        a run ended without one scored result                   exit 1 · HTTP 422
├── RewardFailedError         a batch of rewards has parts that failed               exit 1 · HTTP 503
├── GateFailedError           a gate failed                                           exit 3 · HTTP 422
├── InconclusiveError         the data cannot decide                                  exit 4 · HTTP 422
└── MeasurementError          one measurement failed: becomes an ERROR outcome, carries kind and fault
    ├── MissingFieldError     a prompt or evaluator needs a field that the record lacks
    ├── DeadlineError         no value within the deadline
    ├── WorkerCrashError      the process that computed it died
    ├── ScoreError            an evaluator returned something that is no score
    ├── ReplyError            a judge's reply cannot be read as a verdict
    ├── BudgetError           a budget was used up
    ├── ProviderError         a model provider refused, timed out or answered nonsense
    └── TargetError           the agent or program under evaluation gave no answer

Outsiders (evaluator and adapter authors) raise what they like: `crossing` types it at the boundary.
`SkipRecord` is no error: it says that a measurement does not apply to a record.
"""

import difflib
import errno
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import ClassVar

from evalsi.schema import ErrorKind, Fault

GRPC_STATUSES = {400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 413: 8, 422: 9, 429: 8, 501: 12, 503: 14, 504: 4}
"""gRPC status by HTTP status; 13, INTERNAL, for what is not listed."""

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says when a disk or a quota is full, which passes when somebody makes room."""


class EvalsiError(Exception):
    """The root. Its text is one sentence for a person: what is wrong, where, and what to do.

    Args:
        message: What is wrong, with the offending value.
        where: `file:line:column` or a field path such as `spec.gates[0].min`.
        hint: What to do next, as a sentence without its full stop.
    """

    code: ClassVar[str] = "error"
    """Stable, kebab-case; also the name of the page docs/errors/<code>.md."""
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    @classmethod
    def grpc_status(cls) -> int:
        """Number of the gRPC status that stands for this error: that of its HTTP status."""
        return GRPC_STATUSES.get(cls.http_status, 13)

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.__dict__)


def _rebuild(kind: type[EvalsiError], state: dict[str, object]) -> EvalsiError:
    error = kind.__new__(kind)
    Exception.__init__(error, state.get("message", ""))
    error.__dict__.update(state)
    return error


class UsageError(EvalsiError):
    code = "usage"
    exit_status = 2
    http_status = 400


class UnknownNameError(UsageError):
    """A name that nothing bears. Says the nearest one that exists.

    Args:
        what: The kind of thing, e.g. "evaluator".
        name: What was written.
        known: Every name that would have been right.
    """

    code = "unknown-name"

    def __init__(self, what: str, name: str, known: Iterable[str], *, where: str | None = None) -> None:
        self.name = name
        self.known = sorted(set(known))
        super().__init__(f"unknown {what} {name!r}", where=where, hint=suggestion(name, self.known))


class InvalidParamsError(UsageError):
    code = "invalid-params"


class InvalidSpecError(UsageError):
    """Something a person wrote to say what is to be done cannot be read or makes no sense.

    `problems` holds every mistake, in the order of the document, where several are looked for at once; a single mistake
    is its own only problem.
    """

    code = "invalid-spec"

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        problems: "Sequence[InvalidSpecError]" = (),
    ) -> None:
        super().__init__(message, where=where, hint=hint)
        self.problems: tuple[InvalidSpecError, ...] = tuple(problems) or (self,)

    @classmethod
    def of(cls, problems: "Sequence[InvalidSpecError]") -> "InvalidSpecError":
        """All `problems` in one error, a line for each. At least one is needed."""
        first, *more = problems
        if not more:
            return first
        lines = "".join(f"\n  {problem}" for problem in problems)
        return cls(f"there are {len(problems)} mistakes:{lines}", problems=problems)


class InvalidDataError(UsageError):
    code = "invalid-data"


class DuplicateIdError(InvalidDataError):
    code = "duplicate-id"


class MissingExtraError(UsageError):
    """An optional dependency is needed and not installed."""

    code = "missing-extra"

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs the extra {extra!r}", hint=f"install it with: pip install 'evalsi[{extra}]'")


class NotFoundError(EvalsiError):
    code = "not-found"
    http_status = 404


class TooLargeError(EvalsiError):
    """A request, or what it unpacks to, is larger than the server takes."""

    code = "too-large"
    http_status = 413


class OverloadedError(EvalsiError):
    """A server has as much to do as it takes on. The same call may succeed later.

    Args:
        retry_after_s: Seconds to wait before the next try.
    """

    code = "overloaded"
    http_status = 503
    retry_after_s: float = 1.0

    def __init__(self, message: str, *, retry_after_s: float = 1.0, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s

    @classmethod
    def grpc_status(cls) -> int:
        return 8  # RESOURCE_EXHAUSTED: UNAVAILABLE would have clients try again at once


class RateLimitError(OverloadedError):
    """A caller sends faster than it may. The same call succeeds later."""

    code = "rate-limit"
    http_status = 429


class CallDeadlineError(EvalsiError):
    """A call was not done within the time its caller or the server allows."""

    code = "call-deadline"
    http_status = 504


class AlreadyExistsError(EvalsiError):
    """What was to be made exists already."""

    code = "already-exists"
    http_status = 409


class UnauthenticatedError(EvalsiError):
    """No credential that a server accepts. The message never says what was wrong with the one that was shown."""

    code = "unauthenticated"
    http_status = 401


class ForbiddenError(EvalsiError):
    """The caller is known and may not do this."""

    code = "forbidden"
    http_status = 403


class CredentialDeniedError(ForbiddenError):
    """A specification names a credential that its project was not granted, or not for where it would be sent."""

    code = "credential-denied"


class UnimplementedError(EvalsiError):
    """A method of the interface that this version does not serve."""

    code = "unimplemented"
    http_status = 501


class StoreError(EvalsiError):
    code = "store"
    http_status = 503


class LeaseLostError(StoreError):
    """A run was given to another worker: its former holder stops and writes nothing more."""

    code = "lease-lost"
    http_status = 409


class ConflictError(EvalsiError):
    """What was asked for contradicts what is there: a key used for another request, a decision made meanwhile."""

    code = "conflict"
    http_status = 409


class QuotaError(EvalsiError):
    """A project has used up what it may use."""

    code = "quota"
    http_status = 429


class StoreTooNewError(StoreError):
    code = "store-too-new"


class PluginError(EvalsiError):
    code = "plugin"


class SandboxUnavailableError(EvalsiError):
    """Nothing on this machine isolates a program as strongly as was asked for, so it was not run."""

    code = "sandbox-unavailable"
    http_status = 503


class SandboxError(EvalsiError):
    """A sandbox did not start, died or could not do what was asked. Says nothing about the program in it."""

    code = "sandbox"


class ImageError(EvalsiError):
    """The image of a sandbox cannot be had, is not what it says, or is not signed by who was asked for."""

    code = "sandbox-image"
    http_status = 502


class NothingScoredError(EvalsiError):
    code = "nothing-scored"
    http_status = 422


class RewardFailedError(EvalsiError):
    """Rewards of a batch are not known, and the spec says to raise rather than to mask them."""

    code = "reward-failed"
    http_status = 503


class GateFailedError(EvalsiError):
    code = "gate-failed"
    exit_status = 3
    http_status = 422


class InconclusiveError(EvalsiError):
    code = "inconclusive"
    exit_status = 4
    http_status = 422


class MeasurementError(EvalsiError):
    """One measurement failed. The engine turns it into an ERROR outcome; it is never a low score.

    Args:
        message: What happened.
        kind: The class of failure; reports group by it.
        fault: Whose failure it was.
        detail: Evidence to keep with the result, e.g. a judge's raw reply.
    """

    code = "measurement"
    kind: ErrorKind = ErrorKind.EXCEPTION
    fault: Fault = Fault.EVALUATOR
    retryable: ClassVar[bool] = False

    def __init__(
        self, message: str, *, kind: ErrorKind | None = None, fault: Fault | None = None, detail: str | None = None
    ) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind
        if fault is not None:
            self.fault = fault
        self.detail = detail


class MissingFieldError(MeasurementError):
    code = "missing-field"
    kind = ErrorKind.MISSING_FIELD
    fault = Fault.ENVIRONMENT


class DeadlineError(MeasurementError):
    code = "deadline"
    kind = ErrorKind.TIMEOUT


class WorkerCrashError(MeasurementError):
    code = "worker-crash"
    kind = ErrorKind.CRASH


class ScoreError(MeasurementError):
    code = "score"
    kind = ErrorKind.WRONG_TYPE


class ReplyError(MeasurementError):
    """A judge's reply is no verdict. `detail` holds the raw reply."""

    code = "judge-reply"
    kind = ErrorKind.JUDGE_PARSE
    fault = Fault.JUDGE


class BudgetError(MeasurementError):
    code = "budget"
    kind = ErrorKind.BUDGET
    fault = Fault.PLATFORM


class ProviderError(MeasurementError):
    """A model provider failed.

    Args:
        retryable: Whether the same request may succeed later.
        retry_after_s: Seconds the provider asked us to wait, if it did.
        status: HTTP status, if there was one.
    """

    code = "provider"
    kind = ErrorKind.PROVIDER
    fault = Fault.PROVIDER

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
        detail: str | None = None,
    ) -> None:
        super().__init__(message, kind=kind, detail=detail)
        self.may_retry = retryable
        self.retry_after_s = retry_after_s
        self.status = status
        self.requests = 0
        """Attempts that were made before this was raised."""


class TargetError(MeasurementError):
    """What is under evaluation failed by itself and left no answer: it raised, crashed, or printed what cannot be read."""

    code = "target"
    kind = ErrorKind.TARGET
    fault = Fault.AGENT


class SkipRecord(Exception):
    """Raised by an evaluator that does not apply to a record; the text is the reason a person reads."""


@contextmanager
def crossing(subject: str) -> Generator[None]:
    """Types whatever an outsider raises: `SkipRecord` and `EvalsiError` pass, the rest becomes `MeasurementError`.

    Args:
        subject: Who raised it, e.g. an evaluator's reference.
    """
    try:
        yield
    except (SkipRecord, EvalsiError):
        raise
    except (Exception, SystemExit) as error:
        raise MeasurementError(f"{subject} raised {described(error)}") from error


def described(error: BaseException) -> str:
    """Type and text of what an outsider raised; the type alone where its text is empty or cannot be made.

    Who takes a record's input, output or reference for a text is told how to get it.
    """
    try:
        text = str(error)
    except Exception:
        text = ""
    if isinstance(error, (AttributeError, TypeError)) and "'Content'" in text:
        text += " (evalsi.text_of(record.output) is the text of an output)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """The nearest known name as a hint, else the known names when they are few."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6) or difflib.get_close_matches(
        name.casefold().replace("_", "-"), names, n=1, cutoff=0.6
    )
    if near:
        return f"did you mean {near[0]!r}?"
    if not names:
        return None
    return "known: " + ", ".join(names) if len(names) <= 12 else None


def every_error() -> list[type[EvalsiError]]:
    """All error classes, parents first, for the docs and the tests that keep them true."""
    found: list[type[EvalsiError]] = [EvalsiError]
    for kind in found:
        found += [child for child in kind.__subclasses__() if child not in found and child.__module__ == __name__]
    return found


def error_kind(code: str) -> type[EvalsiError] | None:
    """The class that bears a code; None where none does."""
    return next((kind for kind in every_error() if kind.code == code), None)


def told_error(
    kind: type[EvalsiError], message: str, *, where: str | None = None, hint: str | None = None
) -> EvalsiError:
    """An error that was raised in another process, from what is told of it."""
    error = kind.__new__(kind)
    EvalsiError.__init__(error, message, where=where, hint=hint)
    if isinstance(error, InvalidSpecError):
        error.problems = (error,)
    return error
