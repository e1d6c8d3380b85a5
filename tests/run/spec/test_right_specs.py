"""What a right spec becomes: spellings, durations, short forms, overrides, variables, files beside it."""

from pathlib import Path

import pytest

from evalsi.core.errors import InvalidSpecError, NotFoundError
from evalsi.run.spec import read_run_spec, run_spec_schema
from evalsi.schema import GateStat, OnInconclusive
from tests.run.spec.specs import HEAD, SMALL, mistakes, read, spec_file, with_lines

GUIDE = """\
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata:
  name: capitals
  labels: {evals.si/project: quickstart}
spec:
  target:
    connector: anthropic          # or openai-compatible with base_url
    model: some-model-1
    system_prompt: Answer with the name of the city only.
    max_tokens: 1024
    effort: low
  dataset:
    path: capitals.jsonl
    mapping: {input: question, reference: answer}
  evaluators:
    - ref: exact-match
    - ref: fuzzy-match
      params: {ignore_case: true}
  trials: 3
  summary: {confidence_level: 0.95}
  gates:
    - {metric: exact-match, min: 0.9}
    - {metric: exact-match.pass^3, stat: GATE_STAT_MEAN, min: 0.8}
    - metric('fuzzy-match').mean >= 0.8 && run.errorRate < 0.05
  budget:
    max_target_tokens: 200000
    max_judge_tokens: 500000
    max_wall_clock: 5m
"""


def test_a_spec_as_people_write_it_is_read() -> None:
    document = read(GUIDE)
    assert document.run.metadata is not None
    assert (document.run.metadata.name, document.run.metadata.project) == ("capitals", "quickstart")
    spec = document.spec
    assert spec.target is not None
    assert spec.target.model == "some-model-1"
    assert spec.trials == 3
    assert spec.budget is not None
    assert spec.budget.max_wall_clock == 300.0
    assert [gate.stat for gate in spec.gates] == [GateStat.UNSPECIFIED, GateStat.MEAN, GateStat.UNSPECIFIED]
    assert spec.gates[2].cel.startswith("metric('fuzzy-match')")
    assert document.where("spec.gates[1].min") == "<text>:24:63"
    assert sorted(document.evaluators.metrics) == ["exact-match", "fuzzy-match"]


def test_camel_case_and_json_say_the_same_as_snake_case_and_yaml() -> None:
    yaml = with_lines("summary: {confidence_level: 0.9}", "budget: {max_usd: 2}", "on_inconclusive: exit4")
    json = """\
{"apiVersion": "evals.si/v1alpha1", "kind": "EvalRun", "metadata": {"name": "small"}, "spec": {
\t"target": {"connector": "openai-compatible", "model": "m-1", "baseUrl": "http://127.0.0.1:1/v1"},
\t"dataset": {"path": "cases.jsonl"}, "evaluators": ["exact-match"],
\t"summary": {"confidenceLevel": 0.9}, "budget": {"maxUsd": 2}, "onInconclusive": "ON_INCONCLUSIVE_EXIT4"}}
"""
    assert read(json).run == read(yaml).run
    assert read(yaml).spec.on_inconclusive is OnInconclusive.EXIT4
    assert read(json).where("spec.target.base_url") == "<text>:2:74"


