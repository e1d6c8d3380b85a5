"""`python-syntax`: the program in the answer is Python that compiles."""

import warnings

from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import NO_FINAL_ANSWER, AnswerParams, answer_reader
from evalsi.evaluators.programs.program_text import program_text


@evaluator(
    name="python-syntax",
    version="1.0.0",
    requires=["output"],
    params=AnswerParams,
    outputs=[output("python-syntax", "passed", description="The program is Python that compiles.")],
    example={
        "record": {"output": "```python\ndef add(a, b):\n    return a + b\n```"},
        "expected": {"python-syntax": True},
    },
)
class PythonSyntax:
    """Whether the program in the answer, its last fenced block or all of it, can be compiled by this Python.

    Nothing of it is run. An empty program is a miss.
    """

    def __init__(self, params: AnswerParams) -> None:
        self._read = answer_reader(params.reasoning_tags)

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return Score(name="python-syntax", passed=False, explanation=NO_FINAL_ANSWER)
        source = program_text(answer)
        if not source.strip():
            return Score(name="python-syntax", passed=False, explanation="there is no program")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(source, "program.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
            why = error.msg if isinstance(error, SyntaxError) else str(error)
            return Score(name="python-syntax", passed=False, explanation=f"{why}{line}")
        return True
