"""The judges of a run: made once each, refused where nothing says which, closed together."""

from dataclasses import replace

from evalsi.core.errors import InvalidSpecError, suggestion
from evalsi.documents.named_outside import named_at
from evalsi.documents.placed_tree import below
from evalsi.judges.judge import ModelJudge
from evalsi.run.spec.own_judge import HOW_TO_NAME
from evalsi.run.spec.read_run_spec import RunDocument
from evalsi.schema import JudgeManifest, JudgeSpec, RunSpec
from evalsi.score.request import JudgeChoice
from evalsi.settings import Settings
from evalsi.wiring.judging import judge_choice, judge_manifests, make_judge, prices_of


class RunJudges:
    """The judges a specification names, made once each.

    Args:
        spec: With the judges that a server gives.
        document: What was written.

    Raises: InvalidSpecError: the recording or the key of a judge is not there; with its place.
    """

    def __init__(self, spec: RunSpec, document: RunDocument, settings: Settings, *, use_cache: bool) -> None:
        self._spec = spec
        self._document = document
        self.named: dict[str, ModelJudge] = {}
        self._choices: dict[str, JudgeChoice] = {}
        wanted = {spec.judge, *(ref.judge for ref in spec.evaluators)}
        for name in sorted(wanted & spec.judges.keys()):
            self.named[name] = self._made(name, settings, use_cache=use_cache)
        self._settings = settings
        self.main: ModelJudge | None = self.named.get(spec.judge)
        if self.main is None and not spec.judge and (settings.judge.provider or settings.judge.model):
            choice = JudgeChoice()
            self._choices[""] = choice
            self.main = self.named[""] = make_judge(choice, settings, use_cache=use_cache)

    def _made(self, name: str, settings: Settings, *, use_cache: bool) -> ModelJudge:
        document, spec = self._document, self._spec.judges[name]
        is_own = spec == JudgeSpec(provider=spec.provider, model=spec.model) and name == f"{spec.provider}/{spec.model}"
        place = "spec.judge" if is_own else below("spec.judges", name)
        choice = judge_choice(spec)
        if spec.recording:
            choice = replace(choice, recording=str(document.folder / spec.recording))
        if spec.api_key_env:
            with named_at(document.where, f"{place}.api_key_env"):
                settings.secret(spec.api_key_env)
        self._choices[name] = choice
        with named_at(document.where, f"{place}.recording" if spec.recording else place):
            return make_judge(choice, settings, use_cache=use_cache)

    def manifests(self) -> list[JudgeManifest]:
        return [
            manifest
            for name, judge in self.named.items()
            for manifest in judge_manifests(judge, self._choices[name], self._settings)()
        ]

    def refuse_unnamed(self) -> None:
        """Raises: InvalidSpecError: a judge is named that is nowhere, or one is asked and nothing says which."""
        spec = self._spec
        how = f"under spec, {HOW_TO_NAME}; or add --judge-provider and --judge-model"
        names = {"spec.judge": spec.judge}
        names |= {f"spec.evaluators[{place}].judge": ref.judge for place, ref in enumerate(spec.evaluators)}
        unknown = [
            InvalidSpecError(
                f"{path}: there is no judge called {name!r}",
                where=self._document.where(path),
                hint=suggestion(name, spec.judges) or how,
            )
            for path, name in names.items()
            if name and name not in spec.judges
        ]
        if unknown:
            raise InvalidSpecError.of(unknown)
        waiting = self._document.evaluators.needs_judge
        if waiting and self.main is None:
            raise InvalidSpecError(
                f"{waiting[0]} asks a judge and none was named; there is no default judge",
                where=self._document.where("spec.evaluators"),
                hint=how,
            )

    def refuse_unknown_prices(self) -> None:
        """Raises: InvalidSpecError: what a judge costs is not known, so a budget in dollars cannot be kept."""
        prices = prices_of(self._settings)
        for judge in self.named.values():
            if judge.settings.provider != "recorded" and prices.find(judge.settings.model) is None:
                raise InvalidSpecError(
                    f"a budget in dollars cannot be kept: the price of the judge {judge.settings.model!r} is unknown",
                    where=self._document.where("spec.budget"),
                    hint="give a budget in tokens, or a price table: EVALSI_PRICES",
                )

    async def close(self) -> None:
        for judge in self.named.values():
            await judge.close()