def test_places_in_json_are_told_like_those_in_yaml(tmp_path: Path) -> None:
    path = spec_file(tmp_path, '{"kind": "EvalRun",\n  "metadata": {"name": "A"},\n  "kind": "x"}', "run.json")
    with pytest.raises(InvalidSpecError) as caught:
        read_run_spec(path)
    said = str(caught.value)
    assert f"{path}:2:24: metadata.name must be a DNS label" in said
    assert f"{path}:3:3: duplicate key kind, line 3" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a" 1}', ":1:6: the JSON is malformed: ':' is missing after the key 'a'"),
        ('{"a": 1,}', ":1:8: the JSON is malformed: a comma stands before '}'"),
        ('{"a": tru}', ":1:7: the JSON is malformed: 't' begins no value"),
        ('{"a": "x\n"}', ":1:7: the JSON is malformed: a text does not end in its line"),
        ('{"a": "\\x"}', ":1:8: the JSON is malformed: invalid \\escape"),
        ('{"a": 1e999}', ":1:7: the JSON is malformed: a number is too large"),
        ("{a: 1}", ":1:2: the JSON is malformed: a key in double quotes is missing"),
        ("[1 2]", ":1:4: the JSON is malformed: ',' or ']' is missing"),
        ("[" * 200, ":1:102: the file is nested deeper than 100 levels"),
        ("{} {}", ":1:4: the JSON is malformed: something follows the document"),
    ],
)
def test_a_json_file_is_held_to_json(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        read_run_spec(spec_file(tmp_path, text, "run.json"))
    assert said in str(caught.value)


def test_a_surrogate_pair_and_tabs_in_json_are_right() -> None:
    text = SMALL.replace("name: small", "name: small, description: b")
    assert read(text).run.metadata is not None
    json = (
        '{"apiVersion":"evals.si/v1alpha1",\t"kind":"EvalRun","metadata":{"name":"a","description":"\\ud83d\\ude00"},'
    )
    json += '"spec":{"dataset":{"path":"a"},"evaluators":["exact-match"]}}'
    metadata = read(json).run.metadata
    assert metadata is not None
    assert metadata.description == "\U0001f600"


def test_crlf_bom_and_utf16_are_accepted(tmp_path: Path) -> None:
    plain = read(SMALL).run
    for encoded in (
        SMALL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SMALL.encode(),
        SMALL.encode("utf-16"),
    ):
        path = tmp_path / "run.yaml"
        path.write_bytes(encoded)
        assert read_run_spec(path).run == plain


def test_a_file_may_be_named_by_text(tmp_path: Path) -> None:
    path = spec_file(tmp_path)
    assert read_run_spec(str(path)).source == str(path)
    with pytest.raises(NotFoundError):
        read_run_spec("nowhere.yaml")


def test_bytes_that_are_no_utf8_are_named_by_place(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"apiVersion: x\nkind: \xff\n")
    with pytest.raises(InvalidSpecError, match=r"run\.yaml:2:7: the file is not UTF-8: byte 0xff"):
        read_run_spec(path)


def test_a_missing_file_and_a_folder_are_said_with_the_nearest_name(tmp_path: Path) -> None:
    spec_file(tmp_path)
    with pytest.raises(NotFoundError, match=r"there is no file .*runn\.yaml'; did you mean 'run\.yaml'\?"):
        read_run_spec(tmp_path / "runn.yaml")
    with pytest.raises(NotFoundError, match="is a folder, not a run spec"):
        read_run_spec(tmp_path)
    with pytest.raises(NotFoundError, match="there is no folder"):
        read_run_spec(tmp_path / "nowhere" / "run.yaml")


def test_anchors_and_merge_keys_are_read_and_explicit_keys_win() -> None:
    text = (
        f"{HEAD}spec:\n  dataset: {{path: a.jsonl}}\n  evaluators:\n"
        "    - &one {ref: contains, params: {substring: x}, name: first}\n"
        "    - {<<: *one, name: second}\n"
    )
    first, second = read(text).spec.evaluators
    assert (first.params, first.name) == (second.params, "first")
    assert second.name == "second"


def test_overrides_change_the_document_before_it_is_checked() -> None:
    spec = read(SMALL, "spec.trials=3", "budget.max_usd=2.5", "target.baseUrl=http://127.0.0.1:9/v1").spec
    assert spec.trials == 3
    assert spec.budget is not None
    assert spec.budget.max_usd == 2.5
    assert spec.target is not None
    assert spec.target.base_url == "http://127.0.0.1:9/v1"


def test_overrides_reach_into_lists_maps_and_labels() -> None:
    document = read(
        SMALL,
        "evaluators[0].name=same",
        "evaluators[1]={ref: contains, params: {substring: a}}",
        "evaluators[1].params.ignore_case=false",
        "gates[0].metric=same",
        "gates[0].min=0.5",
        "metadata.labels['a.b/c']=x",
        'metadata.labels.build="7"',
        "dataset.mapping.input=question",
    )
    spec = document.spec
    assert [ref.name for ref in spec.evaluators] == ["same", ""]
    assert spec.evaluators[1].params == {"substring": "a", "ignore_case": False}
    assert (spec.gates[0].metric, spec.gates[0].min) == ("same", 0.5)
    assert document.run.metadata is not None
    assert document.run.metadata.labels == {"a.b/c": "x", "build": "7"}


def test_a_plus_in_brackets_adds_to_a_list_that_is_there_or_not() -> None:
    gate = "{metric: exact-match, min: 0.5}"
    document = read(SMALL, f"spec.gates[+]={gate}", "gates[+].cel=metric('exact-match').mean > 0.2")
    assert [(each.metric, each.cel) for each in document.spec.gates] == [
        ("exact-match", ""),
        ("", "metric('exact-match').mean > 0.2"),
    ]
    assert mistakes(SMALL, "spec.trials[+]=3") != []
    assert mistakes(SMALL, "spec[+]=3") == ["--set spec[+]: spec is no list"]


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("spec.trials", "--set: 'spec.trials' is no setting; write path=value, e.g. spec.trials=3"),
        ("=3", "--set: '=3' is no setting"),
        ("spec.trails=3", "--set spec.trails: unknown field spec.trails; did you mean trials?"),
        ("trails=3", "--set trails: unknown field spec.trails; did you mean trials?"),
        ("spec.trials=0", "--set spec.trials: spec.trials must be at least 1, not 0"),
        ("spec.trials=three", "--set spec.trials: spec.trials must be an integer, not the text 'three'"),
        ("spec.trials=[1", "--set spec.trials: the value '[1' cannot be read"),
        ("spec.evaluators[5].ref=a", "--set spec.evaluators[5].ref: spec.evaluators[5] is past the end of the list"),
        ("spec.evaluators.ref=a", "--set spec.evaluators.ref: spec.evaluators is a list: write a number in brackets"),
        ("spec[0]=a", "--set spec[0]: spec is no list"),
        ("spec.target.model.x=a", "--set spec.target.model.x: spec.target.model holds no fields"),
        ("spec..trials=1", "--set spec..trials: the path cannot be read from '..trials' on"),
        ("spec.target=null", ""),
        ("metadata.labels.a=[no]", "--set metadata.labels.a: metadata.labels.a must be text, not a list"),
    ],
)
def test_a_wrong_override_is_named_by_its_path(override: str, said: str) -> None:
    found = mistakes(SMALL, override)
    if said:
        assert any(mistake.startswith(said) for mistake in found), found
    else:
        assert found == []


