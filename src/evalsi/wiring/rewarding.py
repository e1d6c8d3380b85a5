"""Builds what scores rewards: a spec and settings in, a `BatchScorer` out. Faces and the server come through here."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from evalsi.access.gate import DEFAULT_PROJECT
from evalsi.core.errors import InvalidSpecError, StoreError, UnknownNameError, UsageError
from evalsi.documents.named_outside import named_at, nowhere
from evalsi.engine.panel import Panel
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.judges.judge import ModelJudge
from evalsi.ports.closable import Closable
from evalsi.ports.reply_cache import ReplyCache
from evalsi.reward.check_spec import CheckedComponent, check_spec
from evalsi.reward.reward_call import RewardWorkshop
from evalsi.reward.reward_plan import RewardPart, RewardPlan
from evalsi.reward.score_rollouts import BatchScorer
from evalsi.schema import JudgeSpec, RewardOnError, RewardSpec
from evalsi.score.request import JudgeChoice, judge_of
from evalsi.settings import Settings
from evalsi.settings.server import ServerSettings
from evalsi.settings.server_rights import rights_of
from evalsi.wiring.judging import judge_choice, make_judge
from evalsi.wiring.lending import make_reward_models
from evalsi.wiring.sandboxing import make_sandbox_host

_USUAL_DEADLINE_S = 60.0
_CONCURRENCY = 64


def make_reward_scorer(
    spec: RewardSpec,
    settings: Settings,
    *,
    judge: JudgeChoice | Mapping[str, Any] | None = None,
    may_ask_addresses: bool = True,
    concurrency: int | None = None,
    where: Callable[[str], str] = nowhere,
) -> BatchScorer:
    """A scorer that is ready; the caller closes it.

    Args:
        judge: Which judge the components that need one ask. By default the one that the spec names as "provider/model", else
            the default of the settings.
        may_ask_addresses: Whether components may have reward models asked at addresses of their own.
        concurrency: Most rollouts about which somebody is asked at once; None for what the spec says, or is usual.
        where: The place of a field of the spec, by its path, where somebody wrote it.

    Raises: EvalsiError: whatever is wrong with the spec, its evaluators or the judge. Nothing has been asked then.
    """
    checked = check_spec(spec)
    asked = any("judge" in one.definition.requires for one in checked)
    lent = _judge(spec, settings, judge, where) if asked else None
    sandbox = make_sandbox_host(settings) if any("sandbox" in one.definition.requires for one in checked) else None
    asks = may_ask_addresses and any("reward-model" in one.definition.requires for one in checked)
    reward_models = make_reward_models(settings) if asks else None
    context = EvalContext(judge=lent, sandbox=sandbox, reward_models=reward_models)
    parts = tuple(_part(one, context) for one in checked)
    plan = RewardPlan(
        name=spec.name or "reward",
        parts=parts,
        floor=spec.floor,
        on_error=RewardOnError.RAISE if spec.on_error is RewardOnError.UNSPECIFIED else spec.on_error,
        clip=spec.clip,
        deadline_s=_USUAL_DEADLINE_S if spec.deadline is None else spec.deadline,
        reference_field=spec.reference_field,
        judge="" if lent is None else f"{lent.name} {lent.fingerprint}",
    )
    panel = Panel(
        evaluators=tuple(part.evaluator for part in parts),
        deadline_s=plan.deadline_s,
        asking_deadline_s=plan.deadline_s,
        concurrency=concurrency or spec.concurrency or _CONCURRENCY,
    )
    to_close: list[Closable] = [each for each in (lent, sandbox, reward_models) if each is not None]
    cache = None if spec.disable_cache else _cache(settings)
    return BatchScorer(plan, panel, cache, lent=to_close)


def reward_workshop(settings: Settings) -> RewardWorkshop:
    """What a worker of a server scores rewards with. A spec may name the judges of its project, and no others."""

    def make(spec: RewardSpec, judges: Mapping[str, JudgeSpec], default_judge: str) -> BatchScorer:
        name = spec.judge or default_judge
        if name and name not in judges:
            raise UnknownNameError("judge", name, judges, where="spec.judge")
        judge = judge_choice(judges[name]) if name else JudgeChoice()
        return make_reward_scorer(spec, settings, judge=judge, may_ask_addresses=False)

    return RewardWorkshop(make=make)


def check_served_reward(
    spec: RewardSpec, server: ServerSettings, settings: Settings, *, where: Callable[[str], str] = nowhere
) -> None:
    """Refuses a spec by which no batch could be scored on this server. Raises: EvalsiError.

    Args:
        where: The place of a field of the spec, by its path.
    """
    needs = {need for one in check_spec(spec) for need in one.definition.requires}
    if "reward-model" in needs:
        raise UsageError(
            "the spec has a reward model asked at an address, which a server does not do",
            hint="have the trainer load the spec itself: evalsi.rewards.load",
        )
    if "judge" not in needs:
        return
    judges = rights_of(server, DEFAULT_PROJECT).judges
    name = spec.judge or (server.default_judge if server.default_judge in judges else "")
    if name and name not in judges:
        with named_at(where, "judge"):
            raise UnknownNameError("judge", name, judges)
    if not name and not (settings.judge.provider or settings.judge.model):
        raise UsageError(
            "the spec asks a judge, and this server has none",
            hint="name one under judges in evalsi.yaml, and in the spec's judge or as default_judge",
        )


def _part(checked: CheckedComponent, context: EvalContext) -> RewardPart:
    return RewardPart(
        name=checked.name,
        evaluator=bind(checked.definition, context=context, params=checked.params, alias=checked.name),
        output=checked.output,
        weight=checked.weight,
        is_gate=checked.component.gate,
        threshold=checked.threshold,
    )


def _judge(
    spec: RewardSpec,
    settings: Settings,
    given: JudgeChoice | Mapping[str, Any] | None,
    where: Callable[[str], str],
) -> ModelJudge:
    if isinstance(given, Mapping):
        return make_judge(judge_of(given), settings)
    if given is not None:
        return make_judge(given, settings)
    if not spec.judge:
        return make_judge(JudgeChoice(), settings)
    provider, slash, model = spec.judge.partition("/")
    with named_at(where, "judge"):
        if not slash:
            raise InvalidSpecError(f"{spec.judge!r} names no judge here", hint="write it as provider/model")
        return make_judge(replace(JudgeChoice(), provider=provider, model=model), settings)


def _cache(settings: Settings) -> ReplyCache | None:
    from evalsi.infra.reply_cache import SqliteReplyCache

    try:
        return SqliteReplyCache(settings.reward_cache, name="reward cache")
    except StoreError as error:
        raise StoreError(
            error.message, where=error.where, hint="choose another folder with EVALSI_CACHE_DIR, or cache: false"
        ) from error
