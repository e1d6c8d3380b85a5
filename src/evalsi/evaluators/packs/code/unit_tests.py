"""`unit-tests`: a Python program passes its tests, which it never sees."""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, answer_reader
from evalsi.evaluators.programs.program_text import program_text
from evalsi.evaluators.programs.python_tests import run_python_tests
from evalsi.evaluators.programs.running_params import ProgramParams, runner_of
from evalsi.evaluators.programs.test_material import python_tests_of


@evaluator(
    name="unit-tests",
    version="1.0.0",
    requires=["output", "sandbox"],
    params=ProgramParams,
    outputs=[output("unit-tests", "passed", description="Every test passed.")],
    example={
        "record": {
            "output": "```python\ndef add(a, b):\n    return a + b\n```",
            "metadata": {"test_list": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]},
        },
        "expected": {"unit-tests": True},
    },
)
class UnitTests:
    """Whether the program in the answer passes the record's tests: Python assertions, pytest functions, unittest classes.

    Tests are `metadata.test_list`, `metadata.test` or the reference. They run in a sandbox without the program, and the
    program in others, a fresh process per test; only plain values cross between them, so no verdict and no expected value
    is within its reach. The program's own timeout, crash or memory is a failure; a sandbox's is an ERROR.
    """

    def __init__(self, params: ProgramParams, context: EvalContext) -> None:
        self._runner = runner_of(params, context)
        self._read = answer_reader(params.reasoning_tags)

    async def evaluate(self, record: Record) -> Score:
        tests = python_tests_of(record)
        answer = self._read(record)
        if answer is None:
            return Score(name="unit-tests", passed=False, explanation=NO_FINAL_ANSWER)
        source = program_text(answer)
        if not source.strip():
            return Score(name="unit-tests", passed=False, explanation="there is no program")
        report = await run_python_tests(source, tests, self._runner)
        return Score(
            name="unit-tests",
            passed=report.passed == report.total,
            explanation=f"{report.passed} of {report.total} tests passed"
            + (f"; {report.first_failure}" if report.first_failure else ""),
            metadata={"passed": report.passed, "total": report.total},
        )
