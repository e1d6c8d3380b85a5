"""Names, places and what else Presidio's analyzer finds, as one more detector: what only a language model of spaCy can tell.

Its own module because it needs the extra `presidio`, gigabytes where our own detectors need nothing, and loads for seconds.
What always holds: it is loaded once in a process for the same options; it asks nothing of the network, though its libraries
would (spaCy's models, lists of domains); a text takes no longer than the time it is given and one window, and what was not
looked at by then counts as found. Any thread may use it.
"""

import threading
import time
from collections import OrderedDict
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from typing import Any, NamedTuple

import msgspec

from evalsi.core.errors import InvalidSpecError, MissingExtraError, UnknownNameError

PRESIDIO = "presidio"
"""Name of the detector."""
UNSEEN = "NOT CHECKED"
"""Type of what there was no time for."""
_WINDOW = 2_000
_OVERLAP = 200
"""Characters that two windows share, so that what stands on the bound is whole in one of them."""
_MOST_REMEMBERED = 512
_LONGEST_REMEMBERED = 20_000


class PresidioOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for, and how."""

    entities: tuple[str, ...] = ("PERSON", "LOCATION")
    """Presidio's names of what is looked for; none: everything that it knows in the language."""
    language: str = "en"
    model: str | None = "en_core_web_lg"
    """Package of the spaCy model; None for what needs none: patterns and checksums, no names or places."""
    min_score: float = 0.5
    """Presidio's confidence, from 0 to 1, below which a find is left alone."""
    deadline_s: float = 2.0
    """Seconds for one text."""


class PresidioFind(NamedTuple):
    """Offsets count code points; the end is exclusive."""

    type: str
    start: int
    end: int


@lru_cache(maxsize=8)
def presidio_detector(options: PresidioOptions) -> "PresidioDetector":
    """The detector, loaded.

    Raises:
        MissingExtraError: Presidio is not installed.
        InvalidSpecError: the model is not installed, or speaks another language.
        UnknownNameError: there is no such entity.
    """
    check_installed(options)
    return PresidioDetector(options)


def check_installed(options: PresidioOptions) -> None:
    """Looks for what the options need, and loads nothing.

    Raises:
        MissingExtraError: Presidio is not installed.
        InvalidSpecError: the model is not installed.
    """
    if find_spec("presidio_analyzer") is None or find_spec("spacy") is None:
        raise MissingExtraError("the detector presidio", "presidio")
    if options.model is None:
        return
    try:
        distribution(options.model)
    except (PackageNotFoundError, ValueError):
        raise InvalidSpecError(
            f"the detector presidio needs spaCy's model {options.model!r}, which is not installed",
            where="presidio.model",
            hint=f"install it with: python -m spacy download {options.model}; or write model: null for patterns alone",
        ) from None


class PresidioDetector:
    def __init__(self, options: PresidioOptions) -> None:
        self._options = options
        self._analyzer = _analyzer(options)
        known = sorted(self._analyzer.get_supported_entities(options.language))
        for place, entity in enumerate(options.entities):
            if entity not in known:
                raise UnknownNameError("entity", entity, known, where=f"presidio.entities[{place}]")
        self._lock = threading.Lock()
        self._remembered: OrderedDict[str, list[PresidioFind]] = OrderedDict()
        """Of short texts: a conversation is sent again with each of its turns."""

    def find(self, text: str) -> list[PresidioFind]:
        """What is found, in order of place; finds may overlap."""
        with self._lock:
            known = self._remembered.get(text)
            if known is not None:
                self._remembered.move_to_end(text)
                return known
            found = self._search(text)
            if len(text) <= _LONGEST_REMEMBERED and not any(each.type == UNSEEN for each in found):
                self._remembered[text] = found
                if len(self._remembered) > _MOST_REMEMBERED:
                    self._remembered.popitem(last=False)
            return found

    def _search(self, text: str) -> list[PresidioFind]:
        until = time.monotonic() + self._options.deadline_s
        found: set[PresidioFind] = set()
        begin = 0
        while begin < len(text):
            if time.monotonic() >= until:
                found.add(PresidioFind(UNSEEN, begin, len(text)))
                break
            window = text[begin : begin + _WINDOW]
            for result in self._analyzer.analyze(
                window,
                language=self._options.language,
                entities=list(self._options.entities) or None,
                score_threshold=self._options.min_score,
            ):
                found.add(PresidioFind(result.entity_type, begin + result.start, begin + result.end))
            begin += len(window) if begin + len(window) >= len(text) else _WINDOW - _OVERLAP
        return sorted(found, key=lambda each: (each.start, -each.end, each.type))


def _analyzer(options: PresidioOptions) -> Any:
    """Presidio's analyzer over a model that is here already: Presidio itself would download one."""
    presidio: Any = import_module("presidio_analyzer")
    engines: Any = import_module("presidio_analyzer.nlp_engine")
    _keep_off_the_network()
    model = {"lang_code": options.language, "model_name": options.model or "blank"}
    engine: Any = engines.SpacyNlpEngine(models=[model])
    engine.nlp = {options.language: _model(options)}
    registry: Any = presidio.RecognizerRegistry(supported_languages=[options.language])
    registry.load_predefined_recognizers(languages=[options.language], nlp_engine=engine)
    if options.model is None:
        registry.remove_recognizer("SpacyRecognizer")  # it finds nothing without a model, and would not say so
    return presidio.AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[options.language])


def _model(options: PresidioOptions) -> Any:
    spacy: Any = import_module("spacy")
    if options.model is None:
        try:
            return spacy.blank(options.language)
        except ImportError:
            raise InvalidSpecError(
                f"spaCy does not know the language {options.language!r}", where="presidio.language"
            ) from None
    try:
        nlp: Any = spacy.load(options.model, disable=["parser"])
    except (OSError, ValueError, ImportError) as error:
        message = f"spaCy's model {options.model!r} cannot be loaded: {str(error).splitlines()[0]}"
        raise InvalidSpecError(message, where="presidio.model") from None
    if nlp.lang != options.language:
        raise InvalidSpecError(
            f"spaCy's model {options.model!r} speaks {nlp.lang!r}, not {options.language!r}", where="presidio.language"
        )
    return nlp


def _keep_off_the_network() -> None:
    """Has domains checked against the list that comes with the library, which would else fetch a newer one."""
    domains: Any = import_module("tldextract.tldextract")
    domains.TLD_EXTRACTOR = domains.TLDExtract(suffix_list_urls=(), cache_dir=None)
