"""Token F1: the words an answer shares with its reference."""

from collections.abc import Callable, Sequence

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import (
    EMPTY_REFERENCE,
    NO_FINAL_ANSWER,
    AnswerParams,
    answer_reader,
    reference_texts,
)
from evalsi.evaluators.matching.text_normalization import collapse
from evalsi.evaluators.matching.word_tokens import has_squad_tokens, separate, squad_tokens


class TokenF1Params(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How words are compared."""

    squad_normalize: bool = True
    """Lower-case, without punctuation and the articles a, an, the, as SQuAD's script; else words as they are written."""
    allow_empty_reference: bool = False
    """Compare with an empty reference too (questions without an answer, as in SQuAD 2.0): 1 if the answer is empty."""


@evaluator(
    name="token-f1",
    version="1.0.0",
    requires=["output", "reference"],
    params=TokenF1Params,
    outputs=[output("token-f1", low=0, high=1, description="Harmonic mean of token precision and recall.")],
    bounded=True,
    example={"record": {"output": "The lamp, a red one.", "reference": "lamp red"}, "expected": {"token-f1": 0.8}},
)
class TokenF1:
    """2PR / (P + R), with precision P and recall R of the tokens that answer and reference share, as multisets.

    Of several references the best counts. Scripts without blanks between words are compared by character. An empty
    reference is SKIPPED. Source: Rajpurkar et al. (2016), "SQuAD".
    """

    def __init__(self, params: TokenF1Params) -> None:
        self._read = answer_reader(params.reasoning_tags)
        self._tokens: Callable[[str], list[str]] = squad_tokens if params.squad_normalize else _written_words
        self._has_tokens: Callable[[str], bool] = has_squad_tokens if params.squad_normalize else _has_words
        self._allow_empty = params.allow_empty_reference
        self._no_answer = Score(name="token-f1", number=0.0, explanation=NO_FINAL_ANSWER)

    def evaluate(self, record: Record) -> float | Score:
        answer = self._read(record)
        reference = record.reference
        expected = reference.text if reference is not None else None
        if expected is None:
            return self._best(answer, reference_texts(record, allow_empty=self._allow_empty))
        if answer == expected and (self._allow_empty or self._has_tokens(expected)):
            return 1.0  # without cutting up what is the same
        wanted = self._tokens(expected)
        if not wanted and not self._allow_empty:
            raise SkipRecord(EMPTY_REFERENCE)
        return token_f1(self._tokens(answer), wanted) if answer is not None else self._no_answer

    def _best(self, answer: str | None, references: Sequence[str]) -> float | Score:
        wanted = [self._tokens(text) for text in references]
        if not self._allow_empty and not any(wanted):
            raise SkipRecord(EMPTY_REFERENCE)
        if answer is None:
            return self._no_answer
        given = self._tokens(answer)
        return max(token_f1(given, tokens) for tokens in wanted)


def token_f1(given: list[str], wanted: list[str]) -> float:
    """F1 of two token lists as multisets; 1 if both are empty, 0 if one is."""
    if not given or not wanted:
        return 1.0 if given == wanted else 0.0
    given_kinds, wanted_kinds = set(given), set(wanted)
    if len(given_kinds) == len(given) or len(wanted_kinds) == len(wanted):
        shared = len(given_kinds & wanted_kinds)  # no token of one side repeats, so none can match twice
    else:
        shared = _shared(given, wanted)
    return 2 * shared / (len(given) + len(wanted))


def _shared(given: list[str], wanted: list[str]) -> int:
    """Size of the intersection of two multisets. A plain loop: on sentences, `Counter` takes three times as long."""
    left: dict[str, int] = {}
    for token in wanted:
        left[token] = left.get(token, 0) + 1
    shared = 0
    for token in given:
        count = left.get(token, 0)
        if count:
            left[token] = count - 1
            shared += 1
    return shared


def _written_words(text: str) -> list[str]:
    return separate(collapse(text)).split()


def _has_words(text: str) -> bool:
    return bool(collapse(text))
