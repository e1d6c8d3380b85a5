"""Regex match: the answer matches a pattern, and no pattern can hang a run."""

from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.pattern import compile_pattern
from evalsi.evaluators.matching.record_text import answer_reader
from evalsi.evaluators.packs.core.verdicts import CheckParams, missed


class RegexMatchParams(CheckParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pattern and how it is applied."""

    pattern: str
    """A regular expression in Python's syntax."""
    full_match: bool = False
    """The whole answer must match, not a part of it."""
    ignore_case: bool = False
    """Letters match in either case."""
    multiline: bool = False
    """`^` and `$` also match at line ends."""


@evaluator(
    name="regex-match",
    version="1.0.0",
    requires=["output"],
    params=RegexMatchParams,
    outputs=[output("regex-match", "passed", description="The answer matches the pattern.")],
    bounded=True,
    example={
        "record": {"output": "Order 1234 is on its way."},
        "params": {"pattern": r"Order \d+"},
        "expected": {"regex-match": True},
    },
)
class RegexMatch:
    r"""Whether the answer matches a regular expression.

    RE2 runs the pattern in linear time; a pattern with lookaround, backreferences or `\b` is run by Python in a process
    that the engine kills at the deadline. A pattern that cannot be compiled is refused before the run.
    """

    def __init__(self, params: RegexMatchParams) -> None:
        if not params.pattern:
            raise ValueError("an empty `pattern` matches every answer; give one")
        self._read = answer_reader(params.reasoning_tags)
        self._pattern = compile_pattern(
            params.pattern,
            ignore_case=params.ignore_case,
            multiline=params.multiline,
            full_match=params.full_match,
        )
        self.bounded = self._pattern.is_linear
        self._negate = params.negate
        self._no_answer = missed("regex-match")

    def evaluate(self, record: Record) -> bool | Score:
        answer = self._read(record)
        if answer is None:
            return self._no_answer
        return self._pattern.found_in(answer.removeprefix("\ufeff")) is not self._negate
