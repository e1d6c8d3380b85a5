"""The checks of judges: known providers, names of variables, and that whoever is named exists."""

from collections.abc import Collection

from evalsi.documents.part import Part
from evalsi.documents.placed_tree import PlacedTree
from evalsi.schema import JudgeSpec, RunSpec

__all__ = ["PROVIDERS", "check_judges"]

PROVIDERS = ("openai-compatible", "anthropic", "recorded")


def check_judges(tree: PlacedTree, spec: RunSpec, wrong: Collection[str]) -> list[str]:
    """Notes what is wrong with `spec.judges` and `spec.judge`; gives the names of the judges.

    A spec without judges may still name one: it is then the command's or the server's to know.
    """
    names = list(spec.judges)
    for name, judge in spec.judges.items():
        _check(Part(tree, "spec.judges", wrong).below(name), judge)
    provider, _, model = spec.judge.partition("/")
    if names and spec.judge and spec.judge not in names and not (model and provider in PROVIDERS):
        Part(tree, "spec").one_of("judge", spec.judge, names)
    return names


def _check(part: Part, judge: JudgeSpec) -> None:
    if not judge.provider:
        part.say("", "names no provider", f"allowed: {', '.join(PROVIDERS)}")
    elif part.one_of("provider", judge.provider, PROVIDERS):
        if judge.provider == "recorded" and not judge.recording:
            part.say("", "names no recording", "write recording: and the file of recorded replies")
        if judge.provider != "recorded" and not judge.model:
            part.say("", "names no model", "write model: and the name that the provider uses")
    part.variable_name("api_key_env", judge.api_key_env)
    part.web_address("base_url", judge.base_url)
    part.one_of("response_format", judge.response_format, ("json_schema", "text"))
    part.at_least("max_tokens", judge.max_tokens, 1)
    part.at_least("temperature", judge.temperature, 0)
    if judge.top_p is not None and not 0 < judge.top_p <= 1:
        part.say("top_p", f"must be above 0 and at most 1, not {judge.top_p:g}")
    part.at_least("requests_per_minute", judge.requests_per_minute, 0, beyond=True)
    part.at_least("tokens_per_minute", judge.tokens_per_minute, 0, beyond=True)
    part.at_least("max_concurrency", judge.max_concurrency, 1)
    part.at_least("timeout", judge.timeout, 0, beyond=True)
    part.at_least("max_retries", judge.max_retries, 0)
    part.at_least("max_usd", judge.max_usd, 0, beyond=True)
    part.at_least("max_total_tokens", judge.max_total_tokens, 1)
