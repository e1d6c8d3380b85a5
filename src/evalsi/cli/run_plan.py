"""`evalsi run --dry-run`: the plan of a run, printed."""

from typing import Any

from evalsi.cli.table import print_table, text
from evalsi.cli.terminal import say
from evalsi.core.figure import figure


def print_plan(document: Any, settings: Any, options: Any) -> int:
    """Prints what the run would do and may cost. Asks nobody; exit status 0, warnings on standard error."""
    from evalsi.wiring.planning import planning

    plan = planning(document, settings, options)
    rows: list[tuple[str, str]] = []
    rows.append(("records", f"{plan.records:,}"))
    rows.append(("trials", f"{plan.trials:,}"))
    rows += _asking("the target", plan.target, "") if plan.target.calls else [("target calls", "0")]
    for judge, asking in plan.judges.items():
        rows += _asking(f"the judge {judge}", asking, "at least ")
    if plan.judges and plan.target.calls:
        rows.append(("cost in all", _cost(plan.usd)))
    for outlook in plan.gates:
        width = "" if outlook.width is None else f"interval about {figure(outlook.width)} wide"
        sees = "" if outlook.detectable is None else f"sees differences from {figure(outlook.detectable)}"
        said = ", ".join(part for part in (width, sees) if part) or "how well it can be decided shows in the run"
        rows.append((f"gate {outlook.subject}", said))
    print_table((text("what"), text("how much")), rows, headings=False)
    for warning in plan.warnings:
        say(f"warning: {warning}")
    say("nothing was asked; start it without --dry-run")
    return 0


def _asking(whom: str, asking: Any, least: str) -> list[tuple[str, str]]:
    of = "target" if whom == "the target" else whom.removeprefix("the ")
    return [
        (f"{of} calls", f"{least}{asking.calls:,}"),
        ("  input tokens", _tokens(asking.input_tokens)),
        ("  output tokens", _tokens(asking.output_tokens)),
        (f"  cost of {whom}", _cost(asking.usd)),
        ("  estimated from", asking.basis),
    ]


def _cost(usd: Any) -> str:
    from evalsi.report.figures import money

    if usd is None:
        return "unknown: a model has no price"
    low, high = money(usd.low), money(usd.high)
    return low if low == high else f"{low} to {high}"


def _tokens(tokens: Any) -> str:
    low, high = f"{tokens.low:,.0f}", f"{tokens.high:,.0f}"
    return low if low == high else f"{low} to {high}"
