"""A run that was never finished is summed up from what it stored, by both doors, exactly as its end would have done."""

from dataclasses import replace
from typing import Any

import pytest

from evalsi.datasets import DatasetOptions
from evalsi.engine.summary import SummaryPlan
from evalsi.infra.memory_run_store import MemoryRunStore
from evalsi.ports.run_store import RunStore
from evalsi.results.graded_run import stored_run
from evalsi.results.rebuilt_summaries import StoredProgress, rebuilt_summaries
from evalsi.run.execute_run import execute_run_now
from evalsi.run.run_job import RunJob
from evalsi.schema import EvaluatorRef, MetricSummary, RunManifest
from evalsi.score.manifest import Circumstances, make_manifest
from evalsi.score.request import ScoreRequest
from evalsi.score.score_dataset import score_dataset_now
from evalsi.settings import Settings
from evalsi.wiring.scoring import scoring
from tests.run.test_execute_run import Parrot, job, rows


class Unfinished(MemoryRunStore):
    """A store whose writer dies before it can end the run."""

    def summaries(self, run_id: str) -> list[MetricSummary]:
        return []


def scored_rows(count: int) -> list[dict[str, Any]]:
    words = "the cat sat on a mat and looked at one more dog".split()
    return [
        {"id": f"r{n}", "output": " ".join(words[n % 5 : n % 5 + 4]), "reference": words[n % 7], "topic": n % 9}
        for n in range(count)
    ]


PLANS = {
    "plain": SummaryPlan(),
    "clustered": SummaryPlan(cluster_by="topic", level=0.9),
    "bootstrap": SummaryPlan(method="bootstrap", seed=7),
}


@pytest.mark.parametrize("plan", PLANS)
def test_the_score_door_is_summed_up_alike_with_and_without_its_evaluators(
    plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryRunStore()
    monkeypatch.setattr("evalsi.wiring.scoring.MemoryRunStore", lambda: store)
    request = ScoreRequest(
        data=scored_rows(2500),
        evaluators=[
            EvaluatorRef(ref="contains", name="holds"),
            EvaluatorRef(ref="rouge"),
            EvaluatorRef(ref="corpus-bleu"),
        ],
        plan=PLANS[plan],
    )
    with scoring(request, Settings(), keep=False) as ready:
        finished = score_dataset_now(ready).run
    rebuilt = rebuilt_of(store, finished.manifest)
    assert rebuilt == [each for each in finished.summaries if not each.metric.startswith("corpus-bleu")]
    assert len(rebuilt) > 2


@pytest.mark.parametrize("trials", [1, 3])
def test_the_run_door_is_summed_up_alike_trials_included(trials: int) -> None:
    store = MemoryRunStore()
    parrot = Parrot(failing={("r5", 0)})
    finished = execute_run_now(
        described(job(parrot, rows(300, right=200), "exact-match", "contains", store=store, trials=trials))
    ).run
    rebuilt = rebuilt_of(store, finished.manifest)
    assert rebuilt == finished.summaries
    assert {each.metric for each in rebuilt} >= {"exact-match", "contains"}
    assert ("exact-match.pass@3" in {each.metric for each in rebuilt}) == (trials == 3)


def test_whoever_opens_an_unfinished_run_sees_the_figures_so_far() -> None:
    store = Unfinished()
    execute_run_now(described(job(Parrot(), rows(300, right=200), store=store)))
    run = stored_run(store, store.find("latest").id)
    summary = run.summary("exact-match")
    assert summary is not None
    assert (summary.n, summary.mean) == (300, pytest.approx(2 / 3))


def test_a_run_is_followed_by_what_is_new_in_it() -> None:
    store = MemoryRunStore()
    execute_run_now(described(job(Parrot(), rows(400), store=store, trials=2)))
    progress = StoredProgress(store, store.find("latest").id)
    seen = progress.look()
    assert (seen.status, seen.done, seen.total) == ("succeeded", 800, 800)
    assert seen.headline.startswith("exact-match 1.000")
    assert progress.look() == seen, "nothing is counted twice"


def rebuilt_of(store: RunStore, manifest: RunManifest) -> list[MetricSummary]:
    return rebuilt_summaries(store, manifest.run_id, manifest)


def described(work: RunJob) -> RunJob:
    """The job with its evaluators in the manifest, as `wiring` makes it."""
    made = make_manifest(
        work.panel.evaluators,
        source="",
        dataset=DatasetOptions(),
        plan=work.plan,
        circumstances=Circumstances(evalsi_version="1"),
    )
    return replace(work, manifest=made)
