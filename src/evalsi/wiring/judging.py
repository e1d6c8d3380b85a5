"""From the choice of a judge to the judge: its model, its limits, its prices, its cache of replies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from evalsi.core.errors import EvalsiError, UsageError
from evalsi.judges.judge import JudgeSettings, ModelJudge
from evalsi.judges.prices import PriceTable, load_prices, shipped_prices
from evalsi.judges.spend import Budget
from evalsi.ports.chat_model import ChatModel
from evalsi.schema import JudgeManifest, JudgeSpec
from evalsi.score.manifest import without_credentials
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings

USUAL_KEY_VARIABLES = {"openai-compatible": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def make_judge(choice: JudgeChoice, settings: Settings, *, use_cache: bool = True) -> ModelJudge:
    """The judge of a choice, with the settings' defaults behind it.

    Raises: UsageError, UnknownNameError: the choice is incomplete, or its key is not set.
    """
    choice = with_defaults(choice, settings)
    if not choice.provider:
        raise UsageError("no judge provider was named", hint="add --judge-provider openai-compatible or anthropic")
    if not choice.model and choice.provider != "recorded":
        raise UsageError("no judge model was named", hint="add --judge-model NAME")
    judge_settings = JudgeSettings(
        provider=choice.provider,
        model=choice.model or "recorded",
        max_tokens=choice.max_tokens,
        temperature=0.0 if choice.temperature is None else choice.temperature,
        top_p=choice.top_p,
        seed=choice.seed,
        effort=choice.effort or None,
        response_format=choice.response_format,
    )
    model = _chat_model(choice, settings)
    cache = None
    if use_cache and choice.provider != "recorded":
        from evalsi.infra.reply_cache import SqliteReplyCache

        cache = SqliteReplyCache(settings.reply_cache)
    try:
        return ModelJudge(
            model,
            judge_settings,
            cache=cache,
            prices=prices_of(settings),
            budget=Budget(max_usd=choice.max_usd, max_tokens=choice.max_total_tokens),
        )
    except EvalsiError:
        if cache is not None:
            cache.close()
        raise


def judge_choice(spec: JudgeSpec) -> JudgeChoice:
    """A judge of a specification as the Score door names one."""
    return JudgeChoice(
        provider=spec.provider,
        model=spec.model,
        base_url=spec.base_url,
        api_key_env=spec.api_key_env,
        effort=spec.effort,
        max_tokens=spec.max_tokens or None,
        temperature=spec.temperature,
        top_p=spec.top_p,
        seed=spec.seed,
        response_format="text" if spec.response_format == "text" else "json_schema",
        requests_per_minute=spec.requests_per_minute or None,
        tokens_per_minute=spec.tokens_per_minute or None,
        max_concurrency=spec.max_concurrency or None,
        timeout_s=spec.timeout or None,
        max_retries=spec.max_retries,
        max_usd=spec.max_usd,
        max_total_tokens=spec.max_total_tokens or None,
        recording=spec.recording,
    )


def with_defaults(choice: JudgeChoice, settings: Settings) -> JudgeChoice:
    """The choice, its empty fields filled from EVALSI_JUDGE_*, which say nothing about another provider's judge."""
    defaults = settings.judge
    if choice.provider == "recorded" or (choice.provider and defaults.provider not in ("", choice.provider)):
        return choice
    return replace(
        choice,
        provider=choice.provider or defaults.provider,
        model=choice.model or defaults.model,
        base_url=choice.base_url or defaults.base_url,
        api_key_env=choice.api_key_env or defaults.api_key_env,
        effort=choice.effort or defaults.effort,
    )


def _chat_model(choice: JudgeChoice, settings: Settings) -> ChatModel:
    if choice.provider == "recorded":
        from evalsi.infra.models.recorded import RecordedModel

        if not choice.recording:
            raise UsageError("a recorded judge needs its recording", hint="add --judge-recording FILE")
        return RecordedModel(Path(choice.recording))
    from evalsi.infra.models.endpoint import Access
    from evalsi.infra.models.limits import Limits
    from evalsi.infra.models.retries import RetryPolicy

    variable = choice.api_key_env or USUAL_KEY_VARIABLES.get(choice.provider, "")
    # A local model needs no key; a variable that was named must be set.
    may_lack_one = bool(choice.base_url) and not choice.api_key_env
    if may_lack_one and (choice.provider == "openai-compatible" or not settings.may_send(variable, choice.base_url)):
        key = settings.unnamed_key(variable, choice.base_url)
    else:
        key = settings.secret(variable)
    limits = Limits(
        requests_per_minute=choice.requests_per_minute,
        tokens_per_minute=choice.tokens_per_minute,
        max_concurrency=choice.max_concurrency or Limits().max_concurrency,
    )
    usual = RetryPolicy()
    retries = RetryPolicy(
        attempts=usual.attempts if choice.max_retries is None else choice.max_retries + 1,
        attempt_s=choice.timeout_s or usual.attempt_s,
    )
    if choice.provider == "anthropic":
        from evalsi.infra.models.anthropic import DEFAULT_BASE_URL, AnthropicModel

        return AnthropicModel(
            Access(
                base_url=choice.base_url or DEFAULT_BASE_URL,
                api_key=key,
                proxy=settings.proxy or None,
                fence=settings.fence,
                limits=limits,
                retries=retries,
            )
        )
    if choice.provider != "openai-compatible":
        from evalsi.core.errors import UnknownNameError

        raise UnknownNameError("judge provider", choice.provider, ["openai-compatible", "anthropic", "recorded"])
    from evalsi.infra.models.openai import DEFAULT_BASE_URL, OpenAICompatibleModel

    return OpenAICompatibleModel(
        Access(
            base_url=choice.base_url or DEFAULT_BASE_URL,
            api_key=key or None,
            proxy=settings.proxy or None,
            fence=settings.fence,
            limits=limits,
            retries=retries,
        )
    )


def prices_of(settings: Settings) -> PriceTable:
    return shipped_prices() if settings.prices is None else load_prices(settings.prices)


def judge_manifests(
    judge: ModelJudge | None, choice: JudgeChoice, settings: Settings
) -> Callable[[], list[JudgeManifest]]:
    if judge is None:
        return list
    base_url = without_credentials(with_defaults(choice, settings).base_url)

    def now() -> list[JudgeManifest]:
        plain: dict[str, Any] = msgspec.to_builtins(judge.settings)
        return [
            JudgeManifest(
                name=judge.name,
                provider=judge.settings.provider,
                model=judge.settings.model,
                base_url=base_url,
                settings={key: value for key, value in plain.items() if value is not None},
                settings_sha256=judge.fingerprint.removeprefix("sha256:"),
                usage=judge.spend.as_usage(),
            )
        ]

    return now
