"""BLEU, of a sentence and of a corpus, as sacrebleu computes it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from evalsi.evaluators.api import EvalContext, Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.packs.text.corpus_scores import CorpusState, corpus_score, corpus_signature, map_statistics
from evalsi.evaluators.packs.text.text_pairs import pair_reader


class BleuParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are cut and how long the n-grams get."""

    max_n: Annotated[int, msgspec.Meta(ge=1, le=12)] = 4
    """Longest n-gram, in tokens."""
    tokenize: Literal["13a", "intl", "zh", "char", "none"] = "13a"
    """sacrebleu's tokeniser: "13a" suits languages with blanks between words, "zh" Chinese, "char" any other."""
    lowercase: bool = False
    """Ignore case."""


@evaluator(
    name="bleu",
    version="1.0.0",
    requires=["output", "reference"],
    params=BleuParams,
    outputs=[output("bleu", low=0, high=1, description="Sentence BLEU.")],
    bounded=True,
    example={
        "record": {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
        "expected": {"bleu": 0.594604},
    },
)
class Bleu:
    """Sentence BLEU from 0 to 1: sacrebleu's with exponential smoothing and effective order, divided by 100.

    Source: Papineni et al. (2002); Post (2018). For a corpus use corpus-bleu: the mean of sentence scores is not BLEU.
    """

    def __init__(self, params: BleuParams) -> None:
        from sacrebleu.metrics.bleu import BLEU

        self._pair = pair_reader(params)
        self._metric: Any = BLEU(
            max_ngram_order=params.max_n, tokenize=params.tokenize, lowercase=params.lowercase, effective_order=True
        )

    def evaluate(self, record: Record) -> float:
        answer, references = self._pair(record)
        return min(self._metric.sentence_score(answer, references).score / 100.0, 1.0)

    def signature(self) -> str:
        """Sacrebleu's signature of the settings; the number of references is known after a record."""
        return str(self._metric.get_signature())


@evaluator(
    name="corpus-bleu",
    version="1.0.0",
    scope="dataset",
    bounded=True,
    requires=["output", "reference"],
    params=BleuParams,
    outputs=[output("corpus-bleu", low=0, high=1, description="BLEU of all records together.")],
    example={
        "records": [
            {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
            {"output": "the lamp is on the table", "reference": "the lamp is on the desk"},
        ],
        "expected": {"corpus-bleu": 0.662688},
    },
)
class CorpusBleu:
    """BLEU from 0 to 1 of all records together: n-gram counts are summed over records, then scored, as sacrebleu does.

    Metadata holds the brevity penalty, precisions, lengths, sacrebleu's signature and a bootstrap interval that
    resamples records and recomputes the score. Records may have different numbers of references.
    """

    def __init__(self, params: BleuParams, context: EvalContext) -> None:
        from sacrebleu.metrics.bleu import BLEU

        self._pair = pair_reader(params)
        self._context = context
        self._metric: Any = BLEU(max_ngram_order=params.max_n, tokenize=params.tokenize, lowercase=params.lowercase)

    def map(self, records: Sequence[Record]) -> CorpusState:
        return map_statistics(records, self._pair, self._metric)

    def merge(self, left: CorpusState, right: CorpusState) -> CorpusState:
        return left.merge(right)

    def reduce(self, state: CorpusState) -> Score:
        totals = state.rows().sum(axis=0).tolist()
        result = self._result(totals)
        return corpus_score(
            "corpus-bleu",
            state,
            lambda counts: min(self._result(counts).score / 100.0, 1.0),
            self._context,
            {
                "brevity_penalty": result.bp,
                "precisions": [value / 100.0 for value in result.precisions],
                "output_tokens": result.sys_len,
                "reference_tokens": result.ref_len,
                "signature": corpus_signature(self._metric, state),
            },
        )

    def _result(self, counts: Sequence[int]) -> Any:
        return self._metric._compute_score_from_stats(list(counts))
