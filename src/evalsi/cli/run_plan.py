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
    rows.append(("target calls", f"{plan.target_calls:,}"))
    for judge, calls in plan.judge_calls.items():
        rows.append((f"judge calls ({judge})", f"at least {calls:,}"))
    rows.append(("input tokens", _tokens(plan.input_tokens)))
    rows.append(("output tokens", _tokens(plan.output_tokens)))
    cost = "unknown: the model has no price" if plan.usd is None else f"${plan.usd.low:.2f} to ${plan.usd.high:.2f}"
    rows.append(("cost of the target", cost))
    rows.append(("estimated from", plan.basis))
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


def _tokens(tokens: Any) -> str:
    low, high = f"{tokens.low:,.0f}", f"{tokens.high:,.0f}"
    return low if low == high else f"{low} to {high}"
