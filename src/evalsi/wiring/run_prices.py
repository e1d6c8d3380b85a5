"""What a run may use and what an answer costs, as its specification says."""

from collections.abc import Callable

from evalsi.core.errors import InvalidSpecError
from evalsi.judges.prices import Price, PriceTable, bears
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
    """What an answer costs: by the own prices of the target that gave it, else by the table; the model asked for stands in
    for one that the provider names differently. None where that is not known: `pricing: {}` gives no price.
    """
    main = _price_of_one(target, prices)
    if target is None or not target.fallbacks:
        return main
    others = {
        fallback.model: _price_of_one(fallback, prices)
        for fallback in target.fallbacks
        if fallback.model and fallback.model != target.model
    }

    def price(model: str, usage: Usage) -> float | None:
        """By the target whose model answered: the one of that name before those whose dated snapshot it may be."""
        if model == target.model:
            return main(model, usage)
        named = model if model in others else next((name for name in others if bears(model, name)), None)
        return main(model, usage) if named is None else others[named](model, usage)

    return price


def _price_of_one(target: TargetSpec | None, prices: PriceTable) -> Callable[[str, Usage], float | None]:
    if target is not None and target.pricing is not None:
        given = target.pricing
        if given.free or (given.input_per_mtok and given.output_per_mtok):
            own = Price(input=given.input_per_mtok, output=given.output_per_mtok)
            table = PriceTable(version="spec", models={target.model or "target": own})
            return lambda _, usage: table.cost(target.model or "target", usage).usd
        if given.input_per_mtok or given.output_per_mtok:  # half of what an answer costs is no cost
            return lambda _, usage: usage.cost_usd
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
    for asked in (target, *target.fallbacks):
        if price(asked.model, Usage(input_tokens=1, output_tokens=1)) is None:
            raise InvalidSpecError(
                f"a budget in dollars cannot be kept: the price of {asked.model or 'the target'!r} is unknown",
                where=document.where("spec.budget"),
                hint="give target.pricing, or a budget in tokens",
            )
