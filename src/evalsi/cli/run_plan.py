"""`evalsi run --dry-run`: the plan of a run, printed."""

from typing import Any

from evalsi.cli.terminal import console, figure, say


def print_plan(document: Any, settings: Any, options: Any) -> int:
    """Prints what the run would do and may cost. Asks nobody; exit status 0, warnings on standard error."""
    from rich.table import Table

    from evalsi.wiring.running import planning

    plan = planning(document, settings, options)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_row("records", f"{plan.records:,}")
    table.add_row("trials", f"{plan.trials:,}")
    table.add_row("target calls", f"{plan.target_calls:,}")
    for judge, calls in plan.judge_calls.items():
        table.add_row(f"judge calls ({judge})", f"at least {calls:,}")
    table.add_row("input tokens", _tokens(plan.input_tokens))
    table.add_row("output tokens", _tokens(plan.output_tokens))
    cost = "unknown: the model has no price" if plan.usd is None else f"${plan.usd.low:.2f} to ${plan.usd.high:.2f}"
    table.add_row("cost of the target", cost)
    table.add_row("estimated from", plan.basis)
    for outlook in plan.gates:
        gate = outlook.gate
        width = "" if outlook.width is None else f"interval about {figure(outlook.width)} wide"
        sees = "" if outlook.detectable is None else f"sees differences from {figure(outlook.detectable)}"
        table.add_row(
            f"gate {gate.name or gate.metric or 'condition'}", ", ".join(part for part in (width, sees) if part)
        )
    console().print(table)
    for warning in plan.warnings:
        say(f"warning: {warning}")
    say("nothing was asked; start it without --dry-run")
    return 0


def _tokens(tokens: Any) -> str:
    return f"{tokens.low:,.0f} to {tokens.high:,.0f}"
