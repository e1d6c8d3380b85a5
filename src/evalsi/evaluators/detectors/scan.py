"""The one scan over a text: every detector, overlaps resolved, and redaction of what was found."""

from collections.abc import Callable, Iterable, Iterator

from evalsi.evaluators.detectors.card import detect_cards
from evalsi.evaluators.detectors.email import detect_emails
from evalsi.evaluators.detectors.finding import EVERY_KIND, Finding, Kind
from evalsi.evaluators.detectors.folding import fold
from evalsi.evaluators.detectors.iban import detect_ibans
from evalsi.evaluators.detectors.ip_address import detect_ip_addresses
from evalsi.evaluators.detectors.phone import detect_phones
from evalsi.evaluators.detectors.secret import detect_secrets
from evalsi.evaluators.detectors.ssn import detect_ssns

# The order decides between equally long findings: what carries a check first.
_DETECTORS: dict[Kind, Callable[[str], Iterator[Finding]]] = {
    "SECRET": detect_secrets,
    "IBAN": detect_ibans,
    "CARD": detect_cards,
    "EMAIL": detect_emails,
    "IP": detect_ip_addresses,
    "SSN": detect_ssns,
    "PHONE": detect_phones,
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
    candidates = [finding for detect in _DETECTORS.values() for finding in detect(folded)]
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


def _without_overlap(candidates: list[Finding], length: int) -> list[Finding]:
    """The longest first, each that touches none chosen before. Time: one sort, and each character marked once."""
    taken = bytearray(length)
    chosen: list[Finding] = []
    for finding in sorted(candidates, key=lambda finding: (finding.start - finding.end, _RANK[finding.type])):
        if taken.find(1, finding.start, finding.end) < 0:
            taken[finding.start : finding.end] = b"\x01" * (finding.end - finding.start)
            chosen.append(finding)
    return sorted(chosen, key=lambda finding: finding.start)
