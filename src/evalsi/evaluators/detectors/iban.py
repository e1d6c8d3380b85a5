"""International bank account numbers: a registered country, its length and structure, and right check digits."""

import re
from collections.abc import Iterator

from evalsi.evaluators.detectors.finding import Finding

NEEDED = r"[A-Za-z]{2}[ -]?[0-9][ -]?[0-9]"
"""What a text must hold, as an RE2 expression, for a closer look to make sense."""

# What follows the country and the two check digits: digits (n), capitals (a), capitals or digits (c).
# Source: SWIFT IBAN Registry, structure column.
_STRUCTURES = {
    "AD": "8n12c", "AE": "19n", "AL": "8n16c", "AT": "16n", "AZ": "4a20c", "BA": "16n", "BE": "12n", "BG": "4a6n8c",
    "BH": "4a14c", "BI": "23n", "BR": "23n1a1c", "BY": "4c4n16c", "CH": "5n12c", "CR": "18n", "CY": "8n16c",
    "CZ": "20n", "DE": "18n", "DJ": "23n", "DK": "14n", "DO": "4c20n", "EE": "16n", "EG": "25n", "ES": "20n",
    "FI": "14n", "FK": "2a12n", "FO": "14n", "FR": "10n11c2n", "GB": "4a14n", "GE": "2a16n", "GI": "4a15c",
    "GL": "14n", "GR": "7n16c", "GT": "4c20c", "HN": "4a20n", "HR": "17n", "HU": "24n", "IE": "4a14n", "IL": "19n",
    "IQ": "4a15n", "IS": "22n", "IT": "1a10n12c", "JO": "4a4n18c", "KW": "4a22c", "KZ": "3n13c", "LB": "4n20c",
    "LC": "4a24c", "LI": "5n12c", "LT": "16n", "LU": "3n13c", "LV": "4a13c", "LY": "21n", "MC": "10n11c2n",
    "MD": "2c18c", "ME": "18n", "MK": "3n10c2n", "MN": "16n", "MR": "23n", "MT": "4a5n18c", "MU": "4a19n3a",
    "NI": "4a20n", "NL": "4a10n", "NO": "11n", "OM": "3n16c", "PK": "4a16c", "PL": "24n", "PS": "4a21c", "PT": "21n",
    "QA": "4a21c", "RO": "4a16c", "RS": "18n", "RU": "14n15c", "SA": "2n18c", "SC": "4a20n3a", "SD": "14n",
    "SE": "20n", "SI": "15n", "SK": "20n", "SM": "1a10n12c", "SO": "19n", "ST": "21n", "SV": "4a20n", "TL": "19n",
    "TN": "20n", "TR": "6n16c", "UA": "6n19c", "VA": "18n", "VG": "4a16n", "XK": "16n", "YE": "4a4n18c",
}  # fmt: skip

_CLASSES = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[0-9A-Za-z]"}
_START = re.compile(r"(?<![0-9A-Za-z_])([A-Za-z]{2})[ -]?[0-9][ -]?[0-9]")


def _body_pattern(structure: str) -> re.Pattern[str]:
    parts = re.findall(r"(\d+)([nac])", structure)
    return re.compile("".join(rf"(?:[ -]?{_CLASSES[kind]}){{{length}}}" for length, kind in parts) + "(?![0-9A-Za-z_])")


_BODIES = {country: _body_pattern(structure) for country, structure in _STRUCTURES.items()}


def detect_ibans(text: str) -> Iterator[Finding]:
    """Valid IBANs in `text`, whether written together or in groups."""
    free_from = 0
    for match in _START.finditer(text):
        pattern = _BODIES.get(match[1].upper())
        if pattern is None or match.start() < free_from:
            continue
        body = pattern.match(text, match.end())
        if body and has_valid_check_digits(text[match.start() : body.end()]):
            free_from = body.end()
            yield Finding(
                type="IBAN",
                start=match.start(),
                end=free_from,
                text=text[match.start() : free_from],
                detail=match[1].upper(),
            )


def has_valid_check_digits(written: str) -> bool:
    """The check of ISO 13616: rearranged and read as a number (A = 10), the remainder by 97 is 1."""
    compact = written.replace(" ", "").replace("-", "")
    return int("".join(str(int(character, 36)) for character in compact[4:] + compact[:4])) % 97 == 1
