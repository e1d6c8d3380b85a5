"""METEOR: aligned words, weighted towards recall, with a penalty for broken order."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec

from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.porter_stemmer import stem
from evalsi.evaluators.matching.record_text import AnswerParams
from evalsi.evaluators.matching.word_tokens import unicode_words
from evalsi.evaluators.packs.text.text_pairs import pair_reader

_BEAM = 40
"""Partial alignments kept at each word, the beam of METEOR 1.5."""

Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]


class MeteorParams(AnswerParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weights of the formula."""

    alpha: Fraction = 0.9
    """Weight of recall against precision."""
    beta: Annotated[float, msgspec.Meta(ge=0)] = 3.0
    """Exponent of the share of chunks in the penalty."""
    gamma: Fraction = 0.5
    """Greatest penalty."""
    stems: bool = True
    """English words with the same Porter stem match too."""


class Alignment(NamedTuple):
    """How many words are matched, and in how many runs that are contiguous and in order on both sides."""

    matches: int
    chunks: int


@evaluator(
    name="meteor",
    version="1.0.0",
    requires=["output", "reference"],
    params=MeteorParams,
    outputs=[output("meteor", low=0, high=1, description="METEOR with exact and stem matches.")],
    example={
        "record": {"output": "the cats sat on the mat", "reference": "the cat sat on the mat"},
        "expected": {"meteor": 1 - 0.5 / 216},
    },
)
class Meteor:
    """(1 - gamma * (chunks / matches)^beta) * PR / (alpha * P + (1 - alpha) * R), the best over the references.

    P and R are the matched share of the answer's and of the reference's words. The variant: METEOR with its exact and
    stem modules and the weights of Lavie & Agarwal (2007), no synonyms or paraphrases (they need downloads), words of
    any script, and, of the alignments with the most matches, one with the fewest chunks (beam search). Even identical
    texts score a little less than 1, because one chunk is penalised. Source: Banerjee & Lavie (2005).
    """

    def __init__(self, params: MeteorParams) -> None:
        self._pair = pair_reader(params)
        self._params = params

    def evaluate(self, record: Record) -> float | Score:
        answer, references = self._pair(record)
        given = self._words(answer)
        return max(meteor(given, self._words(reference), self._params) for reference in references)

    def _words(self, text: str) -> list[str]:
        words = unicode_words(text)
        return [stem(word) for word in words] if self._params.stems else words


def meteor(given: Sequence[str], wanted: Sequence[str], params: MeteorParams) -> float:
    """METEOR of two lists of words, in which equal entries match."""
    if not given or not wanted:
        return 0.0
    found = align(given, wanted)
    if not found.matches:
        return 0.0
    precision, recall = found.matches / len(given), found.matches / len(wanted)
    mean = precision * recall / (params.alpha * precision + (1 - params.alpha) * recall)
    penalty = params.gamma * (found.chunks / found.matches) ** params.beta
    return (1 - penalty) * mean


def align(given: Sequence[str], wanted: Sequence[str]) -> Alignment:
    """An alignment of equal words with the most matches and, as far as a beam search sees, the fewest chunks."""
    places: dict[str, list[int]] = {}
    for index, word in enumerate(wanted):
        places.setdefault(word, []).append(index)
    left: dict[str, int] = {}
    for word in given:
        if word in places:
            left[word] = left.get(word, 0) + 1
    # A state is (chunks, place of the last match or -2, bits of the places taken). A word may be passed over only while
    # enough of its kind are left to fill all its places, so every state ends with the most matches.
    states: dict[tuple[int, int], int] = {(-2, 0): 0}
    matches = 0
    for word in given:
        slots = places.get(word)
        if slots is None:
            states = _kept(
                {(-2, taken): chunks for (_, taken), chunks in sorted(states.items(), key=_by_chunks, reverse=True)}
            )
            continue
        following: dict[tuple[int, int], int] = {}
        for (last, taken), chunks in states.items():
            free = [slot for slot in slots if not taken >> slot & 1]
            for slot in free:
                _offer(following, (slot, taken | 1 << slot), chunks + (slot != last + 1))
            if left[word] > len(free):
                _offer(following, (-2, taken), chunks)
        left[word] -= 1
        states = _kept(following)
    best = min(states.items(), key=_by_chunks)
    matches = best[0][1].bit_count()
    return Alignment(matches, best[1])


def _offer(states: dict[tuple[int, int], int], state: tuple[int, int], chunks: int) -> None:
    if chunks < states.get(state, chunks + 1):
        states[state] = chunks


def _kept(states: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    if len(states) <= _BEAM:
        return states
    return dict(sorted(states.items(), key=_by_chunks)[:_BEAM])


def _by_chunks(item: tuple[tuple[int, int], int]) -> int:
    return item[1]
