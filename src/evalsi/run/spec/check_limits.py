"""The checks of the rest of a spec: trials, budget, summary, slices, sinks, baseline."""

from collections.abc import Collection

from evalsi.core.errors import InvalidSpecError
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.run.gates.baseline import baseline_reference
from evalsi.schema import RunSpec

__all__ = ["MAX_TRIALS", "check_limits"]

MAX_TRIALS = 10_000
_FILES = ("json", "html", "markdown", "junit", "csv")


def check_limits(tree: PlacedTree, spec: RunSpec, wrong: Collection[str]) -> None:
    """Notes numbers that make no sense and words that cannot be read."""
    part = Part(tree, "spec", wrong)
    if part.gives("trials") and not 1 <= spec.trials <= MAX_TRIALS:
        bound = "at least 1" if spec.trials < 1 else f"at most {MAX_TRIALS}"
        part.say("trials", f"must be {bound}, not {spec.trials}")
    if spec.budget is not None:
        here = part.below("budget")
        here.at_least("max_target_tokens", spec.budget.max_target_tokens, 1)
        here.at_least("max_judge_tokens", spec.budget.max_judge_tokens, 1)
        here.at_least("max_usd", spec.budget.max_usd, 0, beyond=True)
        here.at_least("max_wall_clock", spec.budget.max_wall_clock, 0, beyond=True)
    if spec.summary is not None:
        here = part.below("summary")
        here.fraction("confidence_level", spec.summary.confidence_level)
        here.at_least("resamples", spec.summary.resamples, 1)
    _check_sinks(part, spec)
    for index, path in enumerate(spec.slices):
        if not path.removeprefix("metadata.") or path == "metadata":
            part.below("slices").below(index).say("", "must be a path such as metadata.topic")
    if spec.baseline:
        check_baseline(part, "baseline", spec.baseline)


def check_baseline(part: Part, name: str, text: str) -> None:
    """Notes a baseline that cannot be read. Whether there is such a run is seen when it is opened."""
    try:
        baseline_reference(text)
    except InvalidSpecError as error:
        part.tree.add(part.at(name), f"{part.at(name)}: {error.message}", hint=error.hint)


def _check_sinks(part: Part, spec: RunSpec) -> None:
    paths: dict[str, int] = {}
    names: set[str] = set()
    for index, sink in enumerate(spec.sinks):
        here = part.below("sinks").below(index)
        path = next((value for name in _FILES if (value := getattr(sink, name)) is not None), None)
        if sink.name is not None:
            if not sink.name:
                here.say("", "names no sink")
            elif sink.name in names:
                here.say("", f"is {sink.name!r} once more")
            names.add(sink.name)
        if path is None:
            continue
        if not path:
            here.say("", "names no file")
        elif path in paths:
            here.say("", f"writes {path!r}, as spec.sinks[{paths[path]}] does")
        paths.setdefault(path, index)
