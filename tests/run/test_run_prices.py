"""What an answer costs: a price that nobody gave is unknown, and never 0."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import InvalidSpecError
from evalsi.judges.prices import Price, table_of
from evalsi.run.spec.read_run_spec import RunDocument, kept_run_spec, read_run_spec
from evalsi.schema import EvalRun, RunSpec, Usage, json_codec, proto_codec
from evalsi.wiring.run_prices import price_of, refuse_unknown_price
from tests.run.spec.specs import SMALL

MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
BILLED = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cost_usd=7.0)
TABLE = table_of({"listed": Price(input=1.0, output=4.0)})


def document(model: str, pricing: dict[str, Any]) -> RunDocument:
    body: dict[str, Any] = {"connector": "anthropic", "model": model, "pricing": pricing}
    text = msgspec.json.encode(body).decode()
    return read_run_spec(SMALL, overrides=[f"spec.target={text}"])


def cost(found: RunDocument, usage: Usage = MILLION) -> float | None:
    target = found.spec.target
    assert target is not None
    return price_of(target, TABLE)(target.model, usage)


def over_the_wire(found: RunDocument) -> RunDocument:
    """As a server takes it and a store keeps it."""
    told = proto_codec.decode(proto_codec.encode(found.spec), RunSpec)
    kept = json_codec.decode(msgspec.json.encode(told), RunSpec)
    return kept_run_spec(EvalRun(spec=kept), name="run 1", folder=Path())


def test_prices_that_nobody_wrote_are_those_of_the_table_or_unknown() -> None:
    told = over_the_wire(document("own", {}))
    assert (cost(told), cost(told, BILLED)) == (None, 7.0)
    assert cost(over_the_wire(document("listed", {}))) == 5.0
    assert (cost(document("own", {})), cost(document("listed", {}))) == (None, 5.0)


def test_prices_that_are_written_as_zero_are_those_of_a_model_that_costs_nothing() -> None:
    text = SMALL.replace("model: m-1,", "model: own, pricing: {inputPerMtok: 0, outputPerMtok: 0},")
    found = read_run_spec(text)
    assert (cost(found), cost(over_the_wire(found))) == (0.0, 0.0)
    assert cost(document("listed", {"free": True})) == 0.0


def test_prices_of_the_spec_go_before_the_table() -> None:
    found = document("listed", {"input_per_mtok": 2, "output_per_mtok": 3})
    assert (cost(found), cost(over_the_wire(found))) == (5.0, 5.0)


def test_half_a_price_gives_no_cost() -> None:
    found = document("listed", {"input_per_mtok": 2, "output_per_mtok": 3})
    target = found.spec.target
    assert target is not None and target.pricing is not None
    half = msgspec.structs.replace(target, pricing=msgspec.structs.replace(target.pricing, output_per_mtok=0.0))
    price = price_of(half, TABLE)
    assert (price("listed", MILLION), price("listed", BILLED)) == (None, 7.0)


def test_an_answer_of_a_fallback_costs_what_the_fallback_costs() -> None:
    text = SMALL.replace(
        "model: m-1,",
        "model: own, pricing: {inputPerMtok: 2, outputPerMtok: 3}, fallbacks: ["
        "{connector: anthropic, model: other, pricing: {inputPerMtok: 10, outputPerMtok: 20}}, "
        "{connector: anthropic, model: unpriced}, {connector: anthropic, model: listed}],",
    )
    found = read_run_spec(text)
    price = price_of(found.spec.target, TABLE)
    models = ("own", "named-differently", "other", "other-2026-01-01", "listed", "unpriced")
    assert [price(model, MILLION) for model in models] == [5.0, 5.0, 30.0, 30.0, 5.0, None]
    assert found.spec.target is not None
    with pytest.raises(InvalidSpecError, match="the price of 'unpriced' is unknown"):
        refuse_unknown_price(found.spec.target, price, found)


def test_an_answer_is_priced_by_the_target_of_its_very_name_before_one_whose_snapshot_it_may_be() -> None:
    text = SMALL.replace(
        "model: m-1,",
        "model: own-2024-05-13, pricing: {inputPerMtok: 1, outputPerMtok: 1}, fallbacks: ["
        "{connector: anthropic, model: own, pricing: {inputPerMtok: 9, outputPerMtok: 9}}, "
        "{connector: anthropic, model: own-2024-08-06, pricing: {inputPerMtok: 5, outputPerMtok: 5}}],",
    )
    found = read_run_spec(text)
    price = price_of(found.spec.target, TABLE)
    models = ("own-2024-05-13", "own", "own-2024-08-06", "own-2024-09-09")
    assert [price(model, MILLION) for model in models] == [2.0, 18.0, 10.0, 18.0]


def test_zeros_are_prices_wherever_a_person_writes_them_and_null_is_none() -> None:
    zeros: dict[str, Any] = {"inputPerMtok": 0, "outputPerMtok": 0}
    assert cost(document("own", zeros)) == 0.0
    pricing = SMALL.replace("model: m-1,", "model: own, pricing: {},")
    assert cost(read_run_spec(pricing, overrides=['spec.target.pricing={"input_per_mtok":0,"output_per_mtok":0}'])) == 0
    nulls = SMALL.replace("model: m-1,", "model: own, pricing: {inputPerMtok: null, outputPerMtok: null},")
    assert (cost(read_run_spec(nulls)), cost(document("listed", dict.fromkeys(zeros)))) == (None, 5.0)


def test_zeros_of_an_anchor_are_written_where_it_is_named() -> None:
    free = "{connector: anthropic, model: %s, pricing: %s}"
    fallbacks = ", ".join((free % ("whole", "*free"), free % ("merged", "{<<: *free}")))
    text = SMALL.replace(
        "model: m-1,",
        f"model: own, pricing: &free {{inputPerMtok: 0, outputPerMtok: 0}}, fallbacks: [{fallbacks}],",
    )
    found = read_run_spec(text)
    price = price_of(found.spec.target, TABLE)
    assert [price(model, MILLION) for model in ("own", "whole", "merged")] == [0.0, 0.0, 0.0]
    kept = price_of(over_the_wire(found).spec.target, TABLE)
    assert [kept(model, MILLION) for model in ("own", "whole", "merged")] == [0.0, 0.0, 0.0]
