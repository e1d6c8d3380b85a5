"""Whether the answer contains, begins or ends with a text.

An empty needle is in every text, so it is refused when it comes from the params and SKIPPED when it comes from a record.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec

from evalsi.core.errors import SkipRecord
from evalsi.evaluators.api import Record, Score, evaluator, output
from evalsi.evaluators.matching.record_text import EMPTY_REFERENCE, answer_reader, reference_texts
from evalsi.evaluators.matching.text_normalization import Normalization, normalizer
from evalsi.evaluators.packs.core.verdicts import CheckParams, missed


class NeedleParams(CheckParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to look for, and how."""

    ignore_case: bool = True
    """Case-folded comparison."""
    normalize: bool = True
    """Unify Unicode forms, blanks and invisible characters first."""


class ContainsParams(NeedleParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    substring: str | None = None
    """The text to look for; by default the record's reference."""


class ContainsListParams(NeedleParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    substrings: Annotated[list[str], msgspec.Meta(min_length=1)]
    """The texts to look for."""


class PrefixParams(NeedleParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    prefix: str | None = None
    """What the answer must start with; by default the record's reference."""


class SuffixParams(NeedleParams, frozen=True, kw_only=True, forbid_unknown_fields=True):
    suffix: str | None = None
    """What the answer must end with; by default the record's reference."""


class _NeedleCheck:
    """A check of the answer against one needle, given or taken from the reference."""

    def __init__(self, name: str, params: NeedleParams, needle: str | None, holds: Callable[[str, str], bool]) -> None:
        self.read = answer_reader(params.reasoning_tags)
        self.form = normalizer(Normalization(normalize=params.normalize, ignore_case=params.ignore_case))
        self.needle = None if needle is None else _checked(self.form(needle))
        self.needs = frozenset[str]() if needle is not None else frozenset(("reference",))
        self.holds = holds
        self.negate = params.negate
        self.no_answer = missed(name)

    def evaluate(self, record: Record) -> bool | Score:
        answer = self.read(record)
        if answer is None:
            return self.no_answer
        if self.needle is not None:
            return self.holds(self.form(answer), self.needle) is not self.negate
        reference = record.reference
        text = reference.text if reference is not None else None
        if text is not None:  # the common case, without a list
            needle = self.form(text)
            if not needle:
                raise SkipRecord(EMPTY_REFERENCE)
            haystack = needle if answer == text else self.form(answer)
            return self.holds(haystack, needle) is not self.negate
        needles = [needle for text in reference_texts(record) if (needle := self.form(text))]
        if not needles:
            raise SkipRecord(EMPTY_REFERENCE)
        haystack = self.form(answer)
        return any(self.holds(haystack, needle) for needle in needles) is not self.negate


@evaluator(
    name="contains",
    version="1.0.0",
    requires=["output"],
    params=ContainsParams,
    outputs=[output("contains", "passed", description="The answer contains the text.")],
    bounded=True,
    example={
        "record": {"output": "The red lamp."},
        "params": {"substring": "Red  lamp"},
        "expected": {"contains": True},
    },
)
class Contains(_NeedleCheck):
    """Whether the answer contains `substring`, or the reference (or one of several) where no substring is given."""

    def __init__(self, params: ContainsParams) -> None:
        super().__init__("contains", params, params.substring, str.__contains__)


@evaluator(
    name="starts-with",
    version="1.0.0",
    requires=["output"],
    params=PrefixParams,
    outputs=[output("starts-with", "passed", description="The answer starts with the text.")],
    bounded=True,
    example={
        "record": {"output": "\ufeffYes, it is."},
        "params": {"prefix": "Yes"},
        "expected": {"starts-with": True},
    },
)
class StartsWith(_NeedleCheck):
    """Whether the answer starts with `prefix`, or the reference where none is given."""

    def __init__(self, params: PrefixParams) -> None:
        super().__init__("starts-with", params, params.prefix, str.startswith)


@evaluator(
    name="ends-with",
    version="1.0.0",
    requires=["output"],
    params=SuffixParams,
    outputs=[output("ends-with", "passed", description="The answer ends with the text.")],
    bounded=True,
    example={
        "record": {"output": "Is that all?\n"},
        "params": {"suffix": "?"},
        "expected": {"ends-with": True},
    },
)
class EndsWith(_NeedleCheck):
    """Whether the answer ends with `suffix`, or the reference where none is given."""

    def __init__(self, params: SuffixParams) -> None:
        super().__init__("ends-with", params, params.suffix, str.endswith)


class _ListCheck:
    """A check of the answer against a list of needles."""

    def __init__(self, name: str, params: ContainsListParams) -> None:
        self.read = answer_reader(params.reasoning_tags)
        self.form = normalizer(Normalization(normalize=params.normalize, ignore_case=params.ignore_case))
        self.needles = [_checked(self.form(needle)) for needle in params.substrings]
        self.negate = params.negate
        self.no_answer = missed(name)


@evaluator(
    name="contains-any",
    version="1.0.0",
    requires=["output"],
    params=ContainsListParams,
    outputs=[output("contains-any", "passed", description="The answer contains at least one of the texts.")],
    bounded=True,
    example={
        "record": {"output": "red lamp"},
        "params": {"substrings": ["blue", "lamp"]},
        "expected": {"contains-any": True},
    },
)
class ContainsAny(_ListCheck):
    """Whether the answer contains at least one of `substrings`."""

    def __init__(self, params: ContainsListParams) -> None:
        super().__init__("contains-any", params)

    def evaluate(self, record: Record) -> bool | Score:
        answer = self.read(record)
        if answer is None:
            return self.no_answer
        haystack = self.form(answer)
        return any(needle in haystack for needle in self.needles) is not self.negate


@evaluator(
    name="contains-all",
    version="1.0.0",
    requires=["output"],
    params=ContainsListParams,
    outputs=[output("contains-all", "passed", description="The answer contains every one of the texts.")],
    bounded=True,
    example={
        "record": {"output": "red lamp"},
        "params": {"substrings": ["blue", "lamp"]},
        "expected": {"contains-all": False},
    },
)
class ContainsAll(_ListCheck):
    """Whether the answer contains every one of `substrings`; a miss names the first that is not there."""

    def __init__(self, params: ContainsListParams) -> None:
        super().__init__("contains-all", params)
        self._misses = [missed("contains-all", f"does not contain {needle[:80]!r}") for needle in self.needles]

    def evaluate(self, record: Record) -> bool | Score:
        answer = self.read(record)
        if answer is None:
            return self.no_answer
        haystack = self.form(answer)
        for needle, miss in zip(self.needles, self._misses, strict=True):
            if needle not in haystack:
                return True if self.negate else miss
        return not self.negate


def _checked(needle: str) -> str:
    if not needle:
        raise ValueError("an empty text is contained in every answer; give one with characters to look for")
    return needle
