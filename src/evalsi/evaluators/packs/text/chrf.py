"""chrF, of a sentence and of a corpus, as sacrebleu computes it; with `word_order` 2 it is chrF++."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.packs.text.corpus_scores import CorpusState, corpus_score, corpus_signature, map_statistics
from evalsi.evaluators.packs.text.text_pairs import pair_reader


class ChrfParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lengths of the n-grams and the weight of recall."""

    max_n: Annotated[int, msgspec.Meta(ge=1, le=20)] = 6
    """Longest n-gram, in characters."""
    beta: Annotated[int, msgspec.Meta(ge=1, le=10)] = 2
    """How many times as important recall is as precision."""
    word_order: Annotated[int, msgspec.Meta(ge=0, le=6)] = 0
    """Longest n-gram of words that counts too; 2 gives chrF++."""
    lowercase: bool = False
    """Ignore case."""
    whitespace: bool = False
    """Blanks are characters too."""


def _metric(params: ChrfParams) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(
        char_order=params.max_n,
        word_order=params.word_order,
        beta=params.beta,
        lowercase=params.lowercase,
        whitespace=params.whitespace,
    )


@evaluator(
    name="chrf",
    version="1.0.0",
    requires=["output", "reference"],
    params=ChrfParams,
    outputs=[output("chrf", low=0, high=1, description="Sentence chrF.")],
    bounded=True,
    example={
        "record": {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
        "expected": {"chrf": 0.77249},
    },
)
class Chrf:
    """Sentence chrF from 0 to 1: F-score of character n-grams, sacrebleu's, divided by 100.

    Source: Popović (2015), "chrF"; with `word_order` 2: Popović (2017), "chrF++".
    """

    def __init__(self, params: ChrfParams) -> None:
        self._pair = pair_reader(params)
        self._metric = _metric(params)

    def evaluate(self, record: Record) -> float:
        answer, references = self._pair(record)
        return min(self._metric.sentence_score(answer, references).score / 100.0, 1.0)

    def signature(self) -> str:
        """Sacrebleu's signature of the settings; the number of references is known after a record."""
        return str(self._metric.get_signature())


@evaluator(
    name="corpus-chrf",
    version="1.0.0",
    scope="dataset",
    bounded=True,
    requires=["output", "reference"],
    params=ChrfParams,
    outputs=[output("corpus-chrf", low=0, high=1, description="chrF of all records together.")],
    example={
        "records": [
            {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
            {"output": "the lamp is on the table", "reference": "the lamp is on the desk"},
        ],
        "expected": {"corpus-chrf": 0.758305},
    },
)
class CorpusChrf:
    """chrF from 0 to 1 of all records together: n-gram counts are summed over records, then scored, as sacrebleu does.

    Metadata holds sacrebleu's signature and a bootstrap interval that resamples records and recomputes the score.
    """

    def __init__(self, params: ChrfParams, context: EvalContext) -> None:
        self._pair = pair_reader(params)
        self._context = context
        self._metric = _metric(params)

    def map(self, records: Sequence[Record]) -> CorpusState:
        return map_statistics(records, self._pair, self._metric)

    def merge(self, left: CorpusState, right: CorpusState) -> CorpusState:
        return left.merge(right)

    def reduce(self, state: CorpusState) -> Score:
        return corpus_score(
            "corpus-chrf", state, self._score_of, self._context, {"signature": corpus_signature(self._metric, state)}
        )

    def _score_of(self, counts: Sequence[int]) -> float:
        return min(self._metric._compute_score_from_stats(list(counts)).score / 100.0, 1.0)
