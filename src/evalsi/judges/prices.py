"""What tokens cost. An unknown price is unknown: never 0, and a sum that lacks it says that it is partial.

Prices are US dollars per million tokens. A name finds its price exactly, else by the one rule for dated snapshots:
`name-2026-01-01`, `name-20260101` and `name@20260101` cost what `name` costs. No other prefix counts: `small-1-large` may
cost ten times `small-1`. The shipped table (`prices.json`) is a convenience with a date; a file of the same form overrides
it model by model.
"""

import math
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidSpecError
from evalsi.schema import Usage

_DATED = re.compile(r"(?P<name>.+?)[-@](?:\d{4}-\d{2}-\d{2}|\d{8})")
_Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """US dollars per million tokens. Without `cache_read` or `cache_write`, such tokens cost what input costs."""

    input: _Dollars
    output: _Dollars
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None


class PriceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Prices by model name, with the version that results are labelled with.

    A file of this form needs only `models`; see `load_prices`.
    """

    models: dict[str, Price]
    version: str = "custom"
    as_of: str = ""
    currency: Literal["USD"] = "USD"
    note: str = ""

    def find(self, model: str) -> Price | None:
        """The price of a model, by exact name or by the rule for dated snapshots; None when it is unknown."""
        found = self.models.get(model)
        return found if found is not None else self.models.get(_undated(model))

    def overridden(self, other: "PriceTable") -> "PriceTable":
        """This table with the models of `other` in place of its own; the version names both."""
        models = {**self.models, **other.models}
        own = digest(other.models).removeprefix("sha256:")[:8]
        return PriceTable(
            models=models, version=f"{self.version}+{other.version}.{own}", as_of=other.as_of or self.as_of
        )

    def cost(self, model: str, usage: Usage) -> "Cost":
        """What one call cost. `usage.cost_usd` is what the provider itself reported, if it did.

        `usage.input_tokens` includes cached tokens. More cached tokens than input means that the counts were given
        separately: they are then added, and the cost is flagged, so that it never goes negative.
        """
        price = self.find(model)
        computed, exclusive = (None, False) if price is None else _computed(price, usage)
        reported = usage.cost_usd if usage.cost_usd is not None and math.isfinite(usage.cost_usd) else None
        if reported is not None:
            return Cost(usd=reported, source="reported", computed_usd=computed, exclusive_counts=exclusive)
        source = "unknown" if computed is None else "computed"
        return Cost(usd=computed, source=source, computed_usd=computed, exclusive_counts=exclusive)


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one call and where it is from. A reported cost is the bill, so it is used where there is one.

    `exclusive_counts` flags usage whose cached tokens exceed its input tokens.
    """

    usd: float | None
    source: Literal["reported", "computed", "unknown"]
    computed_usd: float | None = None
    exclusive_counts: bool = False


class CostTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A sum of costs: the known part, and how many costs are unknown."""

    known_usd: float
    known: int
    unknown: int

    @property
    def usd(self) -> float | None:
        """The whole sum; None when a part of it is unknown. Gates and budgets use this, never `known_usd`."""
        return None if self.unknown else self.known_usd

    def __str__(self) -> str:
        if not self.unknown:
            return f"${self.known_usd:.4f}"
        return f"${self.known_usd:.4f} (partial: {self.unknown} of {self.known + self.unknown} costs unknown)"


def total_cost(costs: Iterable[float | None]) -> CostTotal:
    """The sum of what is known, with the count of what is not."""
    every = list(costs)
    known = [cost for cost in every if cost is not None]
    return CostTotal(known_usd=math.fsum(known), known=len(known), unknown=len(every) - len(known))


@lru_cache(maxsize=1)
def shipped_prices() -> PriceTable:
    """The table that comes with this release."""
    return msgspec.json.decode(resources.files("evalsi.judges").joinpath("prices.json").read_bytes(), type=PriceTable)


def load_prices(path: Path) -> PriceTable:
    """The shipped table, overridden by the models of a JSON file `{"models": {"name": {"input": 1, "output": 4}}}`.

    Raises: InvalidSpecError: the file cannot be read, or an entry is no price; names the field.
    """
    try:
        own = msgspec.json.decode(path.read_bytes(), type=PriceTable)
    except OSError as error:
        raise InvalidSpecError(f"the price table cannot be read: {error.strerror}", where=str(path)) from error
    except msgspec.DecodeError as error:
        raise InvalidSpecError(
            f"the price table is malformed: {error}",
            where=str(path),
            hint='each model needs "input" and "output" in US dollars per million tokens',
        ) from error
    return shipped_prices().overridden(own)


def bears(model: str, name: str) -> bool:
    """Whether a model is the one of that name, or a dated snapshot of it."""
    return name in (model, _undated(model))


def _undated(model: str) -> str:
    dated = _DATED.fullmatch(model)
    return dated["name"] if dated else model


def table_of(models: Mapping[str, Price]) -> PriceTable:
    """A table of these models only."""
    return PriceTable(models=dict(models))


def _computed(price: Price, usage: Usage) -> tuple[float | None, bool]:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None, False
    read = usage.cached_input_tokens or 0
    written = usage.cache_write_tokens or 0
    fresh = usage.input_tokens - read - written
    exclusive = fresh < 0
    if exclusive:
        fresh = usage.input_tokens
    parts = (
        fresh * price.input,
        read * (price.input if price.cache_read is None else price.cache_read),
        written * (price.input if price.cache_write is None else price.cache_write),
        usage.output_tokens * price.output,
    )
    return math.fsum(parts) / 1_000_000, exclusive
