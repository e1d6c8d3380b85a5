"""The one scan over a text: every detector, overlaps resolved, and redaction of what was found."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from evalsi.evaluators.detectors import card, email, iban, ip_address, phone, secret, ssn
from evalsi.evaluators.detectors.finding import EVERY_KIND, Finding, Kind
from evalsi.evaluators.detectors.folding import fold

# The order decides between equally long findings: what carries a check first.
_DETECTORS: dict[Kind, tuple[str, Callable[[str], Iterator[Finding]]]] = {
    "SECRET": (secret.NEEDED, secret.detect_secrets),
    "IBAN": (iban.NEEDED, iban.detect_ibans),
    "CARD": (card.NEEDED, card.detect_cards),
    "EMAIL": (email.NEEDED, email.detect_emails),
    "IP": (ip_address.NEEDED, ip_address.detect_ip_addresses),
    "SSN": (ssn.NEEDED, ssn.detect_ssns),
    "PHONE": (phone.NEEDED, phone.detect_phones),
}
_RANK = {kind: rank for rank, kind in enumerate(_DETECTORS)}


def find(text: str, kinds: Iterable[Kind] = EVERY_KIND) -> list[Finding]:
    """What is found of `kinds`, in order of place and without overlap.

    Where findings overlap, the longer one stays: a password in a connection string holds an address and a number, and
    is one secret. Every kind is looked for even when it is not asked for, so that asking for less never turns a part of
    a card number into a telephone number.

    Args:
        text: Any text. Offsets of the findings count its code points.
        kinds: Types to report.
    """
    folded = fold(text)
    candidates = [
        finding for needed, detect in _DETECTORS.values() if _holds(needed)(folded) for finding in detect(folded)
    ]
    if not candidates:
        return []
    wanted = frozenset(kinds)
    found = [finding for finding in _without_overlap(candidates, len(text)) if finding.type in wanted]
    if folded is text:
        return found
    return [
        Finding(
            type=finding.type,
            start=finding.start,
            end=finding.end,
            text=text[finding.start : finding.end],
            detail=finding.detail,
        )
        for finding in found
    ]


def redact(text: str, findings: Iterable[Finding]) -> str:
    """`text` with each finding replaced by its type in brackets, e.g. "[EMAIL]".

    Findings that overlap, as those of two scans may, are replaced together.

    Args:
        text: The text that the findings were found in.
        findings: In any order.
    """
    parts: list[str] = []
    done = 0
    for finding in sorted(findings, key=lambda finding: (finding.start, -finding.end)):
        if finding.start >= done:
            parts += [text[done : finding.start], f"[{finding.type}]"]
        done = max(done, finding.end)
    return "".join(parts) + text[done:]


@cache
def _holds(needed: str) -> Callable[[str], Any]:
    """A test for `needed` that takes microseconds on ordinary text, which holds none of it."""
    re2: Any = import_module("re2")  # it has no type stubs
    options: Any = re2.Options()
    options.never_capture = True
    return re2.compile(needed, options).search


def _without_overlap(candidates: list[Finding], length: int) -> list[Finding]:
    """The longest first, each that touches none chosen before. Time: one sort, and each character marked once."""
    taken = bytearray(length)
    chosen: list[Finding] = []
    for finding in sorted(candidates, key=lambda finding: (finding.start - finding.end, _RANK[finding.type])):
        if taken.find(1, finding.start, finding.end) < 0:
            taken[finding.start : finding.end] = b"\x01" * (finding.end - finding.start)
            chosen.append(finding)
    return sorted(chosen, key=lambda finding: finding.start)
