"""From the words of a spec to a target that can be asked. Everything that is wrong with them is said here, before any call."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.address_fence import AddressFence
from evalsi.core.canonical import digest
from evalsi.core.errors import InvalidSpecError, NotFoundError, UnknownNameError, UsageError, suggestion
from evalsi.core.python_module import load_module
from evalsi.documents.named_outside import about_field
from evalsi.documents.placed_tree import below
from evalsi.infra.models.endpoint import Access, Endpoint
from evalsi.infra.models.limits import LimiterPool, Limits
from evalsi.infra.models.retries import RetryPolicy
from evalsi.infra.targets.json_path import JsonPath
from evalsi.infra.targets.questions import Conversation, address, json_body
from evalsi.ports.chat_model import ChatRequest, ReachableModel, Thinking, Tool
from evalsi.ports.target import Target
from evalsi.schema import CommandTarget as CommandSpec
from evalsi.schema import HTTPAgent
from evalsi.schema import Target as TargetSpec

CONNECTORS = ("openai-compatible", "anthropic", "recorded", "none")
APIS = ("chat", "completions", "responses")
DEFAULT_BODY = '{"input": {{ input }}}'
DEFAULT_CONCURRENCY = 1024
DEFAULT_PROGRAMS = 8
_CHOICES = {"stdin": ("text", "json", "none"), "stdout": ("text", "json", "jsonl")}
_MODEL_SETTINGS = (
    "system_prompt",
    "prompt",
    "messages",
    "few_shot",
    "tools",
    "tool_choice",
    "max_tokens",
    "temperature",
    "top_p",
    "effort",
    "thinking",
    "json_mode",
    "response_schema",
    "logprobs",
    "top_logprobs",
    "seed",
    "stop",
    "extra_body",
)
"""Fields of a spec that decide a model's answers, and so belong to its identity."""


def _no_key(_variable: str, _url: str) -> str:
    return ""


