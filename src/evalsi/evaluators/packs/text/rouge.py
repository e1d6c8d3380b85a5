"""ROUGE: shared words, word pairs and common subsequences.

On Latin text it is the reference implementation's number (rouge-score 0.1.2, F-measure). That implementation's tokeniser
keeps only [a-z0-9], so text of any other script would be empty to it; such pairs are cut by the Unicode tokeniser
instead, and the score says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.porter_stemmer import stem
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.matching.sequence_likeness import lcs_length, lcs_places
from evalsi.evaluators.matching.word_tokens import UNICODE_WORDS, unicode_words
from evalsi.evaluators.packs.text.text_pairs import pair_reader

_NOT_IN_TOKEN = re.compile(r"[^a-z0-9]+")
_OTHER_LETTER = re.compile(
    r"(?![\u0041-\u024f\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\uff21-\uff5a])[^\W\d_]|[^\D0-9]"
)
"""A letter that is not Latin, or a digit that is not 0 to 9."""
_NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
_UNICODE_METADATA = {"tokenizer": UNICODE_WORDS}

Tokenizer: TypeAlias = Callable[[str], list[str]]


class RougeParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How texts are cut into words."""

    tokenizer: Literal["auto", "rouge-score", "unicode"] = "auto"
    """"auto": the reference implementation's [a-z0-9] for pairs of Latin text, Unicode words for all others."""
    stemmer: bool = False
    """Compare stems of English words longer than three letters (Porter)."""


@evaluator(
    name="rouge",
    version="1.0.0",
    requires=["output", "reference"],
    params=RougeParams,
    outputs=[
        output("rouge1", low=0, high=1, description="F-measure of words."),
        output("rouge2", low=0, high=1, description="F-measure of word pairs."),
        output("rougeL", low=0, high=1, description="F-measure of the longest common subsequence."),
        output("rougeLsum", low=0, high=1, description="The same, line by line, for summaries of one sentence a line."),
    ],
    example={
        "record": {"output": "the small cat sat on a warm mat", "reference": "the small cat sat on the warm mat"},
        "expected": {"rouge1": 0.875, "rouge2": 5 / 7, "rougeL": 0.875, "rougeLsum": 0.875},
    },
)
class Rouge:
    """ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum as F-measures from 0 to 1.

    Equal to rouge-score 0.1.2 on Latin text; other scripts are cut into Unicode words (metadata "tokenizer"). Of several
    references the best counts, for each output. A text of one word has no word pair, so its ROUGE-2 is 0, as in the
    reference implementation. Source: Lin (2004), "ROUGE".
    """

    def __init__(self, params: RougeParams) -> None:
        self._pair = pair_reader(params)
        self._tokenizer = params.tokenizer
        self._latin: Tokenizer = _stemmed(_latin_words) if params.stemmer else _latin_words
        self._unicode: Tokenizer = _stemmed(unicode_words) if params.stemmer else unicode_words

    def evaluate(self, record: Record) -> dict[str, float | Score]:
        answer, references = self._pair(record)
        is_unicode = self._tokenizer == "unicode" or (
            self._tokenizer == "auto"
            and any(not text.isascii() and _OTHER_LETTER.search(text) for text in (answer, *references))
        )
        words = self._unicode if is_unicode else self._latin
        scores = [rouge(answer, reference, words) for reference in references]
        best = scores[0] if len(scores) == 1 else [max(column) for column in zip(*scores, strict=True)]
        if not is_unicode:
            return dict(zip(_NAMES, best, strict=True))
        return {
            name: Score(name=name, number=value, metadata=_UNICODE_METADATA)
            for name, value in zip(_NAMES, best, strict=True)
        }


def rouge(answer: str, reference: str, words: Tokenizer) -> Sequence[float]:
    """(ROUGE-1, ROUGE-2, ROUGE-L, ROUGE-Lsum), F-measures from 0 to 1."""
    given, wanted = words(answer), words(reference)
    if not given or not wanted:
        return (0.0, 0.0, 0.0, 0.0)
    longest = _f_measure(lcs_length(given, wanted), len(given), len(wanted))
    by_line = _lsum(answer, reference, words) if "\n" in answer or "\n" in reference else longest
    return (
        _overlap(given, wanted),
        _overlap(list(pairwise(given)), list(pairwise(wanted))),
        longest,
        by_line,
    )


def _overlap(given: Sequence[object], wanted: Sequence[object]) -> float:
    given_kinds, wanted_kinds = set(given), set(wanted)
    if len(given_kinds) == len(given) or len(wanted_kinds) == len(wanted):
        shared = len(given_kinds & wanted_kinds)
    else:
        shared = (Counter(given) & Counter(wanted)).total()
    return _f_measure(shared, len(given), len(wanted))


def _f_measure(shared: int, given: int, wanted: int) -> float:
    if not shared:
        return 0.0
    precision, recall = shared / given, shared / wanted
    return 2 * precision * recall / (precision + recall)


def _lsum(answer: str, reference: str, words: Tokenizer) -> float:
    """Union of the longest common subsequences of each reference line with all answer lines (Lin 2004, section 3.2)."""
    given = [words(line) for line in answer.split("\n") if line]
    wanted = [words(line) for line in reference.split("\n") if line]
    left_given = Counter(word for line in given for word in line)
    left_wanted = Counter(word for line in wanted for word in line)
    others = [(other, set(other)) for other in dict.fromkeys(map(tuple, given))]
    shared = 0
    for line in wanted:
        places: set[int] = set()
        for other, kinds in others:
            if not kinds.isdisjoint(line):
                places.update(lcs_places(line, other))
        for place in sorted(places):
            word = line[place]
            if left_given[word] > 0 and left_wanted[word] > 0:
                shared += 1
                left_given[word] -= 1
                left_wanted[word] -= 1
    return _f_measure(shared, sum(map(len, given)), sum(map(len, wanted)))


def _latin_words(text: str) -> list[str]:
    return _NOT_IN_TOKEN.sub(" ", text.lower()).split()


def _stemmed(words: Tokenizer) -> Tokenizer:
    return lambda text: [stem(word) if len(word) > 3 else word for word in words(text)]
