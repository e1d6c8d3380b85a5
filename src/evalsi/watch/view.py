"""What a policy's evaluators and judges see of a record: what its view takes out is taken out before anybody looks.

Its own module because a view is the policy's word and how Presidio looks is the operator's: here they become rules.
"""

from collections.abc import Sequence

from evalsi.core.errors import UnknownNameError
from evalsi.evaluators.detectors.presidio import PRESIDIO, PresidioOptions, check_installed
from evalsi.schema import PolicyView, Record
from evalsi.watch.redaction import DETECTORS, redact_record, redactor_of
from evalsi.watch.redaction_rules import RedactionRules


def view_rules(view: PolicyView | None, presidio: PresidioOptions | None) -> RedactionRules:
    """What is taken out of what a policy sees.

    Args:
        presidio: How Presidio looks, where a policy names it; None where only the form of the policy matters: its names
            are not looked for on this machine then.

    Raises:
        InvalidSpecError, UnknownNameError: a pattern or detector cannot be used.
        MissingExtraError: Presidio is named and not installed.
    """
    if view is None:
        return RedactionRules()
    known = [*DETECTORS, PRESIDIO]
    for place, name in enumerate(view.detectors):
        if name not in known:
            raise UnknownNameError("detector", name, known, where=f"detectors[{place}]")
    rules = RedactionRules(
        patterns=tuple(view.patterns),
        detectors=tuple(name for name in view.detectors if name != PRESIDIO),
        drop_attributes=tuple(view.drop_attributes),
    )
    redactor_of(rules)
    if PRESIDIO not in view.detectors:
        return rules
    if presidio is not None:
        check_installed(presidio)
    return RedactionRules(
        patterns=rules.patterns,
        detectors=rules.detectors,
        drop_attributes=rules.drop_attributes,
        presidio=presidio or PresidioOptions(),
    )


def seen_through(rules: RedactionRules, records: Sequence[Record]) -> list[Record]:
    """The records as a view shows them; without rules, as they are. Where Presidio looks, this takes seconds.

    Raises: as `redactor_of`, the first time.
    """
    return [redact_record(record, rules) for record in records] if rules else list(records)
