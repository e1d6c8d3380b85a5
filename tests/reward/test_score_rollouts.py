"""Composed rewards: gates, weights, floors, masks, the cache, and what a failed part does."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.core.errors import InvalidSpecError, RewardFailedError
from evalsi.reward.check_spec import check_spec
from evalsi.schema import (
    Content,
    Record,
    Reward,
    RewardComponent,
    RewardComponentStatus,
    RewardOnError,
    RewardSpec,
    proto_codec,
)
from evalsi.schema.json_codec import decode
from evalsi.schema.schema_error import SchemaError
from evalsi.settings import Settings
from evalsi.wiring.reward_spec import read_reward_spec
from evalsi.wiring.rewarding import make_reward_scorer
from tests.case_files import case
from tests.command_line import QUICK_SANDBOXES

EVALUATORS = Path(__file__).parent / "rewarding_evaluators.py"


def spec_of(*components: dict[str, Any], **more: Any) -> RewardSpec:
    return read_reward_spec({"name": "r", "components": list(components), **more})


def own(name: str, **more: Any) -> dict[str, Any]:
    return {"ref": f"{EVALUATORS}:{name}", "name": name, **more}


def scored(spec: RewardSpec, rollouts: list[Record], folder: Path, *, times: int = 1) -> list[Reward]:
    async def run() -> list[Reward]:
        scorer = make_reward_scorer(spec, Settings(directory=folder, sandbox=QUICK_SANDBOXES))
        try:
            rewards: list[Reward] = []
            for _ in range(times):
                rewards = await scorer.score(rollouts)
            return rewards
        finally:
            await scorer.close()

    return asyncio.run(run())


def rollout(identifier: str, **metadata: Any) -> Record:
    return Record(id=identifier, output=Content(text=str(metadata)), metadata=metadata)


ROWS = case("O01")["input"]["rows"]


def test_the_shared_rows_compose_as_they_should(tmp_path: Path) -> None:
    spec = spec_of(own("format", weight=0.1, gate=True), own("tests", weight=0.9), onError="mask")
    rewards = scored(spec, [rollout(str(place), **row) for place, row in enumerate(ROWS)], tmp_path)
    assert [reward.total for reward in rewards] == pytest.approx([1.0, 0.55, 0.0, None, None, 0.1])
    assert [reward.rollout_id for reward in rewards] == ["0", "1", "2", "3", "4", "5"]
    assert [reward.gated for reward in rewards] == [False, False, True, False, False, False]
    assert "sandbox_unavailable" in rewards[3].components["tests"].reason
    assert "not_finite" in rewards[4].components["tests"].reason
    assert rewards[2].components["tests"].status is RewardComponentStatus.SKIPPED


@pytest.mark.parametrize(("row", "said"), [(3, "sandbox_unavailable"), (4, "not_finite")])
def test_a_failed_part_fails_the_batch_where_the_spec_says_raise(row: int, said: str, tmp_path: Path) -> None:
    spec = spec_of(own("format", weight=0.1, gate=True), own("tests", weight=0.9))
    with pytest.raises(RewardFailedError, match=said):
        scored(spec, [rollout("a", **ROWS[0]), rollout("b", **ROWS[row])], tmp_path)


def test_a_part_of_weight_zero_is_reported_and_never_counts(tmp_path: Path) -> None:
    spec = spec_of(own("format", weight=1), own("tests", weight=0))
    (reward,) = scored(spec, [rollout("a", format=1, tests="ERROR broken")], tmp_path)
    assert reward.total == 1
    assert reward.components["tests"].status is RewardComponentStatus.ERROR


@pytest.mark.parametrize("weights", [(1e308, 1e308), (-1e308, -1e308), (1.0, 1.7e308)])
def test_a_total_that_is_no_finite_number_is_a_failure_and_no_reward(
    weights: tuple[float, float], tmp_path: Path
) -> None:
    parts = [own("format", weight=weights[0]), own("tests", weight=weights[1])]
    row = rollout("a", format=1, tests=2)
    (reward,) = scored(spec_of(*parts, onError="mask"), [row], tmp_path)
    assert reward.total is None
    assert reward.components["tests"].status is RewardComponentStatus.ERROR
    with pytest.raises(RewardFailedError, match="no finite number"):
        scored(spec_of(*parts), [row], tmp_path)


def test_a_skipped_part_masks_the_rollout_and_fails_nothing(tmp_path: Path) -> None:
    spec = spec_of({"ref": "math-equiv"}, own("format", weight=0.5))
    (reward,) = scored(spec, [rollout("a", format=1)], tmp_path)
    assert reward.total is None
    assert reward.components["math-equiv"].status is RewardComponentStatus.SKIPPED


def test_a_failed_gate_gives_the_floor_and_totals_are_drawn_into_the_clip(tmp_path: Path) -> None:
    parts = (own("format", gate=True), own("tests", weight=4))
    spec = spec_of(*parts, floor=-0.5, clip=[-1, 2])
    rewards = scored(spec, [rollout("a", format=0, tests=1), rollout("b", format=1, tests=1)], tmp_path)
    assert [reward.total for reward in rewards] == [-0.5, 2]


def test_what_was_measured_is_not_measured_again_here_or_in_another_process(tmp_path: Path) -> None:
    counter = tmp_path / "calls"
    spec = spec_of(own("counted", params={"file": str(counter)}))
    rollouts = [rollout("a", value=0.25), rollout("b", value=0.25), rollout("c", value=0.5)]
    first = scored(spec, rollouts, tmp_path, times=2)
    assert [reward.total for reward in first] == [0.25, 0.25, 0.5]
    assert counter.read_text() == "xx"  # equal rollouts once, the second time not at all
    again = scored(spec, rollouts, tmp_path)
    assert counter.read_text() == "xx"
    assert all(reward.components["counted"].cached for reward in again)
    scored(spec_of(own("counted", params={"file": str(counter)}, weight=2.0)), rollouts, tmp_path)
    assert counter.read_text() == "xx"  # a weight changes totals, not values
    scored(spec_of(own("counted", params={"file": str(counter)}), cache=False), rollouts[:1], tmp_path)
    assert counter.read_text() == "xxx"


def test_failures_are_not_kept(tmp_path: Path) -> None:
    spec = spec_of(own("counted", params={"file": str(tmp_path / "calls")}), onError="mask")
    broken = [rollout("a", value="ERROR now")]
    assert scored(spec, broken, tmp_path, times=3)[0].total is None
    assert (tmp_path / "calls").read_text() == "xxx"


def test_a_hanging_rollout_costs_its_own_deadline_and_no_other_rollout(tmp_path: Path) -> None:
    spec = spec_of(own("hanging"), onError="mask", deadline="0.5s")
    started = time.perf_counter()
    rewards = scored(spec, [rollout(str(number), hangs=number == 3) for number in range(40)], tmp_path)
    assert time.perf_counter() - started < 15
    assert [reward.total for reward in rewards] == [None if number == 3 else 1.0 for number in range(40)]
    assert "timeout" in rewards[3].components["hanging"].reason


@given(weights=st.lists(st.floats(-3, 3), min_size=2, max_size=2), factor=st.floats(0.1, 10))
def test_scaling_all_weights_scales_the_total(weights: list[float], factor: float) -> None:
    from evalsi.reward.reward_plan import RewardPart, RewardPlan
    from evalsi.schema import RewardComponentResult, RewardOnError
    from tests.evaluators.measuring import bound

    def total(scale: float) -> float:
        parts = tuple(
            RewardPart(
                name=name, evaluator=bound("length"), output="", weight=weight * scale, is_gate=False, threshold=1
            )
            for name, weight in zip("ab", weights, strict=True)
        )
        plan = RewardPlan(name="r", parts=parts, floor=0, on_error=RewardOnError.RAISE, clip=None, deadline_s=1)
        found = plan.compose("x", {name: RewardComponentResult(value=0.5) for name in "ab"}).total
        assert found is not None
        return found

    assert total(factor) == pytest.approx(total(1) * factor)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("components: []", "no component"),
        ("components: [{ref: math-equi}]", "math-equiv"),
        ("components: [{ref: math-equiv, wieght: 2}]", "did you mean weight"),
        ("components: [{ref: math-equiv, params: {rel_tl: 1}}]", "rel_tol"),
        ("components: [{ref: math-equiv}, {ref: math-equiv}]", "two components are called"),
        ("components: [{ref: math-equiv, weight: 0}]", "every weight is 0"),
        ("components: [{ref: math-equiv}]\nonError: zero", "never trained as a reward of 0"),
        ("components: [{ref: fuzzy-match, gate: true, weight: 1}]", "needs a threshold"),
        ("components: [{ref: math-equiv, threshold: 0.5}]", "only a gate"),
        ("components: [{ref: math-equiv}]\nclip: [1, 0]", "low must be below high"),
        ("components: [{ref: math-equiv}]\nfloor: -2\nclip: [0, 1]", "outside of clip"),
        ("components: [{ref: math-equiv, min_isolation: vm}]", "runs no programs"),
        ("components: [{ref: unit-tests, min_isolation: vmm}]", "vm"),
        ("components: [{ref: rouge}]", "several outputs"),
        ("components: [{ref: corpus-bleu}]", "no single rollouts"),
        ("apiVersion: evals.si/v1alpha1\nkind: EvalRun\nspec: {components: [math-equiv]}", "needs RewardSpec"),
    ],
)
def test_a_wrong_spec_is_refused_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "reward.yaml"
    file.write_text(text)
    with pytest.raises(InvalidSpecError, match=said) as raised:
        read_reward_spec(file)
    assert str(file) in str(raised.value)
    assert ":" in (raised.value.problems[0].where or "").removeprefix(str(file))


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(InvalidSpecError) as raised:
        read_reward_spec("components:\n  - ref: math-equi\n  - ref: math-equiv\n    threshold: 1\n")
    assert len(raised.value.problems) == 2


def test_a_misspelt_evaluator_is_told_beside_an_unknown_field_and_no_consequence_of_one_is() -> None:
    text = "components:\n  - ref: exact-mach\n    wieght: 0\n  - rf: contains\n    gate: true\nfloor: .inf\n"
    with pytest.raises(InvalidSpecError) as caught:
        read_reward_spec(text)
    assert [problem.where for problem in caught.value.problems] == [
        "<text>:2:10",
        "<text>:3:5",
        "<text>:4:5",
        "<text>:6:8",
    ]
    assert "did you mean 'exact-match'?" in str(caught.value)


def test_an_envelope_and_a_flat_spec_mean_the_same() -> None:
    flat = read_reward_spec("name: r\ncomponents: [math-equiv]\nonError: mask\nclip: [0, 1]\n")
    envelope = read_reward_spec(
        "apiVersion: evals.si/v1alpha1\nkind: RewardSpec\nmetadata: {name: r}\n"
        "spec:\n  components: [{ref: math-equiv}]\n  onError: none\n  clip: {low: 0, high: 1}\n"
    )
    assert flat == envelope


def test_a_spec_says_how_many_are_asked_at_once_and_may_ask_for_the_breakdown_that_is_always_there() -> None:
    spec = read_reward_spec(
        "components: [math-equiv]\nbreakdown: true\nconcurrency: 8\ncache: {enabled: true, size: 100}\n"
    )
    assert (spec.concurrency, spec.disable_cache) == (8, False)
    with pytest.raises(InvalidSpecError) as raised:
        read_reward_spec("components: [math-equiv]\nbreakdown: some\nconcurrency: -1\n")
    assert [problem.where for problem in raised.value.problems] == ["<text>:2:12", "<text>:3:14"]


def test_a_weight_left_out_is_1_and_a_gates_0_by_every_door() -> None:
    written = {
        "components": ["contains", {"ref": "token-f1", "weight": 0}, {"ref": "exact-match", "gate": True}],
        "onError": "mask",
    }
    parts = [
        RewardComponent(ref="contains"),
        RewardComponent(ref="token-f1", weight=0.0),
        RewardComponent(ref="exact-match", gate=True),
    ]
    in_python = RewardSpec(components=parts, on_error=RewardOnError.NONE)
    doors = {
        "a file": read_reward_spec(written),
        "a request": decode(json.dumps(written), RewardSpec),
        "Python": in_python,
        "the wire": proto_codec.decode(proto_codec.encode(in_python), RewardSpec),
    }
    for door, spec in doors.items():
        assert [one.weight for one in check_spec(spec)] == [1.0, 0.0, 0.0], door
        assert spec.on_error is RewardOnError.NONE, door


def test_a_wrong_word_for_a_failed_part_is_answered_with_words_that_are_accepted() -> None:
    with pytest.raises(SchemaError, match="one of raise, none, mask, not 'masked'; did you mean mask"):
        decode('{"components": ["contains"], "onError": "masked"}', RewardSpec)
