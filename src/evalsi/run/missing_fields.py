"""Whether some record of a dataset has what the evaluators and the target of a run need, seen before anybody is asked.

Its own module because a column that was not mapped is found on every row or on none: such a run would pay for each
answer and then skip all of them. A field that some records have and others lack is no mistake; those rows are skipped.
"""

from collections.abc import Mapping, Sequence

from evalsi.core.errors import InvalidSpecError
from evalsi.core.inert import printable
from evalsi.datasets import Dataset
from evalsi.engine.requirements import unmet
from evalsi.evaluators.binding import BoundEvaluator
from evalsi.schema import Target as TargetSpec

_MOST_COLUMNS = 12
_OTHER_NAMES = {
    "input": ("question", "prompt", "query", "instruction", "problem", "text"),
    "reference": ("expected", "expected_output", "ground_truth", "gold", "target", "label", "solution", "answer"),
    "context": ("contexts", "passages", "documents", "retrieved"),
}
"""What no target gives, and what such a column is usually called, the likeliest first."""


def needed_fields(evaluators: Sequence[BoundEvaluator], target: TargetSpec | None) -> dict[str, str]:
    """What the dataset must give, and who needs it first. The target's templates say whether it needs an input."""
    needed: dict[str, str] = {}
    if target is not None and _asks_by_input(target):
        needed["input"] = "the target"
    for evaluator in evaluators:
        for name in _OTHER_NAMES:
            if name in evaluator.needs:
                needed.setdefault(name, evaluator.name)
    return needed


def refuse_missing_fields(dataset: Dataset, needed: Mapping[str, str], *, is_chosen: bool, where: str) -> None:
    """Looks for the first record with each field; reads all of them only where a field is nowhere.

    Args:
        needed: By field, who needs it.
        is_chosen: Whether the records are some of the rows: a column that is there may then be empty in these.
        where: The place of the dataset in the specification.

    Raises: InvalidSpecError: no record has one of them.
    """
    if not needed:
        return
    facts = dataset.scan()
    missing = [name for name in needed if not (is_chosen and name in facts.columns)]
    columns: dict[str, None] = {}
    for record in dataset.records():
        missing = [name for name in missing if unmet(frozenset((name,)), (record,))]
        if not missing:
            return
        if len(columns) <= _MOST_COLUMNS:
            columns.update(dict.fromkeys(record.metadata))
    if facts.records:
        raise _refusal(missing, needed, list(columns), facts.records, where)


def _refusal(
    missing: Sequence[str], needed: Mapping[str, str], columns: list[str], records: int, where: str
) -> InvalidSpecError:
    who = " and ".join(dict.fromkeys(needed[name] for name in missing))
    nowhere = " and ".join(missing)
    what = f"none of the {records:,} records has" if records > 1 else "the only record has no"
    sentence = f"{what} {nowhere if records == 1 else _with_article(nowhere)}, which {who} must have"
    if not columns:
        hint = "give the rows such a column, or leave out what needs it"
    else:
        shown = ", ".join(columns[:_MOST_COLUMNS]) + (", …" if len(columns) > _MOST_COLUMNS else "")
        mapping = ", ".join(f"{name}: {_nearest(name, columns)}" for name in missing)
        hint = f"other columns are {shown}; write mapping: {{{mapping}}} under spec.dataset, or leave out what needs it"
    return InvalidSpecError(printable(sentence, one_line=True), where=where, hint=printable(hint, one_line=True))


def _with_article(names: str) -> str:
    return f"an {names}" if names[0] in "aeiou" else f"a {names}"


def _nearest(field: str, columns: Sequence[str]) -> str:
    """The column that is likeliest meant; "COLUMN" where none looks like it."""
    plain = {column.casefold().replace("-", "_"): column for column in reversed(columns)}
    exact = next((plain[name] for name in (field, *_OTHER_NAMES[field]) if name in plain), None)
    return exact or next((column for column in columns if field in column.casefold()), "COLUMN")


def _asks_by_input(target: TargetSpec) -> bool:
    """Whether a question is made of the input, as far as the specification says it. Code and programs may do without."""
    agent = target.agent
    if agent is not None and agent.http is not None:
        body = agent.http.body_template
        if not body and (agent.http.method or "POST").upper() != "GET":
            return True
        return _names_input(body) or _names_input(agent.http.url)
    if target.connector not in ("openai-compatible", "anthropic") and (agent is None or agent.responses is None):
        return False
    templates = [target.prompt] if target.prompt else [message.content for message in target.messages]
    return not templates or any(_names_input(template) for template in templates)


def _names_input(template: str) -> bool:
    return any(piece.partition("}}")[0].strip() == "input" for piece in template.split("{{")[1:])
