"""`evalsi doctor`: what works on this machine, and what to do about what does not. Calls nobody."""

import importlib.util
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import click

from evalsi.cli.format_option import format_option
from evalsi.cli.table import print_table, text, whole
from evalsi.cli.terminal import as_json
from evalsi.core.figure import counted
from evalsi.core.version import __version__

State = Literal["ok", "missing", "failed"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One finding. `missing` is optional and harmless; `failed` stops something that should work."""

    name: str
    state: State
    detail: str


@click.command()
@click.option(
    "--require",
    type=click.Choice(["sdk", "server", "agent"]),
    default="sdk",
    show_default=True,
    help="What this machine is for: evaluating (sdk), serving others (server), or running code of agents too (agent).",
)
@format_option()
def doctor(require: Literal["sdk", "server", "agent"], output_format: str) -> int:
    """Check what works on this machine. Exit status 1 when something that should work does not."""
    checks = [_as_required(check(), require) for check in CHECKS]
    if output_format == "json":
        print(as_json(checks))
    else:
        from rich.text import Text

        styles = {"ok": "green", "missing": "dim", "failed": "bold red"}
        rows = [(Text(check.state, style=styles[check.state]), check.name, check.detail) for check in checks]
        print_table((whole("state"), whole("what"), text("finding")), rows, headings=False)
    return 1 if any(check.state == "failed" for check in checks) else 0


_NEEDED = {"sdk": (), "server": ("extra server",), "agent": ("sandbox",)}
"""What may be missing on some machines and not on one that is for this."""


def _as_required(check: Check, require: Literal["sdk", "server", "agent"]) -> Check:
    needed = check.state == "missing" and check.name in _NEEDED[require]
    return replace(check, state="failed") if needed else check


def _python() -> Check:
    fits = sys.version_info >= (3, 11)
    return Check(
        name="python", state="ok" if fits else "failed", detail=f"{platform.python_version()}, {sys.executable}"
    )


def _evalsi() -> Check:
    return Check(name="evalsi", state="ok", detail=__version__)


def _store() -> Check:
    from evalsi.core.errors import EvalsiError
    from evalsi.settings import Settings
    from evalsi.wiring.reading_runs import local_store

    settings = Settings.from_environment()
    if not settings.database.exists():
        return Check(name="store", state="missing", detail=f"{settings.database} is made by the first run")
    try:
        with local_store(settings) as store:
            count = len(store.runs())
    except EvalsiError as error:
        return Check(name="store", state="failed", detail=str(error))
    return Check(name="store", state="ok", detail=f"{settings.database}, {counted(count, 'run')}")


def _evaluators() -> Check:
    from evalsi.core.errors import EvalsiError
    from evalsi.evaluators.catalog import every_definition

    found = list(every_definition())
    broken = [f"{title}: {each}" for title, each in found if isinstance(each, EvalsiError)]
    if broken:
        return Check(name="evaluators", state="failed", detail="; ".join(broken))
    return Check(name="evaluators", state="ok", detail=f"{len(found)} found; list them with: evalsi catalog")


def _workers() -> Check:
    from evalsi.engine.workers import can_fork

    if can_fork:
        return Check(name="workers", state="ok", detail="evaluators that hang or crash cost one record")
    return Check(name="workers", state="missing", detail="no fork here: a hanging third-party evaluator stops a run")


def _sandbox() -> Check:
    import asyncio

    from evalsi.ports.sandbox import RungStatus
    from evalsi.settings import Settings
    from evalsi.wiring.sandboxing import sandbox_host

    async def find() -> list[RungStatus]:
        async with sandbox_host(Settings.from_environment()) as host:
            return list(await host.probe())

    rungs = asyncio.run(find())
    working = [f"{rung.driver} ({rung.level})" for rung in rungs if rung.available]
    if working:
        return Check(name="sandbox", state="ok", detail=f"{', '.join(working)}; more with: evalsi sandbox probe")
    reasons = "; ".join(f"{rung.driver}: {rung.reason}" for rung in rungs)
    return Check(name="sandbox", state="missing", detail=f"code of others is not run here: {reasons}")


def _judge() -> Check:
    from evalsi.settings import Settings

    settings = Settings.from_environment()
    judge = settings.judge
    if not judge.provider and not judge.model:
        return Check(
            name="judge", state="missing", detail="none by default; name one with --judge-provider and --judge-model"
        )
    variable = judge.api_key_env or {"anthropic": "ANTHROPIC_API_KEY"}.get(judge.provider, "OPENAI_API_KEY")
    known = "is set" if settings.environment.get(variable) else "is not set"
    return Check(name="judge", state="ok", detail=f"{judge.provider}/{judge.model}, {variable} {known} (not called)")


def _extra(name: str, module: str, purpose: str) -> Callable[[], Check]:
    def check() -> Check:
        if importlib.util.find_spec(module) is not None:
            return Check(name=f"extra {name}", state="ok", detail=purpose)
        return Check(name=f"extra {name}", state="missing", detail=f"{purpose}: pip install 'evalsi[{name}]'")

    return check


CHECKS: tuple[Callable[[], Check], ...] = (
    _evalsi,
    _python,
    _store,
    _evaluators,
    _workers,
    _sandbox,
    _judge,
    _extra("server", "grpc", "serving others"),
    _extra("arrow", "pyarrow", "Parquet and Arrow tables"),
    _extra("dataframes", "pandas", "pandas and polars data frames"),
    _extra("hf", "datasets", "hf:// datasets"),
    _extra("embeddings", "sentence_transformers", "embedding similarity"),
)
