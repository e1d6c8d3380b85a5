"""What a run may use and what an answer costs, as its specification says."""

from collections.abc import Callable

from evalsi.core.errors import InvalidSpecError
from evalsi.judges.prices import Price, PriceTable
from evalsi.run.budget_watch import RunBudget
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.schema import (
    RunSpec,
    Usage,
)
from evalsi.schema import Target as TargetSpec


def run_budget(spec: RunSpec) -> RunBudget:
    budget = spec.budget
    if budget is None:
        return RunBudget()
    return RunBudget(
        target_tokens=budget.max_target_tokens or None,
        judge_tokens=budget.max_judge_tokens or None,
        usd=budget.max_usd,
        wall_clock_s=budget.max_wall_clock or None,
    )


def price_of(target: TargetSpec | None, prices: PriceTable) -> Callable[[str, Usage], float | None]:
    """What an answer costs: by the target's own prices, else by the table; the model asked for stands in for one that
    the provider names differently.
    """
    if target is not None and target.pricing is not None:
        own = Price(input=target.pricing.input_per_mtok, output=target.pricing.output_per_mtok)
        table = PriceTable(version="spec", models={target.model or "target": own})
        return lambda _, usage: table.cost(target.model or "target", usage).usd
    asked = target.model if target is not None else ""
    names: dict[str, str] = {}
    """By model that answered: the name it has a price under."""

    def price(model: str, usage: Usage) -> float | None:
        known = names.get(model)
        if known is None:
            known = names[model] = next((name for name in (model, asked) if prices.find(name) is not None), "")
        return prices.cost(known, usage).usd if known or usage.cost_usd is not None else None

    return price


def refuse_unknown_price(
    target: TargetSpec, price: Callable[[str, Usage], float | None], document: RunDocument
) -> None:
    if price(target.model, Usage(input_tokens=1, output_tokens=1)) is None:
        raise InvalidSpecError(
            f"a budget in dollars cannot be kept: the price of {target.model or 'the target'!r} is unknown",
            where=document.where("spec.budget"),
            hint="give target.pricing, or a budget in tokens",
        )
