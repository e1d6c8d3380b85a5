"""`evalsi doctor`: what works on this machine, and what to do about what does not. Calls nobody."""

import importlib.util
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import click

from evalsi.cli.terminal import as_json, console
from evalsi.core.version import __version__

State = Literal["ok", "missing", "failed"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """One finding. `missing` is optional and harmless; `failed` stops something that should work."""

    name: str
    state: State
    detail: str


@click.command()
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def doctor(output_format: str) -> int:
    """Check what works on this machine. Exit status 1 when something that should work does not."""
    checks = [check() for check in CHECKS]
    if output_format == "json":
        print(as_json(checks))
    else:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        styles = {"ok": "green", "missing": "dim", "failed": "bold red"}
        for check in checks:
            table.add_row(Text(check.state, style=styles[check.state]), check.name, Text(check.detail))
        console().print(table)
    return 1 if any(check.state == "failed" for check in checks) else 0


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
    from evalsi.wiring import local_store

    settings = Settings.from_environment()
    if not settings.database.exists():
        return Check(name="store", state="missing", detail=f"{settings.database} is made by the first run")
    try:
        with local_store(settings) as store:
            count = len(store.runs())
    except EvalsiError as error:
        return Check(name="store", state="failed", detail=str(error))
    return Check(name="store", state="ok", detail=f"{settings.database}, {count:,} runs")


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
    _extra("arrow", "pyarrow", "Parquet and Arrow tables"),
    _extra("dataframes", "pandas", "pandas and polars data frames"),
    _extra("hf", "datasets", "hf:// datasets"),
    _extra("embeddings", "sentence_transformers", "embedding similarity"),
)
