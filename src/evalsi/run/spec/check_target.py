"""The checks of who is asked: one way in, words that exist, numbers that make sense. Nothing is reached for."""

import re
from collections.abc import Collection

from evalsi.core.errors import EvalsiError
from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.judges.prompt import Template
from evalsi.schema import AgentTarget, CommandTarget, Pricing, RunSpec, Target

__all__ = ["CONNECTORS", "check_target"]

CONNECTORS = ("openai-compatible", "anthropic", "recorded", "none")
APIS = ("chat", "completions", "responses")
ROLES = ("system", "developer", "user", "assistant", "tool")
VISIBLE = ("id", "input", "context", "metadata")
"""Fields of a record that a question may name; the reference is not among them."""
_CALLABLE = re.compile(r"(.+\.py|[A-Za-z_][\w.]*):[A-Za-z_]\w*(\.\w+)*\Z")
_MOST_TEMPERATURE = 2.0


def check_target(tree: PlacedTree, spec: RunSpec, wrong: Collection[str]) -> None:
    """Notes what is wrong with `spec.target` and its fallbacks."""
    if spec.target is not None:
        _check(Part(tree, "spec.target", wrong), spec.target)


def _check(part: Part, target: Target) -> None:
    _check_way(part, target)
    part.one_of("api", target.api, APIS)
    part.variable_name("api_key_env", target.api_key_env)
    part.web_address("base_url", target.base_url)
    for header, name in target.headers_env.items():
        part.variable_name(f"headers_env.{header}", name)
    _check_sampling(part, target)
    _check_limits(part, target)
    _check_messages(part, target)
    names = [tool.name for tool in target.tools]
    for index, tool in enumerate(target.tools):
        if not tool.name:
            part.below(f"tools[{index}]").say("", "has no name")
        elif tool.name in names[:index]:
            part.below(f"tools[{index}]").say("", f"bears the name {tool.name!r} a second time")
    if target.tool_choice and not part.one_of("tool_choice", target.tool_choice, ("auto", "none", "required", *names)):
        pass
    elif target.tool_choice in ("required", *names) and not names:
        part.say("tool_choice", "needs tools to choose from")
    if target.top_logprobs and not target.logprobs:
        part.say("top_logprobs", "needs logprobs: true")
    if target.thinking is not None:
        part.one_of("thinking.mode", target.thinking.mode, ("enabled", "adaptive", "disabled"))
        part.at_least("thinking.budget_tokens", target.thinking.budget_tokens, 1)
    for index, fallback in enumerate(target.fallbacks):
        _check(part.below(f"fallbacks[{index}]"), fallback)


def _check_way(part: Part, target: Target) -> None:
    ways = {
        "connector": bool(target.connector),
        "agent": target.agent is not None,
        "python": bool(target.python),
        "command": target.command is not None,
    }
    given = [name for name, is_given in ways.items() if is_given]
    if not given and not any(part.at(name) in part.wrong or part.tree.has(part.at(name)) for name in ways):
        part.say(
            "",
            "says nothing about how to reach it",
            f"set one of {', '.join(ways)}; connectors: {', '.join(CONNECTORS)}",
        )
    elif len(given) > 1:
        part.say("", f"sets {' and '.join(given)}", "set exactly one of them")
    if target.connector and part.one_of("connector", target.connector, CONNECTORS):
        if target.connector in ("openai-compatible", "anthropic") and not target.model:
            part.say("", "names no model", "write model: and the name that the provider uses")
        if target.connector == "recorded" and not target.recording:
            part.say("", "names no recording", "write recording: and the file of recorded answers")
    if target.python and not _CALLABLE.match(target.python):
        part.say("python", f"must be module:function or file.py:function, not {target.python!r}")
    if target.command is not None:
        _check_command(part.below("command"), target.command)
    if target.agent is not None:
        _check_agent(part.below("agent"), target.agent)


def _check_command(part: Part, command: CommandTarget) -> None:
    if not command.argv or not command.argv[0]:
        part.say("", "names no program", "write argv: [program, argument, …]")
    part.one_of("stdin", command.stdin, ("text", "json", "none"))
    part.one_of("stdout", command.stdout, ("text", "json", "jsonl"))
    if (command.output_path or command.usage_path) and command.stdout not in ("json", "jsonl"):
        part.say("", "reads a path of what is printed", "write stdout: json")
    for index, argument in enumerate(command.argv):
        _check_template(part, f"argv[{index}]", argument)
    for inner, name in command.env_from.items():
        part.variable_name(f"env_from.{inner}", name)


