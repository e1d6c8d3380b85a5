"""A specification that was sent to a server, with what the server adds to it: its judges, its targets, its limits.

Its own module because it is done twice, when a run is accepted and when it is carried out, and must come to the same.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.access.outgoing_rights import OutgoingRights, with_named_parts
from evalsi.core.errors import InvalidSpecError
from evalsi.run.spec.own_judge import with_own_judge
from evalsi.run.spec.read_run_spec import RunDocument, kept_run_spec
from evalsi.run.spec.served import served_spec
from evalsi.schema import EvalRun, RunSpec


@dataclass(frozen=True, kw_only=True)
class ServedSpec:
    """A specification that may be carried out."""

    document: RunDocument
    """What was sent, checked; it is what is remembered."""
    spec: RunSpec
    """What is carried out: paths below the root of datasets, the server's judges and targets in place of their names."""


def read_served_spec(
    run: EvalRun,
    *,
    name: str,
    root: Path,
    rights: OutgoingRights,
    default_judge: str = "",
    has_usual_judge: bool = True,
) -> ServedSpec:
    """The specification of `run`, checked as far as it can be without asking anybody or reading data.

    Args:
        name: What the run is called where something is wrong with it.
        root: The root of datasets.
        rights: What the project of the run may call.
        default_judge: The judge of evaluators that need one where the specification names none.
        has_usual_judge: Whether who carries it out has a judge of its own beside these.

    Raises:
        InvalidSpecError: the specification is wrong, or asks for what a server does not do.
        ForbiddenError, UnknownNameError: it names what the project has not.
    """
    sent = with_own_judge(run.spec or RunSpec())
    # Before anything else: the checks below load evaluators, and code that was sent must not even be imported.
    project = run.metadata.project if run.metadata is not None and run.metadata.project else DEFAULT_PROJECT
    served_spec(sent, root, project)
    complete = with_named_parts(sent, rights)
    document = _checked(run, complete, name, root)
    if document.evaluators.needs_judge and not sent.judge and default_judge in rights.judges:
        complete = with_named_parts(msgspec.structs.replace(sent, judge=default_judge), rights)
        document = _checked(run, complete, name, root)
    elif document.evaluators.needs_judge and not sent.judge and not has_usual_judge:
        raise InvalidSpecError(
            f"{document.evaluators.needs_judge[0]} asks a judge and none was named",
            where="spec.judge",
            hint="name one; there is no default judge, so nothing is billed by surprise",
        )
    return ServedSpec(document=document, spec=served_spec(complete, root, project))


def _checked(run: EvalRun, complete: RunSpec, name: str, root: Path) -> RunDocument:
    """Every mistake of the specification; places in a text that nobody wrote are left out, paths stand in each message."""
    try:
        document = kept_run_spec(msgspec.structs.replace(run, spec=complete), name=name, folder=root)
    except InvalidSpecError as error:
        if not error.problems:
            raise
        raise InvalidSpecError.of(
            [InvalidSpecError(problem.message, hint=problem.hint) for problem in error.problems]
        ) from None
    return replace(document, run=run)
