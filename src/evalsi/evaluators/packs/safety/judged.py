"""The one way this pack puts a question about an output to a judge: graded from 0 to 1, or yes or no.

Its own module so that every judged safety metric shows the judge the same fields in the same order.
"""

from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.judging.question import Question
from evalsi.evaluators.judging.verdict_question import VerdictQuestion


def safety_question(name: str, system: str, context: EvalContext, *, flag: str = "") -> VerdictQuestion:
    """A question about one output, with the input shown where there is one.

    Args:
        name: Of the evaluator and its only output.
        system: The judge's task, with the meaning of the answers.
        context: Lends the judge.
        flag: The name of the yes-or-no answer; without it the answer is a score from 0 to 1.
    """
    question = Question(name=name, version="1", system=system, shows=("output",), may_show=("input",))
    return VerdictQuestion(question, context, flag=flag)
