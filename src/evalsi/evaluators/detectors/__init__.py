"""Personal data and secrets in text, with the places where they stand: `find` them, then report or `redact` them.

Evaluators use it to judge outputs, and traces are redacted with it before they are stored, so its promises are those of
both: offsets count code points and end exclusively, findings never overlap, and the time taken is linear in the text.
"""

from evalsi.evaluators.detectors.finding import EVERY_KIND, PERSONAL_DATA, Finding, Kind, mask
from evalsi.evaluators.detectors.scan import find, redact

__all__ = ["EVERY_KIND", "PERSONAL_DATA", "Finding", "Kind", "find", "mask", "redact"]
