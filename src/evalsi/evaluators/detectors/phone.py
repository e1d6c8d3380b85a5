"""Telephone numbers: international form by country code and length, national forms by their usual grouping.

A national number that could as well be a date, an order or an amount counts only after a word such as "call" or "tel".
"""

import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding
from evalsi.evaluators.detectors.surroundings import lower, occurrences, words_before

NEEDED = r"[0-9](?:[ ().\-/]{0,3}[0-9]){6}"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

# Country codes with the shortest and longest national number. Source: ITU-T E.164 (assigned codes) and the national
# numbering plans; codes without an entry of their own take 6 to 12 digits.
_LENGTHS = {
    "1": (10, 10), "7": (10, 10), "20": (8, 10), "27": (9, 9), "30": (10, 10), "31": (9, 9), "32": (8, 9),
    "33": (9, 9), "34": (9, 9), "36": (8, 9), "39": (6, 12), "40": (9, 9), "41": (9, 9), "43": (7, 13), "44": (9, 10),
    "45": (8, 8), "46": (7, 10), "47": (8, 8), "48": (9, 9), "49": (6, 12), "51": (8, 9), "52": (10, 11),
    "54": (10, 11), "55": (10, 11), "56": (9, 9), "57": (10, 10), "60": (8, 10), "61": (9, 9), "62": (8, 12),
    "63": (9, 10), "64": (8, 10), "65": (8, 8), "66": (8, 9), "81": (9, 10), "82": (8, 10), "84": (9, 10),
    "86": (10, 11), "90": (10, 10), "91": (10, 10), "92": (9, 10), "98": (10, 10), "212": (9, 9), "213": (8, 9),
    "216": (8, 8), "234": (8, 10), "254": (9, 9), "351": (9, 9), "352": (6, 11), "353": (8, 10), "354": (7, 9),
    "358": (6, 12), "359": (8, 9), "370": (8, 8), "371": (8, 8), "372": (7, 8), "375": (9, 9), "376": (6, 9),
    "380": (9, 9), "385": (8, 9), "386": (8, 8), "420": (9, 9), "421": (9, 9), "852": (8, 8), "886": (8, 9),
    "966": (8, 9), "971": (8, 9), "972": (8, 9),
}  # fmt: skip
_TWO_DIGIT_CODES = frozenset(
    "20 27 28 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 "
    "90 91 92 93 94 95 98".split()
)
_DEFAULT_LENGTHS = (6, 12)

_BEFORE = r"(?<![0-9A-Za-z_+/-])(?<![0-9][.,])"
_AFTER = r"(?![0-9A-Za-z_]|[.,/-][0-9])"

_INTERNATIONAL = re.compile(
    r"(?<![0-9A-Za-z_+])(?P<prefix>\+|00(?=[ 1-9]))[ ]?\(?(?P<digits>[1-9](?:[ ().\-/]{0,3}[0-9]){6,19})(?![0-9A-Za-z_])"
)
_NANP = r"(?:\+?1[ .-]?)?(?:\((?P<a>[2-9][0-9]{2})\)[ ]?|(?P<b>[2-9][0-9]{2})[.-])(?P<c>[2-9][0-9]{2})[ .-][0-9]{4}"
_NATIONAL = re.compile(
    _BEFORE
    + r"(?:"
    + _NANP
    + r"|0[1-9](?P<s>[ .-])[0-9]{2}(?:(?P=s)[0-9]{2}){3}"  # France
    + r"|\(?0[1-9]\)?[ -][0-9]{4}[ -][0-9]{4}"  # Australia, Italy, Japan
    + r"|\(?0[1-9][0-9]{1,4}\)?[ ]?[ /-][ ]?[0-9]{3,8}(?:[ -][0-9]{2,5}){0,3}"  # Britain, Germany, Korea and others
    + r"|8 ?\(?[3489][0-9]{2}\)? ?[0-9]{3}[ -][0-9]{2}[ -][0-9]{2}"  # Russia
    + r"|\([1-9][0-9]\) ?9?[0-9]{4}-[0-9]{4}"  # Brazil
    + r"|1[3-9][0-9][ -][0-9]{4}[ -][0-9]{4}"  # China
    + r"|[679][0-9]{2} [0-9]{2} [0-9]{2} [0-9]{2}|[89][0-9] [0-9]{3} [0-9]{2} [0-9]{2}"  # Spain
    + r")"
    + _AFTER
)

_CALLING_WORDS = (
    "tel phone phones call calling dial mobile cell cellphone fax whatsapp sms hotline helpline telephone smartphone "
    "telefon telefonnummer handy handynummer mobil mobilnummer rufen anrufen rufnummer durchwahl téléphone tél portable "
    "appelez appeler appelle teléfono móvil llame llama llamar llámame llámanos cellulare chiama chiami chiamare telefono "
    "telefone telemóvel celular ligue telefoon telefoonnummer bel zadzwoń komórka телефон тел звоните позвоните ara arayın "
    "电话 電話 手机 手機 携帯 전화 휴대폰 هاتف جوال फ़ोन फोन मोबाइल"
).split()
_CALLING_PHRASES = tuple(f"{verb} {whom}" for verb in ("ring", "text", "reach") for whom in ("me", "us", "him", "her"))
_AFTER_CALLING_WORD = re.compile(
    r"(?![A-Za-z\u00c0-\u024f\u0400-\u052f])[.:]?[^\w\n+(]{0,4}+"
    r"(?:(?:number|num|no|nr|nummer|numéro|número|numero|numer|номер|号码|番号|번호|is|was|ist|est|es|è|me|us|him|her|them|at"
    r"|on|to|the|my|our|back|under|unter|an|au|al|op|pod|по|은|는|は|是)(?![A-Za-z])[^\w\n+(]{0,4}+){0,4}+"
    r"(?P<number>\(?[0-9](?:[ ().\-/]{0,2}[0-9]){6,13})(?![0-9A-Za-z_]|[.,/-][0-9])",
    re.IGNORECASE,
)

