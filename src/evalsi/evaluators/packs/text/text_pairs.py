"""The texts a text metric compares: the answer and its references, in Unicode normal form NFC.

Its own module because metrics must be fed the same texts to be comparable. A blank reference is kept here and gives the
lowest score: these measures define it, and so does sacrebleu.
"""

from collections.abc import Callable
from typing import TypeAlias

from evalsi.evaluators.api import Record
from evalsi.evaluators.matching.record_text import AnswerParams, answer_reader, reference_texts
from evalsi.evaluators.matching.text_normalization import compose

Pair: TypeAlias = "tuple[str, list[str]]"
PairReader: TypeAlias = Callable[[Record], Pair]


def pair_reader(params: AnswerParams) -> PairReader:
    """A function from a record to (answer, references). An answer that was never given is the empty text.

    The function raises SkipRecord where there is no reference at all.
    """
    read = answer_reader(params.reasoning_tags)

    def pair(record: Record) -> Pair:
        references = [compose(text) for text in reference_texts(record, allow_empty=True)]
        answer = read(record)
        return ("" if answer is None else compose(answer)), [text for text in references if text.strip()] or [""]

    return pair
