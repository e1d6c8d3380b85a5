"""The flags that name a judge, shared by every command that may ask one."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--judge-provider",
        type=click.Choice(["openai-compatible", "anthropic", "recorded"]),
        help="Which kind of API the judge speaks; `recorded` answers from a file.",
    ),
    click.option("--judge-model", metavar="NAME", help="The model that judges. There is no default."),
    click.option("--judge-base-url", metavar="URL", help="Address of its API, e.g. http://127.0.0.1:8000/v1."),
    click.option("--judge-api-key-env", metavar="VAR", help="Environment variable that holds the API key."),
    click.option("--judge-effort", metavar="WORD", help="Reasoning effort, in the provider's words."),
    click.option("--judge-max-tokens", type=click.IntRange(min=1), metavar="N", help="Longest reply, in tokens."),
    click.option("--judge-recording", metavar="FILE", help="For `recorded`: the recorded replies."),
    click.option(
        "--judge-max-usd", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="Budget of this run."
    ),
    click.option("--no-cache", is_flag=True, help="Ask again, even where a reply was paid for before."),
)


def judge_options(command: F) -> F:
    """Adds the flags to a command; it receives them as `judge_…` and `no_cache`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def judge_choice_of(flags: Mapping[str, Any]) -> Any:
    """The judge that these flags name."""
    from evalsi.score.request import JudgeChoice

    return JudgeChoice(
        provider=flags["judge_provider"] or "",
        model=flags["judge_model"] or "",
        base_url=flags["judge_base_url"] or "",
        api_key_env=flags["judge_api_key_env"] or "",
        effort=flags["judge_effort"] or "",
        max_tokens=flags["judge_max_tokens"],
        recording=flags["judge_recording"] or "",
        max_usd=flags["judge_max_usd"],
    )
