"""TER, the translation edit rate, as sacrebleu computes it."""

from typing import Any

from evalsi.evaluators.api import Record, evaluator, output
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.packs.text.text_pairs import pair_reader


class TerParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are cut into words."""

    normalized: bool = False
    """Separate punctuation from words first."""
    no_punctuation: bool = False
    """Leave out punctuation."""
    asian_support: bool = False
    """Treat each Chinese or Japanese character as a word (with `normalized`)."""
    case_sensitive: bool = False
    """Case is a difference."""


@evaluator(
    name="ter",
    version="1.0.0",
    requires=["output", "reference"],
    params=TerParams,
    outputs=[output("ter", low=0, higher_is_better=False, description="Edits per reference word; 0 is equal.")],
    example={
        "record": {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
        "expected": {"ter": 0.125},
    },
)
class Ter:
    """Insertions, deletions, substitutions and shifts per word of the reference: sacrebleu's TER divided by 100.

    0 means equal; more edits than words give more than 1. Source: Snover et al. (2006).
    """

    def __init__(self, params: TerParams) -> None:
        from sacrebleu.metrics.ter import TER

        self._pair = pair_reader(params)
        self._metric: Any = TER(
            normalized=params.normalized,
            no_punct=params.no_punctuation,
            asian_support=params.asian_support,
            case_sensitive=params.case_sensitive,
        )

    def evaluate(self, record: Record) -> float:
        answer, references = self._pair(record)
        return self._metric.sentence_score(answer, references).score / 100.0

    def signature(self) -> str:
        """Sacrebleu's signature of the settings; the number of references is known after a record."""
        return str(self._metric.get_signature())
