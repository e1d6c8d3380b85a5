"""The names that `import evalsi` offers are a promise: this list changes on purpose or not at all."""

import subprocess
import sys

import evalsi

PROMISED = [
    "AsyncClient",
    "Client",
    "Content",
    "Definition",
    "EvalContext",
    "EvalResult",
    "EvalsiError",
    "EvaluationResult",
    "EvaluatorRef",
    "Message",
    "MetricSpec",
    "MetricSummary",
    "Outcome",
    "Record",
    "Scope",
    "Score",
    "ScoreType",
    "SkipRecord",
    "Step",
    "TaskCheck",
    "ToolCall",
    "Trajectory",
    "Usage",
    "__version__",
    "aevaluate",
    "evaluate",
    "evaluator",
    "feedback",
    "flush",
    "log",
    "output",
    "rewards",
    "schema",
    "text_of",
    "tracing",
]


def test_the_exported_names_are_the_promised_ones() -> None:
    assert sorted(evalsi.__all__) == PROMISED
    assert dir(evalsi) == evalsi.__all__


def test_every_exported_name_can_be_used() -> None:
    for name in PROMISED:
        assert getattr(evalsi, name) is not None


def test_importing_evalsi_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'click', 'rich', 'aiohttp', 'msgspec', 'asyncio'}"
    code = f"import sys, evalsi; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
