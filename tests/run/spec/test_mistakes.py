"""Every kind of mistake in a spec, one row each: where it stands, what is wrong, what would be right."""

import pytest

from tests.run.spec.specs import HEAD, SMALL, mistakes, with_lines


def test_the_small_spec_is_right() -> None:
    assert mistakes(SMALL) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "<text>: a run spec is a mapping"),
        ("just words", "<text>: a run spec is a mapping"),
        ("   \n\n", "<text>: the file is empty"),
        ("# only a comment\n", "<text>: the file is empty"),
        ("a: [1, 2\nb: 3\n", "<text>:2:2: the YAML is malformed"),
        ("a: @x\n", "<text>:1:4: the YAML is malformed"),
        ("a: *x\n", "<text>:1:4: no anchor to refer to with *; put text that begins with * in quotes"),
        ("a: &a [*a]\n", "<text>:1:4: an alias stands within what it stands for"),
        ("a: b: c\n", "put text that holds ': ' in quotes"),
        ("a: \x07\n", "<text>:1:4: the character U+0007 is not allowed in YAML"),
        ("[" * 3000, "the YAML is malformed: exceeded maximum nesting depth"),
        ("- " * 300 + "a", "the file is nested deeper than 100 levels"),
        ('{"a": 1, }x', "<text>:1:11: the YAML is malformed"),
        ("!!set {a, b}\n", "tags that build objects are refused"),
        ("? [a]\n: b\n", "<text>:1:3: a key must be text"),
        ("a: !!binary aGk=\n", "a has the tag !!binary; tags that build objects are refused"),
        ("a: !mine {b: 1}\n", "a has the tag !mine"),
        ("<<: 3\na: 1\n", "<text>:1:1: << must stand for a mapping"),
        ("a: 010\n", "<text>:1:4: a is 010, a number that YAML readers read differently; write it in decimal"),
        ("a: 1:30\n", "a is 1:30, a number that YAML readers read differently"),
        ("a: .inf\n", "a is .inf, a number that YAML readers read differently"),
    ],
)
def test_what_is_no_yaml_or_no_mapping_is_named(text: str, said: str) -> None:
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "apiVersion: evals.si/v1alpha1\n",
            "",
            "<text>:1:1: apiVersion is missing; write apiVersion: evals.si/v1alpha1",
        ),
        ("kind: EvalRun\n", "", "<text>:1:1: kind is missing; write kind: EvalRun"),
        ("kind: EvalRun", "kind: RewardSpec", "<text>:2:7: kind is RewardSpec, and a run needs EvalRun"),
        ("kind: EvalRun", "kind: Nonsense", "<text>:2:7: unknown kind 'Nonsense'; known: EvalRun"),
        ("metadata: {name: small}\n", "", "metadata.name is missing"),
        ("{name: small}", "{project: p}", "<text>:3:11: metadata.name is missing"),
        ("{name: small}", "{name: 7}", 'metadata.name must be text, not 7; put it in quotes: "7"'),
        ("{name: small}", "{name: -a}", "metadata.name must be a DNS label"),
        ("{name: small}", "{name: a, nmae: b}", "<text>:3:21: unknown field metadata.nmae; did you mean name?"),
        (
            "{name: small}",
            "{name: a, project: p, labels: {evals.si/project: q}}",
            "metadata.project is 'p' and the label evals.si/project is 'q'; keep one of them",
        ),
        ("{name: small}", "{name: a, labels: {build: 1e5}}", "labels must be text: metadata.labels.build is 1e5"),
        (
            "{name: small}",
            "{name: a, labels: {build: ~}}",
            "labels must be text: metadata.labels.build is ~, which reads as null",
        ),
        ("{name: small}", "{name: a, labels: [x]}", "metadata.labels must be an object, not a list"),
        ("dataset: {path: cases.jsonl}", "datset: {path: a}", "unknown field spec.datset; did you mean dataset?"),
        ("dataset: {path: cases.jsonl}", "trials: 1", "spec.dataset is missing; write dataset: {path: cases.jsonl}"),
        ("evaluators: [exact-match]", "trials: 1", "spec.evaluators is missing; nothing would be scored"),
        ("evaluators: [exact-match]", "evaluators: []", "<text>:7:3: spec.evaluators is empty"),
        ("evaluators: [exact-match]", "evaluators: exact-match", "spec.evaluators must be a list, not the text"),
        ("evaluators: [exact-match]", "evaluators: [3]", "spec.evaluators[0] must be an object (EvaluatorRef), not 3"),
    ],
)
def test_a_mistake_around_the_spec_is_named(before: str, after: str, said: str) -> None:
    text = SMALL.replace(before, after)
    assert text != SMALL
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


