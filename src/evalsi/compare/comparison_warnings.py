"""What a reader of a comparison should know before believing it: what is left out, and what else differs between the runs."""

from collections.abc import Sequence

import msgspec

from evalsi.compare.paired_metric import ComparePlan, PairedMetric
from evalsi.compare.run_values import RunValues
from evalsi.datasets.row_ids import is_made
from evalsi.results.graded_run import GradedRun
from evalsi.schema import RunStatus


class _Asked(msgspec.Struct, gc=False):
    """What a record asks, as it is written."""

    id: str = ""
    input: msgspec.Raw = msgspec.Raw()
    reference: msgspec.Raw = msgspec.Raw()


_ASKED = msgspec.json.Decoder(_Asked)
_ASKED_OF_ALL = msgspec.json.Decoder(list[_Asked])


def warnings_about(
    baseline: GradedRun, candidate: GradedRun, before: RunValues, after: RunValues, shared: int
) -> list[str]:
    """What differs between two runs besides the answers; `shared` counts the observations that both hold."""
    return [
        *_of_ends(baseline, candidate),
        *_of_records(before, after, shared),
        *_of_contents(baseline, candidate),
        *_of_measuring(baseline, candidate),
        *_of_metrics(before, after),
    ]


def adjusted_away(metrics: Sequence[PairedMetric], plan: ComparePlan) -> list[str]:
    """Why a verdict is open beside an interval that excludes 0: the interval is the metric's own, the test is one of many."""
    names = [
        metric.metric
        for metric in metrics
        if metric.verdict == "INCONCLUSIVE"
        and metric.interval is not None
        and (metric.interval.low > 0 or metric.interval.high < 0)
        and metric.p_value is not None
        and metric.p_value <= 1 - plan.level
    ]
    if not names:
        return []
    return [
        f"{', '.join(names)}: the interval excludes 0, and the verdict is INCONCLUSIVE all the same, since it goes by p, which "
        f"is adjusted for {len(metrics)} metrics; name the metric that matters before looking, with --metric or metrics="
    ]


def _of_ends(baseline: GradedRun, candidate: GradedRun) -> list[str]:
    """Which of the runs is a part of what it was to be."""
    return [
        f"the {side} did not finish{why}: only what it graded is compared"
        for side, run in (("baseline", baseline), ("candidate", candidate))
        if run.manifest.status in (RunStatus.RUNNING, RunStatus.CANCELLED, RunStatus.ERROR)
        for why in (f", since {run.manifest.stopped_early}" if run.manifest.stopped_early else "",)
    ]


def _of_contents(baseline: GradedRun, candidate: GradedRun) -> list[str]:
    """Whether records of one id ask something else, or want another answer. Looked at where the datasets are not the same."""
    digests = [run.manifest.dataset.sha256 if run.manifest.dataset is not None else "" for run in (baseline, candidate)]
    if digests[0] == digests[1]:
        return []
    before, after = _contents(baseline), _contents(candidate)
    shared = before.keys() & after.keys()
    changed = sorted(identifier for identifier in shared if before[identifier] != after[identifier])
    if not changed:
        return []
    return [
        f"the datasets are not the same: {len(changed):,} of {len(shared):,} shared records have another input or reference "
        f"(such as {changed[0]!r}), so part of a difference may be theirs"
    ]


def _contents(run: GradedRun) -> dict[str, int]:
    """By id, a digest of what a record asks and what is wanted."""
    return {
        record.id: hash((bytes(record.input), bytes(record.reference)))
        for rows in run.read_rows()
        for record in rows.decoded_at_once(_ASKED_OF_ALL, _ASKED)
    }


def _of_records(before: RunValues, after: RunValues, shared: int) -> list[str]:
    found: list[str] = []
    if not shared:
        empty = [side for side, values in (("baseline", before), ("candidate", after)) if not values.count]
        why = f"the {' and the '.join(empty)} has no records" if empty else "the runs share no record id"
        found.append(f"{why}, so there is nothing to compare")
    elif shared < max(before.count, after.count):
        found.append(_left_out(before, after, shared))
    if shared < min(before.count, after.count) and any(map(is_made, {*before.ids} ^ {*after.ids})):
        found.append(
            "their records have no ids of their own, so they are matched by what was asked; map a column of ids: --map id=COLUMN"
        )
    return found


def _left_out(before: RunValues, after: RunValues, shared: int) -> str:
    """What is in one run only: records, or further trials of records that both have."""
    only_before, only_after = before.count - shared, after.count - shared
    if not (before.has_trials or after.has_trials):
        return (
            f"{only_before} records are only in the baseline and {only_after} only in the candidate; they are left out"
        )
    apart = set(before.ids) ^ set(after.ids)
    alone = sum(each in apart for each in (*before.ids, *after.ids))
    whose = ", of records that both have"
    if alone:
        whose = f" ({alone} of these trials {'is' if alone == 1 else 'are'} of records that one run alone has)"
    return f"{only_before} trials are only in the baseline and {only_after} only in the candidate{whose}; they are left out"


def _of_measuring(baseline: GradedRun, candidate: GradedRun) -> list[str]:
    found: list[str] = []
    old = {evaluator.name: evaluator for evaluator in baseline.manifest.evaluators}
    for evaluator in candidate.manifest.evaluators:
        other = old.get(evaluator.name)
        if other is None or other.manifest is None or evaluator.manifest is None:
            continue
        if other.manifest.version != evaluator.manifest.version:
            found.append(
                f"{evaluator.name} ran as version {other.manifest.version} in the baseline and "
                f"{evaluator.manifest.version} in the candidate"
            )
        elif other.params != evaluator.params:
            found.append(f"{evaluator.name} ran with different params")
        elif other.code_sha256 and evaluator.code_sha256 and other.code_sha256 != evaluator.code_sha256:
            found.append(f"the code of {evaluator.name} is not the same: its file changed between the runs")
    judges_before = {judge.settings_sha256 for judge in baseline.manifest.judges}
    judges_after = {judge.settings_sha256 for judge in candidate.manifest.judges}
    if judges_before != judges_after and judges_before and judges_after:
        found.append("the runs were judged by different judges or judge settings")
    return found


def _of_metrics(before: RunValues, after: RunValues) -> list[str]:
    only = sorted(set(before.metrics) ^ set(after.metrics))
    return [f"only in one of the runs: {', '.join(only)}"] if only else []