def _check_agent(part: Part, agent: AgentTarget) -> None:
    for name, address in (
        ("a2a", agent.a2a.url if agent.a2a is not None else None),
        ("mcp", agent.mcp.url if agent.mcp is not None else None),
        ("http", agent.http.url if agent.http is not None else None),
    ):
        if address is None:
            continue
        here = part.below(name)
        if not address:
            here.say("", "has no url", "write the address of the agent")
        here.web_address("url", address)
    for name, agent_kind in (("a2a", agent.a2a), ("mcp", agent.mcp), ("http", agent.http)):
        for header, variable in (agent_kind.headers_env if agent_kind is not None else {}).items():
            part.below(name).variable_name(f"headers_env.{header}", variable)
    if agent.http is not None:
        part.below("http").one_of("method", agent.http.method.upper(), ("GET", "POST", "PUT", "PATCH"))
        part.below("http").at_least("timeout", agent.http.timeout, 0, beyond=True)
    if agent.mcp is not None and not agent.mcp.tool:
        part.below("mcp").say("", "names no tool", "write tool: and the name of the tool that answers")
    if agent.cli is not None and not agent.cli.command:
        part.below("cli").say("", "names no program", "write command: [program, argument, …]")


def _check_sampling(part: Part, target: Target) -> None:
    part.at_least("max_tokens", target.max_tokens, 1)
    part.at_least("temperature", target.temperature, 0)
    if target.temperature is not None and target.temperature > _MOST_TEMPERATURE:
        part.say("temperature", f"must be at most {_MOST_TEMPERATURE:g}, not {target.temperature:g}")
    if target.top_p is not None and not 0 < target.top_p <= 1:
        part.say("top_p", f"must be above 0 and at most 1, not {target.top_p:g}")
    part.at_least("top_logprobs", target.top_logprobs, 0)


def _check_limits(part: Part, target: Target) -> None:
    part.at_least("max_concurrency", target.max_concurrency, 1)
    part.at_least("requests_per_minute", target.requests_per_minute, 0, beyond=True)
    part.at_least("tokens_per_minute", target.tokens_per_minute, 0, beyond=True)
    part.at_least("max_retries", target.max_retries, 0)
    part.at_least("timeout", target.timeout, 0, beyond=True)
    part.at_least("total_timeout", target.total_timeout, 0, beyond=True)
    part.at_least("fallback_after", target.fallback_after, 1)
    if target.timeout and target.total_timeout and target.total_timeout < target.timeout:
        part.say("total_timeout", f"is shorter than timeout ({target.timeout:g} s)")
    if target.pricing is not None:
        part.at_least("pricing.input_per_mtok", target.pricing.input_per_mtok, 0)
        part.at_least("pricing.output_per_mtok", target.pricing.output_per_mtok, 0)
        _check_prices(part, target.pricing)


def _check_prices(part: Part, pricing: Pricing) -> None:
    """Both prices or none: half of what an answer costs is no cost, and what is free has no price."""
    if pricing.free and (pricing.input_per_mtok or pricing.output_per_mtok):
        part.say("pricing.free", "says that the model costs nothing, and prices are given", "leave one of them out")
        return
    prices = {"input_per_mtok": pricing.input_per_mtok, "output_per_mtok": pricing.output_per_mtok}
    missing = [name for name, price in prices.items() if not price and part.at(f"pricing.{name}") not in part.wrong]
    if len(missing) == 1 and all(price >= 0 for price in prices.values()):
        part.say(
            f"pricing.{missing[0]}",
            "is no price, and without it no cost is known",
            "give both, in US dollars per million tokens",
        )


def _check_messages(part: Part, target: Target) -> None:
    if target.prompt and target.messages:
        part.say("messages", "and prompt are both given", "keep one of them")
    _check_template(part, "prompt", target.prompt)
    for index, message in enumerate(target.messages):
        here = part.below(f"messages[{index}]")
        here.one_of("role", message.role, ROLES)
        if not message.role:
            here.say("", "has no role", f"write role: user; allowed: {', '.join(ROLES)}")
        _check_template(here, "content", message.content)
    for index, example in enumerate(target.few_shot):
        if not (example.input and example.output):
            part.below(f"few_shot[{index}]").say("", "needs an input and an output")


def _check_template(part: Part, name: str, text: str) -> None:
    """Places may only name what a target is allowed to see."""
    if "{{" not in text:
        return
    try:
        variables = Template(name="question", version="1", user=text).variables
    except EvalsiError as error:
        part.tree.add(part.at(name), f"{part.at(name)}: {error.message}", hint=error.hint)
        return
    for variable in sorted(variables):
        if variable.split(".")[0] not in VISIBLE:
            hidden = variable.split(".")[0] in ("reference", "output", "expected")
            why = ": the target must not see the right answer" if hidden else ""
            part.say(
                name,
                f"names {{{{ {variable} }}}}, which a question cannot hold{why}",
                "allowed: {{ input }}, {{ context }}, {{ id }}, {{ metadata.NAME }}",
            )