@pytest.mark.parametrize(
    ("evaluators", "said"),
    [
        (
            "[exact_match]",
            "<text>:7:16: spec.evaluators[0].ref: unknown evaluator 'exact_match'; did you mean 'exact-match'?",
        ),
        (
            "[{ref: exact-match@9.0.0}]",
            "spec.evaluators[0].ref: exact-match@9.0.0: version 9.0.0 is not installed; 1.0.0 is",
        ),
        ("[{name: a}]", "spec.evaluators[0] names no evaluator; write ref: exact-match"),
        ("[{ref: regex-match}]", "spec.evaluators[0].params: regex-match: Object missing required field `pattern`"),
        (
            "[{ref: contains, params: {substrng: x}}]",
            "<text>:7:41: spec.evaluators[0].params: unknown param of contains 'substrng'; did you mean 'substring'?",
        ),
        ("[{ref: contains, params: {substring: [1]}}]", "spec.evaluators[0].params: contains: "),
        ("[exact-match, exact-match]", "spec.evaluators[1] reports as 'exact-match', as spec.evaluators[0] does"),
        ("[{ref: exact-match, deadline: 0s}]", "spec.evaluators[0].deadline must be above 0, not 0"),
        ("[{ref: exact-match, deadline: 5 parsecs}]", 'must be a duration such as "1.5s" or "5m"'),
        ("[{ref: exact-match, weight: 2}]", "unknown field spec.evaluators[0].weight; known here: ref, params, name"),
        ("[no_such_module.checks:polite]", "unknown module 'no_such_module'"),
        ("[./no_such_file.py:polite]", "unknown file 'no_such_file.py'"),
    ],
)
def test_a_wrong_evaluator_is_named(evaluators: str, said: str) -> None:
    text = SMALL.replace("[exact-match]", evaluators)
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{model: m}", "spec.target says nothing about how to reach it; set one of connector, agent, python, command"),
        ("{connector: openai, model: m}", "spec.target.connector must be one of openai-compatible, anthropic"),
        ("{connector: antropic, model: m}", "did you mean 'anthropic'?"),
        ("{connector: anthropic}", "spec.target names no model"),
        ("{connector: recorded}", "spec.target names no recording"),
        ("{connector: anthropic, model: m, python: a:b}", "spec.target sets connector and python; set exactly one"),
        ("{python: nothing}", "spec.target.python must be module:function or file.py:function, not 'nothing'"),
        ("{command: {}}", "spec.target.command names no program"),
        (
            "{command: {argv: [x], stdin: yaml}}",
            "spec.target.command.stdin must be one of text, json, none, not 'yaml'",
        ),
        (
            "{connector: anthropic, model: m, pricing: {input_per_mtok: 3}}",
            "spec.target.pricing.output_per_mtok is no price, and without it no cost is known; give both",
        ),
        (
            "{connector: anthropic, model: m, pricing: {input_per_mtok: 3, output_per_mtok: 4, free: true}}",
            "spec.target.pricing.free says that the model costs nothing, and prices are given; leave one of them out",
        ),
        ("{command: {argv: [x], output_path: a}}", "reads a path of what is printed; write stdout: json"),
        ("{command: {argv: [x, '{{ reference }}']}}", "the target must not see the right answer"),
        ("{command: {argv: [x], env_from: {A: sk-123}}}", "spec.target.command.env_from.A must be the name of an"),
        ("{agent: {}}", "spec.target.agent sets none of a2a, mcp, responses, http, cli; set exactly one"),
        ("{agent: {http: {}}}", "spec.target.agent.http has no url"),
        ("{agent: {http: {url: 'ftp://x'}}}", "must be an address that begins with http:// or https://"),
        ("{agent: {http: {url: 'https://u:p@x/'}}}", "spec.target.agent.http.url holds a user name or password"),
        ("{agent: {http: {url: 'http://x', method: GRAB}}}", "spec.target.agent.http.method must be one of GET, POST"),
        ("{agent: {mcp: {url: 'http://x'}}}", "spec.target.agent.mcp names no tool"),
        ("{agent: {cli: {}}}", "spec.target.agent.cli names no program"),
        ("{agent: {http: {url: 'http://x'}, mcp: {url: 'http://x', tool: t}}}", "sets mcp and http; set only one of"),
        ("{connector: anthropic, model: m, temperature: 3}", "spec.target.temperature must be at most 2, not 3"),
        (
            "{connector: anthropic, model: m, temperature: hot}",
            "spec.target.temperature must be a number, not the text",
        ),
        ("{connector: anthropic, model: m, temperature: -1}", "spec.target.temperature must be at least 0, not -1"),
        ("{connector: anthropic, model: m, top_p: 0}", "spec.target.top_p must be above 0 and at most 1, not 0"),
        ("{connector: anthropic, model: m, max_tokens: 0}", "spec.target.max_tokens must be at least 1, not 0"),
        ("{connector: anthropic, model: m, maxTokens: -5}", "spec.target.maxTokens must be at least 1, not -5"),
        ("{connector: anthropic, model: m, max_tokens: 1, maxTokens: 2}", "spec.target.maxTokens is given twice"),
        ("{connector: anthropic, model: m, api: chats}", "spec.target.api must be one of chat, completions, responses"),
        (
            "{connector: anthropic, model: m, api_key: sk-1}",
            "unknown field spec.target.api_key; did you mean api_key_env?",
        ),
        ("{connector: anthropic, model: m, timeout: 0}", "spec.target.timeout must be above 0, not 0"),
        ("{connector: anthropic, model: m, timeout: 60s, total_timeout: 1s}", "total_timeout is shorter than timeout"),
        ("{connector: anthropic, model: m, max_retries: -1}", "spec.target.max_retries must be at least 0, not -1"),
        ("{connector: anthropic, model: m, requests_per_minute: 0}", "requests_per_minute must be above 0, not 0"),
        ("{connector: anthropic, model: m, prompt: '{{ reference }}'}", "the target must not see the right answer"),
        (
            "{connector: anthropic, model: m, prompt: '{{ question }}'}",
            "which a question cannot hold; allowed: {{ input }}",
        ),
        ("{connector: anthropic, model: m, prompt: '{{ a|b }}'}", "is no placeholder"),
        (
            "{connector: anthropic, model: m, prompt: a, messages: [{role: user, content: b}]}",
            "and prompt are both given",
        ),
        (
            "{connector: anthropic, model: m, messages: [{role: boss, content: b}]}",
            "role must be one of system, developer",
        ),
        ("{connector: anthropic, model: m, messages: [{content: b}]}", "spec.target.messages[0] has no role"),
        (
            "{connector: anthropic, model: m, few_shot: [{input: a}]}",
            "spec.target.few_shot[0] needs an input and an output",
        ),
        ("{connector: anthropic, model: m, tools: [{name: a}, {name: a}]}", "bears the name 'a' a second time"),
        ("{connector: anthropic, model: m, tools: [{}]}", "spec.target.tools[0] has no name"),
        ("{connector: anthropic, model: m, tool_choice: serch, tools: [{name: search}]}", "did you mean 'search'?"),
        ("{connector: anthropic, model: m, tool_choice: required}", "spec.target.tool_choice needs tools"),
        ("{connector: anthropic, model: m, top_logprobs: 3}", "spec.target.top_logprobs needs logprobs: true"),
        (
            "{connector: anthropic, model: m, thinking: {mode: deep}}",
            "spec.target.thinking.mode must be one of enabled",
        ),
        (
            "{connector: anthropic, model: m, stream: maybe}",
            "spec.target.stream must be true or false, not the text 'maybe'",
        ),
        (
            "{connector: anthropic, model: m, fallbacks: [{connector: anthropic}]}",
            "spec.target.fallbacks[0] names no model",
        ),
        ("{connector: anthropic, model: 4.1}", 'spec.target.model must be text, not 4.1; put it in quotes: "4.1"'),
        ("anthropic", "spec.target must be an object (Target), not the text 'anthropic'"),
    ],
)
def test_a_wrong_target_is_named(target: str, said: str) -> None:
    text = f"{HEAD}spec:\n  target: {target}\n  dataset: {{path: a.jsonl}}\n  evaluators: [exact-match]\n"
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)
    assert all(mistake.startswith("<text>:5:") for mistake in mistakes(text))


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("{}", "spec.dataset names no source; set exactly one of path, uri, inline"),
        ("{path: a, uri: 'hf://b'}", "spec.dataset sets path and uri; set only one of"),
        ("{path: 'hf://b'}", "spec.dataset.path is the address 'hf://b'; write it as uri"),
        ("{uri: cases.jsonl}", "spec.dataset.uri must be an address"),
        ("{inline: {records: []}}", "spec.dataset.inline holds no records"),
        (
            "{inline: {records: [{inptu: a}]}}",
            "unknown field spec.dataset.inline.records[0].inptu; did you mean input?",
        ),
        ("{run: {}}", "spec.dataset.run names no run"),
        ("{catalog: {version: v1}}", "spec.dataset.catalog names no dataset"),
        ("{path: a, limit: 0}", "spec.dataset.limit must be at least 1, not 0; leave it out for no limit"),
        ("{path: a, sample: -2}", "spec.dataset.sample must be at least 1, not -2"),
        ("{path: a, format: jsonlines}", "spec.dataset.format must be one of jsonl, json, csv, tsv, parquet"),
        ("{path: a, where: metadata.topic = 1}", ":6:44: spec.dataset.where: the condition cannot be read"),
        ("{path: a, where: metdata.topic == 1}", ":6:36: spec.dataset.where: unknown variable or function 'metdata'"),
        ("{path: a, where: '1 + 1'}", "spec.dataset.where: the condition '1 + 1' gives INT, not true or false"),
        (
            "{path: a, mapping: {inptu: q}}",
            "spec.dataset.mapping.inptu: unknown record field 'inptu'; did you mean 'input'?",
        ),
        ("{path: a, mapping: {input: 'Q: {'}}", "spec.dataset.mapping.input: "),
        ("{path: a, mapping: {input: 3}}", "spec.dataset.mapping.input must be text, not 3"),
        ("{path: 3}", 'spec.dataset.path must be text, not 3; put it in quotes: "3"'),
        ("{traces: {lookback: 0s}}", "spec.dataset.traces.lookback must be above 0"),
    ],
)
def test_a_wrong_dataset_is_named(dataset: str, said: str) -> None:
    text = SMALL.replace("{path: cases.jsonl}", dataset)
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("trials: 10001", "spec.trials must be at most 10000, not 10001"),
        ("trials: 2.5", "spec.trials must be an integer, not 2.5"),
        ("trials: 99999999999", "spec.trials must fit 32 bits"),
        ("budget: {max_usd: 0}", "spec.budget.max_usd must be above 0, not 0; leave it out for no limit"),
        ("budget: {max_usd: -1}", "spec.budget.max_usd must be above 0, not -1"),
        ("budget: {max_dollars: 1}", "unknown field spec.budget.max_dollars"),
        ("budget: {max_target_tokens: many}", "spec.budget.max_target_tokens must be an integer"),
        ("budget: {max_wall_clock: 0s}", "spec.budget.max_wall_clock must be above 0"),
        ("budget: {max_wall_clock: 5 fortnights}", 'must be a duration such as "1.5s" or "5m"'),
        ("summary: {confidence_level: 95}", "must lie between 0 and 1, not 95; did you mean 0.95?"),
        ("summary: {ci_method: wilson}", "spec.summary.ci_method must be one of auto, bootstrap, not 'wilson'"),
        ("summary: {resamples: -1}", "spec.summary.resamples must be at least 1, not -1"),
        ("on_inconclusive: explode", "spec.on_inconclusive must be one of fail, pass, exit4, not 'explode'"),
        ("sinks: [{}]", "spec.sinks[0] sets none of json, html, markdown, junit, csv, name"),
        ("sinks: [{name: ''}]", "spec.sinks[0] names no sink"),
        ("sinks: [{name: a}, {name: a}]", "spec.sinks[1] is 'a' once more"),
        ("sinks: [{json: a, html: b}]", "spec.sinks[0] sets json and html"),
        ("sinks: [{json: ''}]", "spec.sinks[0] names no file"),
        ("sinks: [{json: a}, {html: a}]", "spec.sinks[1] writes 'a', as spec.sinks[0] does"),
        ("slices: [metadata.]", "spec.slices[0] must be a path such as metadata.topic"),
        ("baseline: latest(main)", "spec.baseline: 'latest(main)' names no run: 'main' is no label"),
        ("judges: {a: {}}", "spec.judges.a names no provider; allowed: openai-compatible, anthropic, recorded"),
        ("judges: {a: {provider: anthropic}}", "spec.judges.a names no model"),
        ("judges: {a: {provider: gpt, model: m}}", "spec.judges.a.provider must be one of"),
        ("judges: {a: {provider: recorded}}", "spec.judges.a names no recording"),
        ("judges: {a: {provider: anthropic, model: m, max_usd: 0}}", "spec.judges.a.max_usd must be above 0"),
        ("judges: {a: {provider: anthropic, model: m, response_format: xml}}", "must be one of json_schema, text"),
        (
            "judges: {a: {provider: anthropic, model: m, base_url: localhost}}",
            "spec.judges.a.base_url must be an address",
        ),
        (
            "judges: {a: {provider: anthropic, model: m, modle: n}}",
            "unknown field spec.judges.a.modle; did you mean model?",
        ),
        ("judge: strict\n  judges: {lenient: {provider: anthropic, model: m}}", "spec.judge must be one of lenient"),
        ("harness: {builtin: {max_step: 3}}", "unknown field spec.harness.builtin.max_step; did you mean max_steps?"),
    ],
)
def test_a_wrong_limit_or_name_is_named(line: str, said: str) -> None:
    assert any(said in mistake for mistake in mistakes(with_lines(line))), mistakes(with_lines(line))


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("{metric: exact-match}", "spec.gates[0] has no threshold; write min, max, max_drop or cel"),
        ("{min: 0.5}", "spec.gates[0]: names no metric; known: exact-match"),
        ("{metric: exact-match, min: 0.9, max: 0.1}", "spec.gates[0].min is above max: 0.9 > 0.1"),
        ("{metric: exact-match, min: 1.5}", "min 1.5 can never pass for a 0..1 metric (the share that passes)"),
        ("{metric: exact-match, max: 90}", "max 90 can never fail for a 0..1 metric"),
        ("{metric: exact-match, max: -1}", "max -1 can never pass for a 0..1 metric"),
        ("{metric: exact-match, min: -1}", "min -1 can never fail for a 0..1 metric"),
        ("{metric: exact-match, stat: ci_low, min: 90}", "min 90 can never pass"),
        ("{metric: exact-match, stat: ERROR_RATE, max: 5}", "can never fail for a error rate"),
        ("{metric: exact-match, stat: mean_, min: 0.5}", "spec.gates[0].stat must be one of mean, ci_low"),
        ("{metric: exact-match, stat: latency_p95, max: 2}", "has no latency_p95; leave the metric out"),
        ("{metric: exact-match, k: 3, min: 0.5}", "spec.gates[0].k belongs to pass_at_k and pass_hat_k"),
        (
            "{metric: exact-match, stat: pass_hat_k, k: 3, min: 0.5}",
            "pass over 3 tries needs 3 trials, and the spec has 1",
        ),
        (
            "{metric: exact-match.pass^3, min: 0.5}",
            "pass over 3 tries needs 3 trials, and the spec has 1; write trials: 3",
        ),
        ("{metric: exact-match.pass@1, min: 50}", "min 50 can never pass for a pass at k"),
        ("{metric: exact-match, max_drop: 0.02}", "compares and names no baseline; write baseline: latest"),
        ("{max_drop: 0.02, baseline: latest}", "spec.gates[0] compares and names no metric"),
        ("{metric: exact-match, max_drop: 2, baseline: latest}", "of 2 can never be exceeded by a 0..1 metric"),
        ("{metric: exact-match, max_drop: -0.1, baseline: latest}", "spec.gates[0].max_drop must be at least 0"),
        (
            "{metric: exact-match, max_drop: 0.1, min: 0.5, baseline: latest}",
            "stands beside min or max; write two gates",
        ),
        ("{metric: exact-match, max_drop: 0.1, stat: ci_low, baseline: latest}", "of a comparison is the mean"),
        ("{metric: exact-match, max_drop: 0.1, significance: 5, baseline: latest}", "did you mean 0.05?"),
        (
            "{metric: exact-match, max_drop: 0.1, baseline: 'latest('}",
            "spec.gates[0].baseline: 'latest(' is no baseline",
        ),
        ("{metric: exact-match, min: 0.5, baseline: latest}", "spec.gates[0].baseline belongs to a comparison"),
        ("{metric: exact-match, min: high}", "spec.gates[0].min must be a number, not the text 'high'"),
        ("{metric: exact-match, mim: 0.5}", "unknown field spec.gates[0].mim; did you mean min?"),
        ("{cel: run.costUsd < 2, min: 0.5}", "spec.gates[0].cel stands beside min"),
        ("{metric: nothing-like-it, min: 0.5}", "no evaluator makes the metric 'nothing-like-it'; known: exact-match"),
        ("3", "spec.gates[0] must be an object (Gate), not 3"),
    ],
)
def test_a_wrong_gate_is_named(gate: str, said: str) -> None:
    text = with_lines("gates:", f"  - {gate}")
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)
    assert all(mistake.startswith("<text>:9:") for mistake in mistakes(text))


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (
            "metric('exact_match').mean > 0.5",
            ":9:8: spec.gates[0].cel: no evaluator makes the metric 'exact_match'; did you",
        ),
        ("metric('exact-match').meen > 0.5", ":9:30: spec.gates[0].cel: unknown figure 'meen'; did you mean 'mean'?"),
        ("metric('exact-match').mean > 'a'", ":9:35: spec.gates[0].cel: '>' does not take (double, string)"),
        ("metric('exact-match').mean >", ":9:36: spec.gates[0].cel: syntax error: it ends too early"),
        ("metric('exact-match').passHatK(3) > 0.5", ":9:8: spec.gates[0].cel: pass over 3 tries needs 3 trials"),
        ("baseline.metric('exact-match').mean > 0.5", ":9:8: spec.gates[0].cel: the spec names no baseline"),
        ("1 == 1", ":9:8: spec.gates[0].cel: the condition reads no figure of the run"),
        ("run.costs < 2", "unknown figure 'costs'; did you mean 'costUsd'?"),
        ("run.errorRate", "the condition gives DOUBLE, not true or false"),
    ],
)
def test_a_wrong_condition_is_named_with_the_place_inside_it(condition: str, said: str) -> None:
    text = with_lines("gates:", f'  - "{condition}"')
    assert any(said in mistake for mistake in mistakes(text)), mistakes(text)