def test_an_override_of_a_text_needs_no_quotes() -> None:
    """A shell takes quotes away, and a version, a label or a model that looks like a number is a text all the same."""
    overrides = ("metadata.labels.a=no", "metadata.labels.version=1.10", "target.model=4")
    document = read(SMALL, *overrides)
    assert document.run.metadata is not None
    assert {key: document.run.metadata.labels[key] for key in ("a", "version")} == {"a": "no", "version": "1.10"}
    assert document.spec.target is not None
    assert document.spec.target.model == "4"


def test_a_mistake_that_an_override_repairs_is_no_mistake() -> None:
    assert mistakes(with_lines("trials: 0"), "trials=2") == []


def test_variables_are_put_into_texts_numbers_and_truth_values() -> None:
    text = with_lines("trials: ${TRIALS}", "budget: {max_usd: '${USD}'}").replace(
        "model: m-1",
        "model: 'a-${MODEL}', stream: '${STREAM}', system_prompt: 'keep $${THIS}', effort: '${EFFORT:-low}'",
    )
    spec = read(text, environment={"TRIALS": "3", "USD": "0.5", "MODEL": "b", "STREAM": "true"}).spec
    assert spec.trials == 3
    assert spec.budget is not None
    assert spec.budget.max_usd == 0.5
    assert spec.target is not None
    assert (spec.target.model, spec.target.stream, spec.target.system_prompt, spec.target.effort) == (
        "a-b",
        True,
        "keep ${THIS}",
        "low",
    )


