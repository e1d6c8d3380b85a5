"""What the metrics of an evaluator are called, before anything was measured."""

from evalsi.evaluators.api import Definition
from evalsi.schema import MetricSpec


def metrics_of(definition: Definition, name: str) -> dict[str, MetricSpec]:
    """The declared outputs by metric: the evaluator's name for the primary one, `name.output` for the others.

    Args:
        name: What the evaluator reports as: its own name, or its alias.
    """
    return {metric_of(definition, name, spec.name): spec for spec in definition.outputs}


def metric_of(definition: Definition, name: str, output: str) -> str:
    """The metric of one output; of an empty one, that of the evaluator itself."""
    outputs = definition.outputs
    primary = definition.name if not outputs or any(spec.name == definition.name for spec in outputs) else ""
    if not primary and len(outputs) == 1:
        primary = outputs[0].name
    return name if output in ("", primary) else f"{name}.{output}"
