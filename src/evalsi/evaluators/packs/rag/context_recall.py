"""`context-recall`: did retrieval find what the reference answer needs?

Source of the ratio: the documentation of Ragas, "Context Recall": claims of the reference that can be attributed to the
retrieved context, over claims of the reference.
"""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.rag.claim_check import ClaimCheck, ClaimCheckParams


@evaluator(
    name="context-recall",
    version="1.0.0",
    requires=["reference", "context", "judge"],
    params=ClaimCheckParams,
    outputs=[
        output(
            "context-recall", low=0, high=1, description="Share of the reference's claims that the passages support."
        )
    ],
    example={
        "record": {
            "input": "When is the library open?",
            "reference": "From 9 to 18 on weekdays, from 10 to 14 on Saturdays.",
            "context": ["The library is open from 9 to 18 on weekdays."],
        },
        "judge_reply": '{"claims": [{"claim": "The library is open from 9 to 18 on weekdays.", "supported": true}, '
        '{"claim": "The library is open from 10 to 14 on Saturdays.", "supported": false}]}',
        "expected": {"context-recall": 0.5},
    },
)
class ContextRecall:
    """Share of the reference answer's claims that the passages support: whether retrieval found what was needed.

    The explanation lists what is missing from the passages. A reference without claims is skipped. The output is not shown
    to the judge and plays no part.
    """

    def __init__(self, params: ClaimCheckParams, context: EvalContext) -> None:
        self._check = ClaimCheck("context-recall", "reference", params, context)
        self.prompt_digests = self._check.prompt_digests

    async def evaluate(self, record: Record) -> Score:
        return await self._check.score(record)
