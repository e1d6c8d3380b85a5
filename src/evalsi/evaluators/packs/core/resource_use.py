"""What an output took: time, tokens, money. Read from the record's usage, never estimated."""

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, evaluator, output


@evaluator(
    name="latency",
    version="1.0.0",
    outputs=[
        output("latency", low=0, higher_is_better=False, description="Milliseconds from request to answer.", unit="ms")
    ],
    bounded=True,
    example={"record": {"output": "ok", "usage": {"latency": 1.5}}, "expected": {"latency": 1500.0}},
)
def latency(record: Record) -> float:
    """Milliseconds from the request to the complete answer; SKIPPED where it was not measured."""
    usage = record.usage
    if usage is None or usage.latency is None:
        raise SkipRecord("the record has no latency")
    return usage.latency * 1000.0


@evaluator(
    name="cost",
    version="1.0.0",
    outputs=[output("cost", low=0, higher_is_better=False, description="US dollars the answer cost.", unit="usd")],
    bounded=True,
    example={"record": {"output": "ok", "usage": {"cost_usd": 0.002}}, "expected": {"cost": 0.002}},
)
def cost(record: Record) -> float:
    """US dollars that the answer cost; SKIPPED where the price is unknown, which is not 0."""
    usage = record.usage
    if usage is None or usage.cost_usd is None:
        raise SkipRecord("the record has no cost")
    if usage.unpriced_requests:
        raise SkipRecord("the record's cost is partial: some of its requests have no known price")
    return float(usage.cost_usd)


@evaluator(
    name="token-usage",
    version="1.0.0",
    outputs=[
        output("input_tokens", low=0, higher_is_better=False, description="Tokens read."),
        output("output_tokens", low=0, higher_is_better=False, description="Tokens written."),
        output("total_tokens", low=0, higher_is_better=False, description="Their sum; absent if one is."),
    ],
    bounded=True,
    example={
        "record": {"output": "ok", "usage": {"input_tokens": 30, "output_tokens": 2}},
        "expected": {"input_tokens": 30, "output_tokens": 2, "total_tokens": 32},
    },
)
def token_usage(record: Record) -> dict[str, int | None]:
    """Tokens read, written and both together; SKIPPED where neither was counted."""
    usage = record.usage
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        raise SkipRecord("the record has no token counts")
    read, written = usage.input_tokens, usage.output_tokens
    total = read + written if read is not None and written is not None else None
    return {"input_tokens": read, "output_tokens": written, "total_tokens": total}
