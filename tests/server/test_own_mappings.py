"""Spans of a convention of the operator's own, read by a mapping that the settings name: on pages, by policies, in previews."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from evalsi.traces import Span, decode_otlp_protobuf
from evalsi.traces.span import SpanEvent
from tests.command_line import evalsi
from tests.server.otlp.sending import a_trace, body_of, post, stored
from tests.server.running_server import RunningServer, running_server, wait_until

HOUSE = {
    "version": 1,
    "name": "house",
    "kinds": {"llm": [{"attr": "house.kind", "equals": "model"}]},
    "llm": {
        "model": [{"attr": "house.model"}],
        "input_messages": [{"attr": "house.question"}],
        "output_messages": [{"attr": "house.answer"}],
    },
    "exclude_spans": [{"attr": "house.hidden", "equals": True}],
}
SAID = {"house.kind": "model", "house.question": "Is it on?", "house.answer": "Write to jane@example.com."}
POLICY = {"name": "leaks", "stages": [{"evaluators": [{"ref": "pii-leak"}]}]}


@pytest.fixture
def server(tmp_path: Path) -> Generator[RunningServer]:
    folder = tmp_path / "conf"
    folder.mkdir()
    (folder / "house.json").write_text(json.dumps(HOUSE), encoding="utf-8")
    said = "data_dir: ../store\notlp: {grace: 0.2s}\ntraces: {mappings: [house.json]}\n"
    (folder / "evalsi.yaml").write_text(said, encoding="utf-8")
    with running_server(tmp_path, ["--config", "conf/evalsi.yaml"]) as found:
        yield found


def send(server: RunningServer, project: str = "default", session: str = "s1") -> str:
    (span,) = a_trace(1)
    said = {"attributes": {**SAID, "session.id": session}, "resource": {"evalsi.project": project}}
    assert post(server, body_of(type(span)(**{**fields(span), **said})))[0] == 200
    return span.trace_id


def fields(span: Any) -> dict[str, Any]:
    return {name: getattr(span, name) for name in span.__struct_fields__}


def test_live_spans_are_read_and_graded_by_a_mapping_of_the_settings(server: RunningServer) -> None:
    assert server.post("/v1alpha1/policies", POLICY)[0] == 200
    name = send(server)
    assert wait_until(lambda: stored(server, name).get("policies"), 60), server.lines[-5:]
    (step,) = stored(server, name)["record"]["trajectory"]["steps"]
    assert (step["type"], step["attributes"]["evalsi.mapping"]) == ("STEP_TYPE_LLM", "house@1")
    ((result,),) = [each["results"] for each in stored(server, name)["policies"]]
    assert (result["outcome"], result["scores"][0].get("passed", False)) == ("OUTCOME_SCORED", False)


def test_a_mapping_is_previewed_on_a_trace_or_session_that_is_stored(server: RunningServer, tmp_path: Path) -> None:
    name = send(server)
    assert wait_until(lambda: stored(server, name)["summary"].get("complete"), 40)
    draft = {**HOUSE, "name": "draft", "llm": {"output_messages": [{"attr": "house.question"}]}}
    (tmp_path / "draft.json").write_text(json.dumps(draft), encoding="utf-8")
    at = ("--server", f"http://{server.address}")
    env = {"EVALSI_DIR": str(tmp_path / "store")}
    for options in (("--trace", name[:8]), ("--session", "s1"), ("--trace", name, *at), ("--session", "s1", *at)):
        ended = evalsi("mappings", "check", "draft.json", *options, cwd=tmp_path, env=env)
        assert ended.status == 0, ended.err
        assert name[:8] in ended.out
        assert "draft@1" in ended.out
        assert "Is it on?" in ended.out
        assert "house@1" not in ended.out
    assert server.post("/v1alpha1/projects", {"name": "lamps"})[0] == 200
    elsewhere = send(server, "lamps", "s2")
    ended = evalsi("mappings", "check", "draft.json", "--session", "s2", *at, cwd=tmp_path, env=env)
    assert elsewhere[:8] in ended.out, ended.err
    for options in (("--trace", "f" * 32), ("--session", "none"), ("--trace", name, "--session", "s1")):
        ended = evalsi("mappings", "check", "draft.json", *options, cwd=tmp_path, env=env)
        assert ended.status in (1, 2), ended
        assert ended.out == ""


def test_a_preview_on_a_server_reads_resources_scopes_events_and_spans_that_are_no_steps(
    server: RunningServer, tmp_path: Path
) -> None:
    spans = [
        Span(
            **{
                **fields(span),
                "attributes": {"house.kind": "model", "house.hidden": place == 1},
                "scope_name": "house.scope",
                "events": [SpanEvent(name="house.done", attributes={"house.answer": f"It is on, {place}."})],
                "resource": {"house.model": "small-1"},
            }
        )
        for place, span in enumerate(a_trace(2))
    ]
    assert post(server, body_of(*spans))[0] == 200
    name = spans[0].trace_id
    assert wait_until(lambda: stored(server, name)["summary"].get("complete"), 40)
    draft = {
        "version": 1,
        "name": "draft",
        "kinds": {"llm": [{"scope_name": "house.scope"}]},
        "llm": {
            "model": [{"attr": "house.model", "scope": "resource"}],
            "output_messages": [{"event": "house.done", "attr": "house.answer"}],
        },
    }
    (tmp_path / "draft.json").write_text(json.dumps(draft), encoding="utf-8")
    assert len(stored(server, name)["record"]["trajectory"]["steps"]) == 1
    shown = [
        json.loads(
            evalsi(
                "mappings",
                "check",
                "draft.json",
                "--trace",
                name,
                "--format",
                "json",
                *way,
                cwd=tmp_path,
                env={"EVALSI_DIR": str(tmp_path / "store")},
            ).out
        )
        for way in ((), ("--server", f"http://{server.address}"))
    ]
    assert shown[0] == shown[1]
    (record,) = shown[1]
    steps = record["trajectory"]["steps"]
    assert len(steps) == 2
    assert {step["output"]["text"] for step in steps} == {"It is on, 0.", "It is on, 1."}
    assert {step["attributes"]["evalsi.mapping"] for step in steps} == {"draft@1"}
    assert {step["attributes"]["evalsi.model"] for step in steps} == {"small-1"}


def test_a_trace_is_given_as_it_was_sent(server: RunningServer) -> None:
    spans = a_trace(3)
    for span in spans:
        assert post(server, body_of(span))[0] == 200
    status, headers, body = server.request("GET", f"/v1alpha1/traces/{spans[0].trace_id[:9]}:export")
    assert (status, headers["content-type"]) == (200, "application/x-protobuf")
    assert {span.span_id for span in decode_otlp_protobuf(body).spans} == {span.span_id for span in spans}
    assert server.get(f"/v1alpha1/traces/{'0' * 32}:export")[0] == 404


@pytest.mark.parametrize("text", [None, "{", '{"version": 1, "name": "x", "kinds": {"llm": [{"attr": 1}]}}'])
def test_a_mapping_that_cannot_be_used_is_said_before_anything_is_served(tmp_path: Path, text: str | None) -> None:
    (tmp_path / "evalsi.yaml").write_text("traces: {mappings: [house.json]}\n", encoding="utf-8")
    if text is not None:
        (tmp_path / "house.json").write_text(text, encoding="utf-8")
    ended = evalsi("serve", "--listen", "127.0.0.1:0", "--config", "evalsi.yaml", cwd=tmp_path)
    assert ended.status in (1, 2)
    assert "house.json" in ended.err
    assert "mapping" in ended.err
    assert "Traceback" not in ended.err
