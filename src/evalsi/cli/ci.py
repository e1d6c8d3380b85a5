"""`--ci`: what a command tells the build it is part of, beside its output and exit status.

Its own module because every command that ends with a verdict tells it alike: annotations on standard error, so that
standard output stays data, and a summary in the file that the build names.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import click

if TYPE_CHECKING:
    from evalsi.report.comparison import Comparison
    from evalsi.results.graded_run import GradedRun
    from evalsi.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])


def ci_option(command: Command) -> Command:
    """Adds the option."""
    return click.option(
        "--ci",
        type=click.Choice(["github", "none"]),
        help="Report to the CI system: annotations and a job summary. By default github where GITHUB_ACTIONS is true.",
    )(command)


class Build:
    """The build that a command is part of, or none. Errors that end the block are told too."""

    def __init__(self, choice: str | None, settings: "Settings") -> None:
        self._is_github = settings.github_actions if choice is None else choice == "github"
        self._settings = settings
        self._told = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from evalsi.core.errors import EvalsiError

        if self._is_github and not self._told and isinstance(error, EvalsiError):
            from evalsi.report.github import error_annotations

            for annotation in error_annotations(error, self._settings.github_workspace):
                print(annotation.command(), file=sys.stderr, flush=True)

    def tell(
        self,
        run: "GradedRun",
        *,
        where: str = "",
        gates_at: Sequence[str] = (),
        comparison: "Comparison | None" = None,
        gated: Collection[str] = (),
    ) -> None:
        """Tells the verdict: gates, regressions, and the report as a summary. Once, when it is known.

        Args:
            where: What to blame, as `file` or `file:line:column`: the spec, or the results.
            gates_at: The same of each gate.
            gated: Metrics of `comparison` that a gate has judged.
        """
        self._told = True
        if not self._is_github:
            return
        from evalsi.report.github import annotations, append_summary, place_of

        settings = self._settings
        place, *gate_places = (place_of(one, settings.github_workspace) for one in (where, *gates_at))
        sys.stdout.flush()
        for annotation in annotations(run, place=place, gate_places=gate_places, comparison=comparison, gated=gated):
            print(annotation.command(), file=sys.stderr, flush=True)
        if settings.github_step_summary is not None:
            append_summary(settings.github_step_summary, run, comparison=comparison)