def test_the_place_within_a_folded_condition_is_told_in_words() -> None:
    text = with_lines("gates:", "  - >-", "    metric('exact-match').mean > 0.5 &&", "    run.nothing < 2")
    (said,) = mistakes(text)
    assert said.startswith(
        "<text>:9:7: spec.gates[0].cel: unknown figure 'nothing' (line 1, column 41 of the condition)"
    )


def test_a_gate_on_an_evaluator_without_declared_outputs_is_believed() -> None:
    text = SMALL.replace("[exact-match]", "[tests.run.spec.checks:undeclared]")
    gates = "  gates: [{metric: undeclared, min: 90}, {metric: undeclared.part, min: 3}]\n"
    assert mistakes(text + gates) == []


def test_labels_of_a_metric_have_no_mean() -> None:
    text = SMALL.replace("[exact-match]", "[tests.run.spec.checks:mood]") + "  gates: [{metric: mood, min: 0.5}]\n"
    assert "gives a label, which has no mean" in mistakes(text)[0]


def test_pass_at_k_needs_a_verdict() -> None:
    text = SMALL.replace("[exact-match]", "[fuzzy-match]")
    text += "  trials: 3\n  gates: [{metric: fuzzy-match, stat: pass_at_k, k: 2, min: 0.5}]\n"
    assert "fuzzy-match gives a number, and only a verdict passes or fails" in mistakes(text)[0]


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file() -> None:
    text = (
        "apiVersion: evals.si/v2\nkind: evalrun\nmetadata: {name: My Run, labels: {a: no}}\nspec:\n"
        "  target: {connector: antropic, modell: m}\n  dataset: {path: a, limit: 0}\n"
        "  evaluators: [exact_match, contains]\n  trials: 0\n  trials: 2\n  gates:\n    - {metric: contains, min: 90}\n"
        "    - \"metric('contains').mean >\"\n  budget: {max_usd: -1}\n"
    )
    found = mistakes(text)
    lines = [int(mistake.split(":")[1]) for mistake in found]
    assert lines == sorted(lines)
    assert set(lines) == {1, 2, 3, 5, 6, 7, 8, 9, 11, 12, 13}