_NUMBERED_THINGS = frozenset(
    "order orders invoice ticket case ref reference tracking parcel shipment account customer serial sku part item isbn "
    "issn doi version build id bestellung bestellnummer rechnung rechnungsnummer kundennummer commande facture pedido "
    "factura ordine fattura zamówienie заказ заказа 订单 注文".split()
)
_WORDS_BETWEEN = frozenset({"no", "nr", "number", "num", "id", "code", "is", "was", "#"})
_DATE = re.compile(
    r"(?:(?:19|20)[0-9]{2}[./-][0-9]{1,2}[./-][0-9]{1,2}|[0-9]{1,2}[./-][0-9]{1,2}[./-](?:19|20)[0-9]{2})(?![0-9])"
)
_AMOUNT = re.compile(r"[1-9][0-9]?(?:[ .][0-9]{3}){2}|[1-9]0?(?:[ .]000){2,3}")


def detect_phones(text: str) -> Iterator[Finding]:
    """Telephone numbers in `text`; the same number may be yielded in more than one form."""
    yield from _detect_international(text)
    yield from _detect_national(text)
    yield from _detect_after_calling_words(text)


def country_code_of(digits: str) -> str:
    """The country code that E.164 `digits` begin with."""
    if digits[0] in "17":
        return digits[0]
    return digits[:2] if digits[:2] in _TWO_DIGIT_CODES else digits[:3]


def _detect_international(text: str) -> Iterator[Finding]:
    for match in _INTERNATIONAL.finditer(text):
        if match["prefix"] == "00" and match["digits"].isdigit() and not _is_called(text, match.start()):
            continue
        end = _end_of_international(match["digits"])
        if end:
            start, end = match.start(), match.start("digits") + end
            yield Finding(type="PHONE", start=start, end=end, text=text[start:end], detail="international")


def _end_of_international(written: str) -> int:
    """Where the longest number ends that the country's plan allows, at the end of a group; 0 if there is none."""
    code = country_code_of("".join(character for character in written if character.isdigit())[:3])
    shortest, longest = _LENGTHS.get(code, _DEFAULT_LENGTHS)
    without_trunk = re.sub(r"\(0\)", "(.)", written)
    count, end, national = 0, 0, ""
    for index, character in enumerate(without_trunk):
        if not character.isdigit():
            continue
        count += 1
        if count > len(code):
            national += character
        if len(national) > longest:
            break
        ends_group = index + 1 == len(without_trunk) or not without_trunk[index + 1].isdigit()
        if ends_group and len(national) >= shortest and len(national) + len(code) >= 8:
            end = index + 1
    if code == "1" and national[:10] and not (_is_nanp_part(national[:3]) and national[3:4] not in ("0", "1")):
        return 0
    if national.startswith("0") and code not in ("39", "378", "225", "241", "242"):
        return 0
    return end


def _detect_national(text: str) -> Iterator[Finding]:
    for match in _NATIONAL.finditer(text):
        written = match[0]
        area = match["a"] or match["b"]
        if area and not (_is_nanp_part(area) and not match["c"].endswith("11")):
            continue
        if written.startswith(("0", "(0")) and not 9 <= sum(map(str.isdigit, written)) <= 12:
            continue
        if _DATE.search(written) or _is_numbered_thing(text, match.start()):
            continue
        yield Finding(type="PHONE", start=match.start(), end=match.end(), text=written, detail="national")


def _detect_after_calling_words(text: str) -> Iterator[Finding]:
    for at, word in occurrences(lower(text), (*_CALLING_WORDS, *_CALLING_PHRASES)):
        if at and text[at - 1].isalpha() and _is_spaced(text[at]):
            continue
        match = _AFTER_CALLING_WORD.match(text, at + len(word))
        if match is None:
            continue
        start, end = match.span("number")
        written = match["number"]
        if not (_DATE.match(written) or _AMOUNT.fullmatch(written)) and len(set(filter(str.isdigit, written))) > 1:
            yield Finding(type="PHONE", start=start, end=end, text=written, detail="named")


def _is_spaced(letter: str) -> bool:
    """Whether it belongs to a script that puts blanks between words (up to Arabic and Devanagari)."""
    return letter < "\u0e00"


def _is_numbered_thing(text: str, start: int) -> bool:
    """Whether the words before say that the number counts orders, invoices and the like."""
    words = words_before(text, start)
    while len(words) > 1 and words[0] in _WORDS_BETWEEN:
        del words[0]
    return bool(words) and words[0] in _NUMBERED_THINGS


def _is_called(text: str, start: int) -> bool:
    words = words_before(text, start, reach=24, count=1)
    return bool(words) and words[0] in _CALLING_WORDS


def _is_nanp_part(area: str) -> bool:
    """Whether `area` can be an area code: N11 are services, N9X is reserved. Source: NANPA."""
    return area[0] in "23456789" and area[1:] != "11" and area[1] != "9"