def _no_secret(name: str) -> str:
    raise UsageError(f"the environment variable {name} is not set")


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a target needs of the world around a spec.

    Args:
        secret: The value of an environment variable; raises UsageError when it is not set.
        unnamed_key: A provider's usual key, by its variable, for an address that comes without one; "" for none.
        environment: Where a program under evaluation gets PATH, HOME and the like.
        folder: What relative paths of the spec are relative to.
        proxy: Address of an HTTP proxy; "" connects directly.
        pool: Rate limits shared with judges and other targets of the process.
        fence: Where addresses of the spec may lead; None for anywhere.
        concurrency: Questions that will be in flight at once; the default bound of a provider is never below it.
    """

    secret: Callable[[str], str] = _no_secret
    unnamed_key: Callable[[str, str], str] = _no_key
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    folder: Path = field(default_factory=Path)
    proxy: str = field(default="", repr=False)
    ca_file: str | None = None
    pool: LimiterPool = field(default_factory=LimiterPool)
    fence: AddressFence | None = None
    concurrency: int = 1


def make_target(spec: TargetSpec | None, around: Surroundings, *, where: str = "target") -> Target:
    """The target that a spec describes; None is the one whose outputs are in the dataset.

    Raises: EvalsiError: whatever is wrong with the spec, with its field path. Nothing has been asked then.
    """
    if spec is None:
        from evalsi.infra.targets.dataset_target import DatasetTarget

        return DatasetTarget()
    made = _make_one(spec, around, where)
    if not spec.fallbacks:
        return made
    from evalsi.infra.targets.fallback_target import DEFAULT_FAILURES, FallbackTarget

    others = [
        make_target(other, around, where=f"{where}.fallbacks[{position}]")
        for position, other in enumerate(spec.fallbacks)
    ]
    return FallbackTarget([made, *others], failures=spec.fallback_after or DEFAULT_FAILURES)


def _make_one(spec: TargetSpec, around: Surroundings, where: str) -> Target:
    ways = {"connector": spec.connector, "agent": spec.agent, "python": spec.python, "command": spec.command}
    named = [name for name, value in ways.items() if value]
    if len(named) != 1:
        raise InvalidSpecError(
            f"{' and '.join(named)} are both set" if named else "nothing says what to ask",
            where=where,
            hint="set exactly one of connector, agent, python and command",
        )
    if spec.python:
        return _python(spec, around, where)
    if spec.command is not None:
        return _command(spec, spec.command, around, where)
    if spec.agent is not None:
        return _agent(spec, around, where)
    match spec.connector:
        case "openai-compatible" | "anthropic":
            return _model(spec, around, where)
        case "recorded":
            from evalsi.infra.targets.recorded_target import RecordedTarget

            if not spec.recording:
                raise InvalidSpecError("a recorded target needs its recording", where=f"{where}.recording")
            with about_field(f"{where}.recording"):
                return RecordedTarget(around.folder / spec.recording)
        case "none":
            return make_target(None, around)
        case _:
            raise UnknownNameError("connector", spec.connector, CONNECTORS, where=f"{where}.connector")


# --- Models ----------------------------------------------------------------------------------------------------------


def _model(spec: TargetSpec, around: Surroundings, where: str) -> Target:
    from evalsi.infra.targets.chat_target import ChatTarget

    if not spec.model:
        raise InvalidSpecError("no model was named", where=f"{where}.model")
    _check_model_settings(spec, where)
    anthropic = spec.connector == "anthropic"
    base_url = spec.base_url or _default_base_url(spec.connector)
    access = _access(spec, around, base_url, where=where, key=_key(spec, around, where))
    model = _anthropic(access, spec, around) if anthropic else _openai(access, spec, around)
    conversation = Conversation(spec, where=where)
    api = spec.api or "chat"
    plain: dict[str, Any] = msgspec.to_builtins(spec)
    identity: dict[str, Any] = {
        "connector": spec.connector,
        "address": base_url,
        "model": spec.model,
        "api": "messages" if anthropic else api,
        **{name: plain[name] for name in _MODEL_SETTINGS if name in plain},
    }
    return ChatTarget(
        model, _request(spec), conversation, identity=identity, capabilities=_model_capabilities(spec, api)
    )


def _model_capabilities(spec: TargetSpec, api: str) -> frozenset[str]:
    anthropic = spec.connector == "anthropic"
    offered = {
        "usage": True,
        "messages": anthropic or api != "completions",
        "tools": anthropic or api != "completions",
        "json": anthropic or api != "completions",
        "seed": not anthropic and api != "responses",
        "logprobs": spec.logprobs or spec.top_logprobs > 0,
        "streaming": spec.stream,
    }
    return frozenset(name for name, is_offered in offered.items() if is_offered)


def _check_model_settings(spec: TargetSpec, where: str) -> None:
    """Raises InvalidSpecError for what the protocol cannot do: measured would be something else than was asked for."""
    if spec.api and spec.api not in APIS:
        raise UnknownNameError("api", spec.api, APIS, where=f"{where}.api")
    if spec.connector == "anthropic":
        if spec.api not in ("", "chat"):
            raise InvalidSpecError(f"anthropic has no {spec.api} protocol", where=f"{where}.api", hint="leave it out")
        protocol, lacking = "anthropic", ("seed", "logprobs", "top_logprobs", "json_mode")
        if spec.tools and spec.response_schema:
            raise InvalidSpecError(
                "anthropic enforces a response schema by a tool, so that it cannot be had beside tools",
                where=f"{where}.response_schema",
            )
    elif spec.api == "completions":
        protocol = "the completions protocol"
        lacking = ("tools", "tool_choice", "json_mode", "response_schema", "thinking", "effort")
    elif spec.api == "responses":
        protocol, lacking = "the responses protocol", ("seed", "stop", "thinking")
    else:
        return
    for name in lacking:
        value: Any = getattr(spec, name)
        if value or (name == "seed" and value is not None):
            hint = "use response_schema" if name == "json_mode" and protocol == "anthropic" else "leave it out"
            raise InvalidSpecError(f"{protocol} has no {name}", where=f"{where}.{name}", hint=hint)


def _request(spec: TargetSpec) -> ChatRequest:
    thinking = spec.thinking
    return ChatRequest(
        model=spec.model,
        messages=(),
        max_tokens=spec.max_tokens or None,
        temperature=spec.temperature,
        top_p=spec.top_p,
        seed=spec.seed,
        effort=spec.effort or None,
        response_schema=spec.response_schema or None,
        top_logprobs=spec.top_logprobs,
        logprobs=spec.logprobs,
        json_mode=spec.json_mode,
        stop=tuple(spec.stop),
        tools=tuple(
            Tool(name=tool.name, description=tool.description, parameters=tool.parameters, strict=tool.strict)
            for tool in spec.tools
        ),
        tool_choice=spec.tool_choice,
        thinking=None
        if thinking is None
        else Thinking(mode=thinking.mode or "enabled", budget_tokens=thinking.budget_tokens or None),
        extra=spec.extra_body,
    )


def _default_base_url(connector: str) -> str:
    if connector == "anthropic":
        from evalsi.infra.models.anthropic import DEFAULT_BASE_URL
    else:
        from evalsi.infra.models.openai import DEFAULT_BASE_URL
    return DEFAULT_BASE_URL


def _openai(access: Access, spec: TargetSpec, around: Surroundings) -> ReachableModel:
    from evalsi.infra.models.openai import OpenAICompatibleModel
    from evalsi.infra.models.openai_completions import OpenAICompletionsModel
    from evalsi.infra.models.openai_responses import OpenAIResponsesModel

    kinds = {"completions": OpenAICompletionsModel, "responses": OpenAIResponsesModel}
    return kinds.get(spec.api, OpenAICompatibleModel)(access, pool=around.pool, stream=spec.stream)


def _anthropic(access: Access, spec: TargetSpec, around: Surroundings) -> ReachableModel:
    from evalsi.infra.models.anthropic import AnthropicModel

    return AnthropicModel(access, pool=around.pool, stream=spec.stream)


def _key(spec: TargetSpec, around: Surroundings, where: str) -> str | None:
    """A variable that is named must be set; the provider's usual one must be too, except for a server of one's own."""
    if spec.api_key_env:
        with about_field(f"{where}.api_key_env"):
            return around.secret(spec.api_key_env)
    usual = "ANTHROPIC_API_KEY" if spec.connector == "anthropic" else "OPENAI_API_KEY"
    return around.unnamed_key(usual, spec.base_url) if spec.base_url else around.secret(usual)


def _access(
    spec: TargetSpec,
    around: Surroundings,
    base_url: str,
    *,
    where: str,
    key: str | None,
    timeout_s: float | None = None,
) -> Access:
    usual = RetryPolicy()
    attempt_s = timeout_s or spec.timeout or usual.attempt_s
    retries = RetryPolicy(
        attempts=usual.attempts if spec.max_retries is None else spec.max_retries + 1,
        attempt_s=attempt_s,
        deadline_s=spec.total_timeout or max(usual.deadline_s, attempt_s),
    )
    limits = Limits(
        requests_per_minute=spec.requests_per_minute or None,
        tokens_per_minute=spec.tokens_per_minute or None,
        max_concurrency=spec.max_concurrency or max(DEFAULT_CONCURRENCY, around.concurrency),
    )
    headers = _secrets(spec.headers_env, around, f"{where}.headers_env")
    with about_field(f"{where}.base_url"):
        return Access(
            base_url=base_url,
            api_key=key or None,
            limits=limits,
            retries=retries,
            proxy=around.proxy or None,
            ca_file=around.ca_file,
            headers=headers,
            secrets=tuple(headers.values()),
            fence=around.fence,
        )


def _secrets(variables: Mapping[str, str], around: Surroundings, where: str) -> dict[str, str]:
    """The values of environment variables, by what they are for."""
    found: dict[str, str] = {}
    for name, variable in variables.items():
        with about_field(below(where, name)):
            found[name] = around.secret(variable)
    return found


# --- Agents ----------------------------------------------------------------------------------------------------------


def _agent(spec: TargetSpec, around: Surroundings, where: str) -> Target:
    agent = spec.agent
    assert agent is not None
    if agent.http is not None:
        return _http(spec, agent.http, around, f"{where}.agent.http")
    if agent.responses is not None:
        found = agent.responses
        as_model = msgspec.structs.replace(
            spec,
            agent=None,
            connector="openai-compatible",
            api="responses",
            model=found.model,
            base_url=found.base_url,
            api_key_env=found.api_key_env,
            timeout=found.timeout or spec.timeout,
        )
        return _model(as_model, around, f"{where}.agent.responses")
    if agent.cli is not None:
        found = agent.cli
        if found.install or found.allow_hosts:
            raise InvalidSpecError(
                "install and allow_hosts need a sandbox around the agent, which a run has not yet",
                where=f"{where}.agent.cli",
                hint="install the program beforehand",
            )
        formats = {"": "text", "text": "text", "json": "json", "jsonl": "jsonl", "stream-json": "jsonl"}
        if found.output_format not in formats:
            raise UnknownNameError(
                "output format", found.output_format, formats, where=f"{where}.agent.cli.output_format"
            )
        command = CommandSpec(argv=found.command, stdout=formats[found.output_format], env_from=found.env_from)
        whole = msgspec.structs.replace(spec, timeout=found.timeout or spec.timeout)
        return _command(whole, command, around, f"{where}.agent.cli")
    unsupported = next((name for name in ("a2a", "mcp") if getattr(agent, name) is not None), "")
    raise InvalidSpecError(
        f"agents behind {unsupported} cannot be asked yet" if unsupported else "nothing says how the agent is reached",
        where=f"{where}.agent",
        hint="use http, responses or cli",
    )


def _http(spec: TargetSpec, agent: HTTPAgent, around: Surroundings, where: str) -> Target:
    from evalsi.infra.targets.http_target import AnswerPaths, HttpQuestion, HttpTarget

    method = (agent.method or "POST").upper()
    if method not in ("GET", "POST", "PUT", "PATCH"):
        raise UnknownNameError("method", agent.method, ("GET", "POST", "PUT", "PATCH"), where=f"{where}.method")
    if agent.delta_path and not agent.stream:
        raise InvalidSpecError("delta_path is for streams", where=f"{where}.delta_path", hint="add stream: true")
    if method == "GET" and agent.body_template:
        raise InvalidSpecError("a GET has no body", where=f"{where}.body_template", hint="put {{ input }} into the url")
    url = address(agent.url, where=f"{where}.url")
    secrets = _secrets(agent.headers_env, around, f"{where}.headers_env")
    # What is checked is the fixed part; places are behind the host.
    access = _access(spec, around, agent.url, where=where, key=None, timeout_s=agent.timeout)
    access = _with_headers(access, {**agent.headers, **secrets}, tuple(secrets.values()))
    endpoint = Endpoint(access, provider="http", path="", headers={}, pool=around.pool)
    body = None
    if method != "GET":
        body = json_body(agent.body_template or DEFAULT_BODY, where=f"{where}.body_template")
    paths = AnswerPaths(
        output=JsonPath(agent.output_path, where=f"{where}.output_path"),
        messages=JsonPath(agent.messages_path, where=f"{where}.messages_path"),
        usage=JsonPath(agent.usage_path, where=f"{where}.usage_path"),
        trajectory=JsonPath(agent.trajectory_path, where=f"{where}.trajectory_path"),
        stop_reason=JsonPath(agent.stop_reason_path, where=f"{where}.stop_reason_path"),
        delta=JsonPath(agent.delta_path, where=f"{where}.delta_path"),
    )
    question = HttpQuestion(
        method=method, url=url, body=body, paths=paths, stream=agent.stream, name=spec.name or spec.model or "http"
    )
    plain: dict[str, Any] = msgspec.to_builtins(agent)
    settings = {name: value for name, value in plain.items() if name not in ("url", "timeout", "headers_env")}
    identity = {"connector": "http", "address": agent.url, **settings}
    return HttpTarget(endpoint, question, identity=identity)


def _with_headers(access: Access, headers: Mapping[str, str], secrets: tuple[str, ...]) -> Access:
    from dataclasses import replace

    return replace(access, headers={**access.headers, **headers}, secrets=(*access.secrets, *secrets))


# --- What runs on this machine ---------------------------------------------------------------------------------------


def _python(spec: TargetSpec, around: Surroundings, where: str) -> Target:
    from evalsi.infra.targets.python_target import DEFAULT_DEADLINE_S, DEFAULT_THREADS, PythonCall, PythonTarget

    place, _, name = spec.python.rpartition(":")
    if not place or not name:
        raise InvalidSpecError(
            f"{spec.python!r} names no callable",
            where=f"{where}.python",
            hint="write it as module:function or file.py:function",
        )
    with about_field(f"{where}.python"):
        module = load_module(place, folder=around.folder)
    function: Any = module
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        known = [each for each in dir(module) if callable(getattr(module, each)) and not each.startswith("_")]
        raise InvalidSpecError(
            f"{place} has no callable {name!r}", where=f"{where}.python", hint=suggestion(name, known)
        )
    call = PythonCall(
        function=function,
        reference=spec.python,
        config=dict(spec.config),
        deadline_s=spec.timeout or spec.total_timeout or DEFAULT_DEADLINE_S,
        concurrency=spec.max_concurrency or _default_calls(function, DEFAULT_THREADS),
    )
    plain: dict[str, Any] = msgspec.to_builtins(spec)
    settings = {key: plain[key] for key in ("prompt", "messages", "few_shot", "system_prompt", "seed") if key in plain}
    identity = {
        "connector": "python",
        "model": spec.python,
        "source": _source_digest(module),
        "config": plain.get("config", {}),
        **settings,
    }
    return PythonTarget(call, Conversation(spec, where=where), identity=identity)


def _default_calls(function: Any, threads: int) -> int:
    return DEFAULT_CONCURRENCY if inspect.iscoroutinefunction(function) else threads


def _source_digest(module: Any) -> str:
    """Digest of the module's file, so that an edited callable is another target; "" where there is no file."""
    try:
        content = Path(str(module.__file__)).read_bytes()
    except (AttributeError, OSError):
        return ""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _command(spec: TargetSpec, command: CommandSpec, around: Surroundings, where: str) -> Target:
    from evalsi.infra.targets.command_target import DEFAULT_DEADLINE_S, PASSED_VARIABLES, CommandTarget, Program

    place = where if where.endswith(".cli") else f"{where}.command"
    chosen: dict[str, Any] = {}
    for name, allowed in _CHOICES.items():
        value: str = getattr(command, name) or "text"
        if value not in allowed:
            raise UnknownNameError(name, value, allowed, where=f"{place}.{name}")
        chosen[name] = value
    if chosen["stdout"] == "text" and (command.output_path or command.usage_path):
        raise InvalidSpecError("paths are for a program that prints JSON", where=place, hint="add stdout: json")
    handed = _secrets(command.env_from, around, f"{place}.env_from")
    passed = {name: around.environment[name] for name in PASSED_VARIABLES if name in around.environment}
    program = Program(
        argv=tuple(command.argv),
        stdin=chosen["stdin"],
        stdout=chosen["stdout"],
        output_path=JsonPath(command.output_path, where=f"{place}.output_path"),
        usage_path=JsonPath(command.usage_path, where=f"{place}.usage_path"),
        folder=around.folder / command.workdir,
        environment={**passed, **handed},
        secrets=tuple(value for value in handed.values() if len(value) >= 4),
        deadline_s=spec.timeout or spec.total_timeout or DEFAULT_DEADLINE_S,
        concurrency=spec.max_concurrency or DEFAULT_PROGRAMS,
    )
    plain: dict[str, Any] = msgspec.to_builtins(spec)
    settings = {key: plain[key] for key in ("prompt", "messages", "few_shot", "system_prompt") if key in plain}
    identity = {
        "connector": "command",
        "model": " ".join(command.argv[:1]),
        "command": digest(msgspec.structs.replace(command, env_from={})),
        "variables": sorted(command.env_from),
        **settings,
    }
    named = f"{place}.argv[0]" if place.endswith(".command") else f"{place}.command[0]"
    with about_field(place):
        target = CommandTarget(program, Conversation(spec, where=where), identity=identity)
        if target.lacks_folder:
            raise NotFoundError(target.lacks_folder, where=f"{place}.workdir")
        if target.lacks_program:
            raise NotFoundError(target.lacks_program, where=named)
        return target