def test_a_label_from_the_environment_stays_text() -> None:
    text = SMALL.replace("name: small", "name: small, labels: {version: '${VERSION}', branch: '${BRANCH}'}")
    metadata = read(text, environment={"VERSION": "1.10", "BRANCH": "no"}).run.metadata
    assert metadata is not None
    assert metadata.labels == {"version": "1.10", "branch": "no"}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "model: '${MODLE}'",
            "<text>:5:49: the environment variable MODLE in spec.target.model is not set; did you mean",
        ),
        ("model: '${OPENAI_API_KEY}'", "${OPENAI_API_KEY} looks like a secret, and a spec never holds one"),
        ("model: m, headers_env: {A: '${MODEL}'}", "spec.target.headers_env.A names environment variables"),
        (
            "model: m, apiKeyEnv: '${MODEL}'",
            "spec.target.apiKeyEnv names environment variables, so it holds no ${MODEL}",
        ),
        ("model: m, base_url: 'http://x/${DB_PASSWORD}'", "${DB_PASSWORD} looks like a secret"),
    ],
)
def test_a_secret_or_missing_variable_is_refused_without_its_value(target: str, said: str) -> None:
    text = f"{HEAD}spec:\n  target: {{connector: openai-compatible, {target}}}\n  dataset: {{path: a}}\n  evaluators: [exact-match]\n"
    found = mistakes(text, environment={"OPENAI_API_KEY": "sk-xyz", "MODEL": "m", "DB_PASSWORD": "hunter2"})
    assert any(said in mistake for mistake in found), found
    assert not any("sk-xyz" in mistake or "hunter2" in mistake for mistake in found)


def test_names_that_only_sound_like_secrets_may_be_used() -> None:
    text = with_lines("budget: {max_target_tokens: '${MAX_TOKENS}'}").replace("m-1", "'${KEYBOARD}'")
    assert mistakes(text, environment={"MAX_TOKENS": "10", "KEYBOARD": "k"}) == []


def test_records_written_in_place_are_data_and_keep_their_dollars() -> None:
    text = SMALL.replace("{path: cases.jsonl}", "{inline: {records: [{id: a, input: {text: '${HOME} {{ x }}'}}]}}")
    dataset = read(text).spec.dataset
    assert dataset is not None
    assert dataset.inline is not None
    content = dataset.inline.records[0].input
    assert content is not None
    assert content.text == "${HOME} {{ x }}"


def test_an_evaluator_in_a_file_is_found_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "checks.py").write_text(
        "from evalsi.evaluators.api import evaluator\n\n@evaluator(name='polite')\ndef polite(record):\n    return True\n"
    )
    path = spec_file(tmp_path, SMALL.replace("[exact-match]", "[./checks.py:polite]"))
    document = read_run_spec(path)
    assert document.folder == tmp_path
    assert document.spec.evaluators[0].ref == f"{tmp_path / 'checks.py'}:polite"
    assert document.evaluators.open_names == {"polite"}


def test_what_evaluators_need_is_known_before_anything_starts() -> None:
    text = SMALL.replace("[exact-match]", "[exact-match, {ref: llm-judge, params: {rubric: correctness}}]")
    assert read(text).evaluators.needs_judge == ["llm-judge"]


def test_a_judge_that_the_spec_does_not_define_is_left_to_the_command() -> None:
    assert mistakes(with_lines("judge: strict")) == []
    assert mistakes(with_lines("judges: {strict: {provider: anthropic, model: m}}", "judge: strict")) == []


def test_a_run_without_a_target_takes_the_outputs_of_its_dataset() -> None:
    text = f"{HEAD}spec:\n  dataset: {{path: a}}\n  evaluators: [exact-match]\n"
    assert read(text).spec.target is None


def test_the_schema_for_editors_accepts_what_the_reader_accepts() -> None:
    import yaml
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(run_spec_schema())
    for text in (SMALL, GUIDE):
        validator.validate(yaml.safe_load(text))
    wrong = SMALL.replace("evaluators: [exact-match]", "evaluatrs: [exact-match]")
    assert not validator.is_valid(yaml.safe_load(wrong))
    assert not validator.is_valid(yaml.safe_load(SMALL.replace("name: small", "name: My Run")))


@pytest.mark.parametrize(
    ("lines", "judge"),
    [
        ("judge: openai-compatible/small", "openai-compatible/small"),
        ("judges: {house: {provider: openai-compatible, model: small}}", "house"),
    ],
)
def test_a_judge_of_one_line_and_the_only_one_are_the_judge(lines: str, judge: str) -> None:
    spec = read(SMALL.replace("evaluators: [exact-match]", f"evaluators: [correctness]\n  {lines}")).spec
    assert spec.judge == judge
    assert (spec.judges[judge].provider, spec.judges[judge].model) == ("openai-compatible", "small")
