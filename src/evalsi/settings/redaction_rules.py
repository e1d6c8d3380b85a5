"""The operator's words on what is taken out of traces, as rules. Its own module because reading the file and serving need it."""

from evalsi.core.errors import UnknownNameError
from evalsi.evaluators.detectors.presidio import PRESIDIO, PresidioOptions
from evalsi.settings.server import PresidioSettings, RedactionSettings
from evalsi.watch.redaction import DETECTORS, redactor_of
from evalsi.watch.redaction_rules import RedactionRules


def redaction_rules(settings: RedactionSettings) -> RedactionRules:
    """The rules, ready to be used; none where they are disabled.

    Raises:
        UnknownNameError, InvalidSpecError: a detector that is none, a pattern that cannot be run, a model that is missing.
        MissingExtraError: Presidio is asked for and not installed.
    """
    known = [*DETECTORS, PRESIDIO]
    for place, name in enumerate(settings.pii):
        if name not in known:
            raise UnknownNameError("detector", name, known, where=f"pii[{place}]")
    rules = RedactionRules(
        keys=tuple(settings.keys),
        patterns=tuple(settings.patterns),
        detectors=tuple(name for name in settings.pii if name != PRESIDIO),
        drop_attributes=tuple(settings.drop_attributes),
        keep_attributes=tuple(settings.keep_attributes),
        presidio=presidio_options(settings.presidio) if PRESIDIO in settings.pii and not settings.disabled else None,
    )
    redactor_of(rules)
    return RedactionRules() if settings.disabled else rules


def presidio_options(settings: PresidioSettings) -> PresidioOptions:
    """How Presidio looks, before anything is stored and in views of policies."""
    return PresidioOptions(
        entities=tuple(settings.entities),
        language=settings.language,
        model=settings.model,
        min_score=settings.min_score,
        deadline_s=settings.deadline,
    )