def test_a_value_of_the_wrong_type_is_one_mistake() -> None:
    target = SMALL.replace("model: m-1", "model: m-1, max_tokens: fifty, timeout: soon")
    assert len(mistakes(target)) == 2
    judges = "judges: {j: {provider: anthropic, model: m, max_tokens: many}}"
    (found,) = mistakes(with_lines(judges))
    assert "spec.judges.j.max_tokens must be an integer, not the text 'many'" in found


def test_a_file_full_of_mistakes_is_cut_short_and_says_so() -> None:
    found = mistakes(with_lines(*(f"x{number}: 1" for number in range(90))))
    assert len(found) == 51
    assert found[-1] == "<text>: at least 40 more mistakes are not listed"


def test_a_secret_that_stands_where_a_name_belongs_is_not_repeated() -> None:
    text = SMALL.replace("model: m-1", "model: m-1, api_key_env: sk-abc-123")
    (said,) = mistakes(text)
    assert "must be the name of an environment variable" in said
    assert "sk-abc" not in said


def test_what_was_said_of_a_field_is_not_said_again_in_other_words() -> None:
    assert len(mistakes(SMALL.replace("[exact-match]", "exact-match"))) == 1
    assert len(mistakes(with_lines("trials: three"))) == 1
    assert len(mistakes(SMALL.replace("{path: cases.jsonl}", "{path: 3}"))) == 1
    assert len(mistakes(SMALL.replace("connector: openai-compatible", "connector: 3"))) == 1
