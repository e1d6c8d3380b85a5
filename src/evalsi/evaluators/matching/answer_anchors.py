r"""Where a text declares its answer: after "the answer is", "Antwort:", "答案是", "####", or inside `\boxed{}`.

Its own module because numbers and letters are declared with the same words. A declaration beats whatever else the text
mentions, and the last one that says something beats the earlier ones.
"""

import re
from collections.abc import Iterable, Iterator

_ASCII_WORDS = (
    "answer", "result", "solution", "correct", "antwort", "ergebnis", "respuesta", "resultado", "resposta", "risposta",
    "antwoord", "svar", "cevap", "jawaban", "vastaus", "best option", "best choice", "right option", "right choice",
)  # fmt: skip
_WORDS = (
    "answers?|results?|solution|antwort|ergebnis|lösung|réponse|respuesta|resultado|solución|resposta|risposta|antwoord"
    "|svar|ответ|відповідь|odpowiedź|odpověď|válasz|răspuns|cevap|yanıt|jawaban|vastaus|απάντηση|đáp án|उत्तर|الجواب|الإجابة"
    "|(?:correct|right|best) (?:option|choice|letter)"
)
_VERBS = r"(?:is|was|are|be|equals|lautet|ist|es|est|er|är|is het|это|-|—|–)"
_ANCHOR = re.compile(
    rf"(?<![^\W_])(?:{_WORDS})(?![^\W_])"
    rf"(?P<between>[^.!?\n:：=]{{0,80}}?)(?:\s{{0,8}}[:：=→]{{1,4}}|\s{{1,8}}{_VERBS}(?=[\s*_:(\[\"'$\\])(?:\s{{0,8}}[:：=]{{1,4}})?)"
    r"|(?:答案|正解|答え|回答|정답)(?P<cjk>[^。！？\n:：=]{0,20}?)(?:\s{0,8}[:：=]{1,4}|应该是|應該是|是|为|為|は|은|는)"
    r"|\#{4}(?=\s)|<answer>",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|cannot|nicht|no|pas|isn['’]t|can['’]t|couldn['’]t|wasn['’]t)\b", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LOOK_AHEAD = 400
"""Characters of a box that are read at most."""
_BOXES = 8
"""Boxes that are looked at, from the end."""


def declarations(text: str) -> Iterator[int]:
    """Where declared answers begin, the last one first."""
    found: Iterable[re.Match[str] | None]
    if text.isascii():  # most text declares nothing or in English: look for the words first, they are quick to find
        lowered = text.lower()
        places = [place for word in _ASCII_WORDS if word in lowered for place in _places(lowered, word)]
        if "####" in text:
            places += _places(text, "####")
        if "<answer>" in lowered:
            places += _places(lowered, "<answer>")
        if not places:
            return
        found = (_ANCHOR.match(text, place) for place in sorted(places, reverse=True))
    else:
        found = reversed(list(_ANCHOR.finditer(text)))
    for anchor in found:
        if anchor is not None and _NEGATION.search(anchor["between"] or anchor["cjk"] or "") is None:
            yield anchor.end()


def _places(text: str, word: str) -> list[int]:
    places: list[int] = []
    place = text.find(word)
    while place >= 0:
        places.append(place)
        place = text.find(word, place + 1)
    return places


def boxed(text: str) -> str | None:
    r"""What stands in the last `\boxed{...}` that is closed; None where there is none."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    for found in list(_BOX.finditer(text))[: -_BOXES - 1 : -1]:
        depth = 1
        for index in range(found.end(), min(len(text), found.end() + _LOOK_AHEAD)):
            if text[index] == "{":
                depth += 1
            elif text[index] == "}":
                depth -= 1
                if not depth:
                    return text[found.end() : index].strip()
    return None
