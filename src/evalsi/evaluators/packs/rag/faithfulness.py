"""`faithfulness`: does what the output states follow from the passages it was given?

Source of the ratio: Es et al. (2024), RAGAs: Automated Evaluation of Retrieval Augmented Generation, section 3.
"""

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.packs.rag.claim_check import ClaimCheck, ClaimCheckParams


@evaluator(
    name="faithfulness",
    version="1.0.0",
    requires=["output", "context", "judge"],
    params=ClaimCheckParams,
    outputs=[
        output("faithfulness", low=0, high=1, description="Share of the output's claims that the passages support.")
    ],
    example={
        "record": {
            "input": "When is the library open?",
            "output": "It opens at 9 and closes at 20. Entry is free.",
            "context": ["The library is open from 9 to 18 on weekdays. Entry is free for all."],
        },
        "judge_reply": '{"claims": [{"claim": "The library opens at 9.", "supported": true}, '
        '{"claim": "The library closes at 20.", "supported": false}, '
        '{"claim": "Entry to the library is free.", "supported": true}]}',
        "expected": {"faithfulness": 2 / 3},
    },
)
class Faithfulness:
    """Share of the output's claims that the passages support, claim by claim as a judge finds them.

    The explanation lists the claims that are not supported. An output without claims (a greeting, a question, nothing) is
    skipped: there is nothing to check, which is neither faithful nor unfaithful.
    """

    def __init__(self, params: ClaimCheckParams, context: EvalContext) -> None:
        self._check = ClaimCheck("faithfulness", "output", params, context)
        self.prompt_digests = self._check.prompt_digests

    async def evaluate(self, record: Record) -> Score:
        return await self._check.score(record)
