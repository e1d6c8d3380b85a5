"""Scores as assessments on traces in MLflow, through its REST API. Implements `ScoreSink`.

MLflow names an assessment itself, so the id of a score stands in its metadata: what is there is read before anything is
written, and a score that is there already is changed. Every trace is asked about once, and what it lacks is written beside
others. A run is logged as a run of an experiment (`mlflow_runs`). A score of a session stands on the session's first trace, where MLflow's own scorers put theirs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import msgspec

from evalsi.infra.sinks.endpoint import SinkAnswer, SinkEndpoint
from evalsi.infra.sinks.mlflow_runs import log_run
from evalsi.infra.sinks.portions import SentScore, origin_of, worse
from evalsi.ports.score_sink import TAKEN, OutgoingScore, OutgoingScores, SinkReceipt

TRACES_AT_ONCE = 8
_TRACES = "/api/3.0/mlflow/traces"
_ID = "evalsi.score_id"
_SESSION_ID = "mlflow.assessment.onlineScoringSessionId"
"""Source: `mlflow.tracing.constant.AssessmentMetadataKey`."""
_CHANGED = "assessmentName,feedback,rationale,metadata"


class _Assessment(msgspec.Struct):
    assessment_id: str = ""
    metadata: dict[str, str] = {}


class _TraceInfo(msgspec.Struct):
    assessments: list[_Assessment] = []


class _Trace(msgspec.Struct):
    trace_info: _TraceInfo


class _Found(msgspec.Struct):
    """What MLflow says about a trace, as far as it matters here."""

    trace: _Trace


class _Refusal(msgspec.Struct):
    error_code: str = ""


@dataclass(frozen=True, kw_only=True)
class MlflowSink:
    """Args: experiment: Name of the experiment that runs are logged to; empty for MLflow's own default."""

    endpoint: SinkEndpoint
    experiment: str = ""

    async def send(self, deliveries: Sequence[OutgoingScores]) -> Sequence[SinkReceipt]:
        receipts: list[SinkReceipt] = []
        for start in range(0, len(deliveries), TRACES_AT_ONCE):
            some = deliveries[start : start + TRACES_AT_ONCE]
            receipts += await asyncio.gather(*(self._deliver(each) for each in some))
            trouble = next((each for each in receipts[start:] if each.state == "trouble"), None)
            if trouble is not None:
                return receipts + [trouble] * (len(deliveries) - len(receipts))
        return receipts

    async def close(self) -> None:
        await self.endpoint.close()

    async def _deliver(self, of: OutgoingScores) -> SinkReceipt:
        if of.run is not None:
            return await log_run(self.endpoint, self.experiment, of.project, of.run)
        by_trace: dict[str, list[SentScore]] = {}
        sent = [SentScore(of, score) for score in of.scores]
        sent += [SentScore(of, score, is_withdrawn=True) for score in of.withdrawn]
        for each in sent:
            if trace_id := each.score.trace_id or of.first_trace_id:
                by_trace.setdefault(f"tr-{trace_id}", []).append(each)
        receipt = TAKEN
        for trace_id, scores in by_trace.items():
            receipt = worse(receipt, await self._write(trace_id, scores))
            if receipt.state == "trouble":
                break
        return receipt

    async def _write(self, trace_id: str, scores: Sequence[SentScore]) -> SinkReceipt:
        answer = await self.endpoint.ask("GET", f"{_TRACES}/{trace_id}")
        if answer.status == 404:
            return _missing(self.endpoint, answer)
        if not answer.is_good:
            return answer.receipt
        found = answer.read(_Found)
        if found is None:
            return SinkReceipt("trouble", f"{self.endpoint.host} answered something else than MLflow does")
        # Also those that somebody has overruled: the value of ours changes, the word of the person stays.
        known = {each.metadata.get(_ID, ""): each.assessment_id for each in found.trace.trace_info.assessments}
        receipt = TAKEN
        for score in scores:
            receipt = worse(receipt, await self._write_one(trace_id, score, known.get(score.score.id)))
            if receipt.state == "trouble":
                break
        return receipt

    async def _write_one(self, trace_id: str, sent: SentScore, there: str | None) -> SinkReceipt:
        """Writes an assessment that is not there, changes one that is, or takes that away which was withdrawn."""
        path = f"{_TRACES}/{trace_id}/assessments"
        known = quote(there or "", safe="")  # MLflow chose it
        if sent.is_withdrawn:
            if there is None:
                return TAKEN
            answer = await self.endpoint.ask("DELETE", f"{path}/{known}")
            return TAKEN if answer.status == 404 else answer.receipt
        assessment = _assessment(sent.of, sent.score, trace_id)
        if there is None:
            answer = await self.endpoint.ask("POST", path, msgspec.json.encode({"assessment": assessment}))
        else:
            body = {"assessment": {**assessment, "assessment_id": there}, "update_mask": _CHANGED}
            answer = await self.endpoint.ask("PATCH", f"{path}/{known}", msgspec.json.encode(body))
        return _missing(self.endpoint, answer) if answer.status == 404 else answer.receipt


def _missing(endpoint: SinkEndpoint, answer: SinkAnswer) -> SinkReceipt:
    refused = answer.read(_Refusal)
    if refused is not None and refused.error_code == "RESOURCE_DOES_NOT_EXIST":
        return SinkReceipt("missing", f"{endpoint.host} does not know the trace")
    return answer.receipt


def _assessment(of: OutgoingScores, score: OutgoingScore, trace_id: str) -> dict[str, Any]:
    at = datetime.fromtimestamp(of.at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    metadata = {
        _ID: score.id,
        **{name: str(value) for name, value in origin_of(of).items()},
        "evalsi.evaluator": score.evaluator_ref,
    }
    if not score.trace_id:
        metadata[_SESSION_ID] = score.session_id
    said: dict[str, Any] = {
        "assessment_name": score.metric,
        "trace_id": trace_id,
        "source": {"source_type": "LLM_JUDGE" if score.is_judged else "CODE", "source_id": score.evaluator_ref},
        "create_time": at,
        "last_update_time": at,
        "feedback": _feedback(score),
        "rationale": score.explanation,
        "metadata": metadata,
        "valid": True,
    }
    if score.trace_id and not score.is_of_trace:
        said["span_id"] = score.span_id
    return said


def _feedback(score: OutgoingScore) -> dict[str, Any]:
    if score.error_type:
        return {"error": {"error_code": score.error_type, "error_message": score.error}}
    for value in (score.passed, score.number, score.label):
        if value is not None:
            return {"value": value}
    return {"value": score.structured}
