"""Halves of surrogate pairs, which JSON can write as escapes and UTF-8 cannot hold: they become their escapes.

Its own module because data, answers and judges' replies come from the same kinds of programs, and a text that holds one can
be stored nowhere.
"""

import json
import re
from typing import Any

SURROGATE = re.compile("[\ud800-\udfff]")


def without_surrogates(value: Any) -> tuple[Any, bool]:
    """`value`, of JSON's types, with lone surrogates replaced by their escapes, and whether there were any."""
    plain = json.dumps(value, ensure_ascii=False)
    if not SURROGATE.search(plain):
        return value, False
    # In the JSON text a surrogate stands only inside strings; there, an escaped backslash spells out its escape.
    return json.loads(SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", plain)), True
