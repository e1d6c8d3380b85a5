"""Prices and totals: case Q01, and what an unknown price must never become."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from evalsi.core.errors import InvalidSpecError
from evalsi.judges.prices import Price, load_prices, shipped_prices, table_of, total_cost
from evalsi.schema import Usage
from tests.case_files import case, rows_of

TABLE = table_of({name: Price(**price) for name, price in case("Q01")["input"]["prices_per_million"].items()})


def usage_of(row: dict[str, Any]) -> Usage:
    return Usage(
        input_tokens=row.get("input"),
        output_tokens=row.get("output"),
        cached_input_tokens=row.get("cache_read"),
        cost_usd=row.get("reported_cost"),
    )


@pytest.mark.parametrize(("row", "expected"), rows_of("Q01"))
def test_costs_are_known_or_unknown_and_never_negative(row: Any, expected: Any) -> None:
    cost = TABLE.cost(row["model"], usage_of(row))
    if row["model"] == "small-1-2026-01-01":
        assert cost.usd == pytest.approx(0.0014)  # The documented rule for dated snapshots.
    elif "reported_cost" in row:
        assert (cost.usd, cost.source) == (0.5, "reported")
        assert cost.computed_usd == pytest.approx(0.0014)
    elif isinstance(expected, str):
        assert expected.startswith("flag")
        assert cost.exclusive_counts
        assert cost.usd == pytest.approx((10 * 1.0 + 50 * 0.1 + 5 * 4.0) / 1e6)
    elif expected is None:
        assert (cost.usd, cost.source) == (None, "unknown")
    else:
        assert cost.usd == pytest.approx(expected)
        assert not cost.exclusive_counts


def test_a_total_with_unknown_parts_says_so_and_has_no_sum() -> None:
    costs = [TABLE.cost(row["model"], usage_of(row)).usd for row, _ in rows_of("Q01")]
    total = total_cost(costs)
    assert (total.known, total.unknown, total.usd) == (6, 2, None)
    assert str(total).endswith("(partial: 2 of 8 costs unknown)")
    assert total_cost([0.5, 0.25]).usd == 0.75


@pytest.mark.parametrize(
    "model", ["small-1-large", "small-10", "small", "small-1-2026", "xsmall-1", "small-1-latest", ""]
)
def test_a_name_that_only_looks_alike_has_no_price(model: str) -> None:
    assert TABLE.find(model) is None


@pytest.mark.parametrize("model", ["small-1-20260101", "small-1@20260101"])
def test_a_dated_snapshot_costs_what_its_model_costs(model: str) -> None:
    assert TABLE.find(model) == TABLE.find("small-1")


def test_the_shipped_table_has_a_date_and_no_free_model() -> None:
    table = shipped_prices()
    assert table.as_of
    assert all(price.input > 0 and price.output >= price.input for price in table.models.values())
    assert all((price.cache_read or 0) <= price.input for price in table.models.values())


def test_a_file_overrides_single_models_and_changes_the_version(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"models": {"gpt-4o": {"input": 1, "output": 2}, "mine": {"input": 0, "output": 0}}}')
    table = load_prices(path)
    assert table.find("gpt-4o") == Price(input=1, output=2)
    assert table.cost("mine", Usage(input_tokens=5, output_tokens=5)).usd == 0.0
    assert table.find("gpt-4o-mini") == shipped_prices().find("gpt-4o-mini")
    assert table.version != shipped_prices().version


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"models": {"m": {"input": -1, "output": 1}}}', '{"models": {"m": {"input": 1}}}', '{"model": {}}',
     '{"models": {"m": {"input": 1, "output": 1, "cached": 1}}}', '{"models": {}, "currency": "EUR"}'],
)  # fmt: skip
def test_a_malformed_price_table_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)
    with pytest.raises(InvalidSpecError, match=r"prices\.json"):
        load_prices(path)


def test_a_price_table_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError, match="No such file"):
        load_prices(tmp_path / "none.json")


def test_prices_survive_being_written_and_read() -> None:
    table = shipped_prices()
    assert msgspec.json.decode(msgspec.json.encode(table), type=type(table)) == table
