"""Writes `deploy/grafana/evalsi.json`: what a server exports, as a Grafana dashboard.

Its own tool because a panel is ten lines of JSON that say the same each time. A test holds the file to this list, and every
metric in it to what a server really exports.

    python tools/generate_dashboard.py [--check]
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "deploy" / "grafana" / "evalsi.json"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 24, 7
POLICY = '{project=~"$project", policy=~"$policy"}'
PROJECT = '{project=~"$project"}'


@dataclass(frozen=True)
class Panel:
    """A panel: title, what it says, its queries with their legends, its unit, its share of the row's width."""

    title: str
    text: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"
    width: int = 8
    kind: str = "timeseries"
    red_from: float | None = None
    """For a single number: from which value on it is red."""


ROWS: tuple[tuple[str, tuple[Panel, ...]], ...] = (
    (
        "Live traffic",
        (
            Panel(
                "Spans stored",
                "Spans that were stored, each second.",
                (("sum(rate(evalsi_spans_ingested_total[$__rate_interval]))", "spans"),),
                "cps",
            ),
            Panel(
                "Not stored",
                "Spans dropped and requests refused, by reason. Every one is counted.",
                (
                    ("sum by (reason) (rate(evalsi_spans_dropped_total[$__rate_interval]))", "spans: {{reason}}"),
                    (
                        "sum by (reason) (rate(evalsi_otlp_requests_refused_total[$__rate_interval]))",
                        "requests: {{reason}}",
                    ),
                    ("sum(rate(evalsi_traces_dropped_total[$__rate_interval]))", "whole traces"),
                    ("sum by (reason) (rate(evalsi_log_records_dropped_total[$__rate_interval]))", "logs: {{reason}}"),
                ),
                "cps",
            ),
            Panel(
                "Waiting to be complete",
                "Traces whose end has not been seen yet.",
                (("max(evalsi_traces_pending)", "traces"),),
            ),
            Panel(
                "New traces",
                "Traces of which a first span was stored, each second.",
                (("sum(rate(evalsi_traces_ingested_total[$__rate_interval]))", "traces"),),
                "cps",
            ),
            Panel(
                "Bytes stored",
                "Unpacked bytes of requests that were stored.",
                (("sum(rate(evalsi_ingested_bytes_total[$__rate_interval]))", "stored"),),
                "Bps",
            ),
            Panel(
                "Bytes in memory",
                "Requests that are being taken in. The server refuses rather than let it grow.",
                (("sum(evalsi_otlp_waiting_bytes)", "held"),),
                "bytes",
            ),
        ),
    ),
    (
        "Policies",
        (
            Panel(
                "Alerts firing",
                "Alerts whose bound is surely crossed.",
                ((f"sum(evalsi_policy_alert_firing{POLICY}) or vector(0)", "firing"),),
                width=4,
                kind="stat",
                red_from=1,
            ),
            Panel(
                "Means",
                "Mean of each metric over its policy's window. How far it can be trusted is on the policy's page.",
                ((f"evalsi_policy_metric_mean{POLICY}", "{{policy}}: {{metric}}"),),
                width=12,
            ),
            Panel(
                "Values behind the means",
                "Values within the window. A mean of few says little.",
                ((f"evalsi_policy_metric_samples{POLICY}", "{{policy}}: {{metric}}"),),
            ),
            Panel(
                "How far traces come",
                "Traces seen, matched, drawn, evaluated, promoted and left out for the budget, each second.",
                (
                    (
                        f"sum by (policy, stage) (rate(evalsi_policy_traces_total{POLICY}[$__rate_interval]))",
                        "{{policy}}: {{stage}}",
                    ),
                ),
                "cps",
                width=12,
            ),
            Panel(
                "Waiting to be evaluated",
                "Traces and sessions in line.",
                ((f"evalsi_policy_waiting{POLICY}", "{{policy}}"),),
                width=12,
            ),
            Panel(
                "Scores taken to sinks",
                "Traces and sessions whose scores arrived, or were given up, each second.",
                (
                    (
                        f"sum by (sink, outcome) (rate(evalsi_sink_deliveries_total{POLICY}[$__rate_interval]))",
                        "{{sink}}: {{outcome}}",
                    ),
                ),
                "cps",
                width=12,
            ),
            Panel(
                "Waiting for sinks",
                "Traces and sessions whose scores wait to be taken to a sink, and entries of the audit log. It grows while a "
                "sink takes nothing.",
                (
                    (f"sum by (sink) (evalsi_sink_waiting{POLICY})", "{{sink}}"),
                    ("sum by (sink) (evalsi_audit_waiting)", "{{sink}}: audit log"),
                ),
                width=12,
            ),
        ),
    ),
    (
        "Models and money",
        (
            Panel(
                "Cost, US dollars an hour",
                "As far as prices are known.",
                (
                    (
                        f"sum by (project, role) (rate(evalsi_cost_usd_total{PROJECT}[1h])) * 3600",
                        "{{project}} {{role}}",
                    ),
                ),
                "currencyUSD",
            ),
            Panel(
                "Tokens",
                "Read and written, each second.",
                (
                    (
                        f"sum by (role, direction) (rate(evalsi_tokens_total{PROJECT}[$__rate_interval]))",
                        "{{role}} {{direction}}",
                    ),
                ),
                "cps",
            ),
            Panel(
                "Judges answered from the cache",
                "Share of questions that were not asked again.",
                (
                    (
                        f'sum(rate(evalsi_judge_cache_total{{project=~"$project", result="hit"}}[$__rate_interval])) / '
                        f"sum(rate(evalsi_judge_cache_total{PROJECT}[$__rate_interval]))",
                        "hits",
                    ),
                ),
                "percentunit",
            ),
        ),
    ),
    (
        "Calls",
        (
            Panel(
                "Calls",
                "By method, each second.",
                (("sum by (method) (rate(evalsi_call_seconds_count[$__rate_interval]))", "{{method}}"),),
                "reqps",
            ),
            Panel(
                "Slowest in twenty",
                "95 of 100 calls are quicker.",
                (
                    (
                        "histogram_quantile(0.95, sum by (le, method) (rate(evalsi_call_seconds_bucket[$__rate_interval])))",
                        "{{method}}",
                    ),
                ),
                "s",
            ),
            Panel(
                "Not answered well",
                "Calls by how they ended, those that went well left out.",
                (('sum by (code) (rate(evalsi_call_seconds_count{code!="ok"}[$__rate_interval]))', "{{code}}"),),
                "reqps",
            ),
            Panel("Under way", "Calls at this moment.", (("sum(evalsi_calls_in_flight)", "calls"),), width=12),
            Panel(
                "Without a credential",
                "Calls that no credential was accepted for.",
                (("sum(rate(evalsi_unauthenticated_total[$__rate_interval]))", "refused"),),
                "reqps",
                width=12,
            ),
        ),
    ),
    (
        "Runs and workers",
        (
            Panel(
                "Runs",
                "Waiting and being worked on.",
                (("max(evalsi_runs_waiting)", "waiting"), ("max(evalsi_runs_executing)", "worked on")),
            ),
            Panel(
                "Runs that ended",
                "By how, in an hour.",
                (("sum by (status) (increase(evalsi_runs_finished_total[1h]))", "{{status}}"),),
            ),
            Panel(
                "Workers",
                "Alive, at work, and calls that wait for one.",
                (
                    ("sum by (pool) (evalsi_workers)", "{{pool}} alive"),
                    ("sum by (pool) (evalsi_workers_busy)", "{{pool}} at work"),
                    ("sum by (pool) (evalsi_queue_depth)", "{{pool}} waiting"),
                ),
            ),
            Panel(
                "Workers lost",
                "Processes that were lost or killed, in an hour.",
                (
                    ("sum by (pool) (increase(evalsi_worker_restarts_total[1h]))", "{{pool}}"),
                    ("sum(increase(evalsi_run_worker_restarts_total[1h]))", "runs"),
                ),
            ),
            Panel(
                "Rollouts",
                "Rollouts scored for trainers, each second.",
                (
                    ("sum(rate(evalsi_reward_rollouts_total[$__rate_interval]))", "scored"),
                    ("sum(evalsi_reward_inflight_rollouts)", "under way"),
                ),
                "cps",
            ),
            Panel(
                "Batches of rewards that failed",
                "Each second.",
                (("sum(rate(evalsi_reward_failures_total[$__rate_interval]))", "failed"),),
                "cps",
            ),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """The whole, as Grafana imports it."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in ROWS:
        panels.append(_row(title, len(panels) + 1, top))
        top += 1
        left = 0
        for panel in row:
            if left + panel.width > WIDTH:
                top, left = top + HEIGHT, 0
            place = {"x": left, "y": top, "w": panel.width, "h": HEIGHT}
            panels.append(_panel(panel, len(panels) + 1, place))
            left += panel.width
        top += HEIGHT
    return {
        "uid": "evalsi",
        "title": "evalsi",
        "description": "What a server of evalsi takes in, evaluates and spends.",
        "tags": ["evalsi"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [_source(), _choice("project", ""), _choice("policy", '{project=~"$project"}')]},
        "annotations": {"list": []},
        "links": [],
        "panels": panels,
    }


def _row(title: str, number: int, top: int) -> dict[str, Any]:
    place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "min": 0}
    if panel.red_from is not None:
        steps = [{"color": "green", "value": None}, {"color": "red", "value": panel.red_from}]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
    options: dict[str, Any] = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}}
    if panel.kind == "stat":
        options = {
            "colorMode": "value",
            "graphMode": "none",
            "reduceOptions": {"calcs": ["lastNotNull"], "values": False},
        }
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.text,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": [
            {"refId": chr(ord("A") + place), "datasource": SOURCE, "expr": query, "legendFormat": legend}
            for place, (query, legend) in enumerate(panel.queries)
        ],
    }


def _source() -> dict[str, Any]:
    return {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0}


def _choice(name: str, within: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": f"label_values(evalsi_policy_metric_mean{within}, {name})", "refId": name},
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "sort": 1,
    }


def main() -> int:
    text = json.dumps(dashboard(), indent=2) + "\n"
    is_current = FILE.exists() and FILE.read_text(encoding="utf-8") == text
    if "--check" in sys.argv:
        return 0 if is_current else 1
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{FILE.name}: {'as it was' if is_current else 'written'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
