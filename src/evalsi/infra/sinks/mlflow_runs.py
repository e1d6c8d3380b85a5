"""A run as a run of an experiment in MLflow, with its metrics, through MLflow's REST API.

Its own module because experiments and traces have nothing in common there but the address. What always holds: a run is found
again by its id, which is a tag, so that logging it twice changes what is there.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from evalsi.infra.sinks.endpoint import SinkAnswer, SinkEndpoint
from evalsi.ports.score_sink import TAKEN, OutgoingRun, SinkReceipt

RUN_TAG = "evalsi.run_id"
_USUAL_EXPERIMENT = "0"
_API = "/api/2.0/mlflow"
_METRICS_AT_ONCE = 1000
_TAGS_AT_ONCE = 100
_LONGEST_TAG = 5000
_NO_KEY = re.compile(r"[^\w\-./ ]")
"""What may not stand in the name of a metric or tag (source: `mlflow.utils.validation`)."""


class _Experiment(msgspec.Struct, frozen=True):
    experiment_id: str = ""


class _FoundExperiment(msgspec.Struct):
    experiment: _Experiment = _Experiment()
    experiment_id: str = ""
    """Of one that was just made."""


class _RunInfo(msgspec.Struct):
    run_id: str = ""


class _Run(msgspec.Struct):
    info: _RunInfo


class _FoundRuns(msgspec.Struct):
    run: _Run | None = None
    """One that was just made."""
    runs: list[_Run] = []


async def log_run(endpoint: SinkEndpoint, experiment: str, project: str, run: OutgoingRun) -> SinkReceipt:
    """Logs a run, or logs it again. Never raises for what the other side does.

    Args:
        experiment: Its name, made where there is none; empty for MLflow's own default.
    """
    experiment_id: str | SinkReceipt = _USUAL_EXPERIMENT
    if experiment:
        experiment_id = await _experiment(endpoint, experiment)
    if isinstance(experiment_id, SinkReceipt):
        return experiment_id
    run_id = await _run(endpoint, experiment_id, run)
    if isinstance(run_id, SinkReceipt):
        return run_id
    for body in _batches(run_id, project, run):
        answer = await _asked(endpoint, "runs/log-batch", body)
        if not answer.is_good:
            return answer.receipt
    ended = {"run_id": run_id, "status": "FINISHED", "end_time": run.ended_ms, "run_name": run.name or run.id}
    answer = await _asked(endpoint, "runs/update", ended)
    return TAKEN if answer.is_good else answer.receipt


async def _experiment(endpoint: SinkEndpoint, name: str) -> str | SinkReceipt:
    """The id of an experiment, or why there is none."""
    made = await _asked(endpoint, "experiments/create", {"name": name})
    if not made.is_good and made.status in (0, 401, 403):
        return made.receipt
    found = made.read(_FoundExperiment) if made.is_good else None
    if found is None:
        # Most times it is there already.
        path = f"{_API}/experiments/get-by-name?experiment_name={quote(name, safe='')}"
        there = await endpoint.ask("GET", path)
        if not there.is_good:
            return SinkReceipt("trouble", f"{endpoint.host} neither has nor makes an experiment {name!r}")
        found = there.read(_FoundExperiment)
    experiment_id = (found.experiment_id or found.experiment.experiment_id) if found is not None else ""
    return experiment_id or _other(endpoint)


async def _run(endpoint: SinkEndpoint, experiment_id: str, run: OutgoingRun) -> str | SinkReceipt:
    """The id that MLflow gave our run, which is made where there is none; or why there is none."""
    wanted = {"experiment_ids": [experiment_id], "filter": f"tags.`{RUN_TAG}` = '{run.id}'", "max_results": 1}
    there = await _asked(endpoint, "runs/search", wanted)
    if not there.is_good:
        return there.receipt
    found = there.read(_FoundRuns)
    if found is None:
        return _other(endpoint)
    if found.runs:
        return found.runs[0].info.run_id
    wish: dict[str, Any] = {
        "experiment_id": experiment_id,
        "run_name": run.name or run.id,
        "start_time": run.began_ms,
        "tags": [{"key": RUN_TAG, "value": run.id}],
    }
    answer = await _asked(endpoint, "runs/create", wish)
    if not answer.is_good:
        return answer.receipt
    made = answer.read(_FoundRuns)
    return made.run.info.run_id if made is not None and made.run is not None else _other(endpoint)


def _batches(run_id: str, project: str, run: OutgoingRun) -> list[dict[str, Any]]:
    """Everything about a run, as it is logged."""
    values: dict[str, float] = {}
    for each in run.metrics:
        of = {"": each.mean, ".low": each.low, ".high": each.high}
        values |= {each.metric + ending: value for ending, value in of.items() if value is not None}
        values |= {
            f"{each.metric}.n": each.n,
            f"{each.metric}.skipped": each.skipped,
            f"{each.metric}.errors": each.errors,
        }
    metrics = [
        {"key": _NO_KEY.sub("_", name), "value": float(value), "timestamp": run.ended_ms, "step": 0}
        for name, value in values.items()
    ]
    tags = {"evalsi.project": project, "evalsi.dataset_sha256": run.dataset_sha256}
    tags |= {f"evalsi.label.{key}": value for key, value in run.labels.items()}
    told = [{"key": _NO_KEY.sub("_", key), "value": value[:_LONGEST_TAG]} for key, value in tags.items() if value]
    portions = [
        {"run_id": run_id, "metrics": metrics[start : start + _METRICS_AT_ONCE]}
        for start in range(0, len(metrics), _METRICS_AT_ONCE)
    ]
    return [*portions, {"run_id": run_id, "tags": told[:_TAGS_AT_ONCE]}]


async def _asked(endpoint: SinkEndpoint, method: str, body: Mapping[str, Any]) -> SinkAnswer:
    return await endpoint.ask("POST", f"{_API}/{method}", msgspec.json.encode(body))


def _other(endpoint: SinkEndpoint) -> SinkReceipt:
    return SinkReceipt("trouble", f"{endpoint.host} answered something else than MLflow does")
