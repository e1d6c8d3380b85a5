"""How programs were fenced in is part of what a result says: in files, the store, lists, pages, and rewards."""

import asyncio
import json
from pathlib import Path

import pytest

from evalsi.evaluators.fences_used import noting_fences
from evalsi.guest import landlock
from evalsi.schema import Content, Enforcement, IsolationLevel, IsolationReport, Record, Reward
from evalsi.settings import Settings
from evalsi.wiring.reward_spec import read_reward_spec
from evalsi.wiring.rewarding import make_reward_scorer
from tests.command_line import QUICK_SANDBOXES, evalsi

pytestmark = [
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(not landlock.version(), reason="no sandbox without Landlock on this kernel"),
]
ROWS = [
    {"id": "right", "output": "def f(): return 1", "test_list": ["assert f() == 1"]},
    {"id": "late", "output": "while True: pass", "test_list": ["assert f() == 1"]},
    {"id": "printing", "output": "print(input())", "test_cases": [{"input": "a", "output": "a"}]},
]


def test_of_several_fences_the_weakest_is_told() -> None:
    strong = IsolationReport(driver="a", level=IsolationLevel.KERNEL, enforcement=Enforcement.FULL)
    weaker = IsolationReport(driver="b", level=IsolationLevel.KERNEL, enforcement=Enforcement.PARTIAL)
    weakest = IsolationReport(driver="c", level=IsolationLevel.CONFINED, enforcement=Enforcement.FULL)
    with noting_fences() as fences:
        for each in (strong, weaker, weakest, strong):
            fences.add(each)
    assert fences.weakest is weakest


@pytest.mark.slow
def test_every_result_of_a_sandbox_says_what_fenced_it_in(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    ended = evalsi(
        "eval", "--data", "rows.jsonl", "--evaluators", "unit-tests,code-exec-tests,exact-match",
        "--param", "unit-tests.timeout_s=1", "--output", "out.json", cwd=tmp_path,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    file = json.loads((tmp_path / "out.json").read_bytes())
    by_row = {(each["record_id"], each["evaluator"]): each for each in file["results"]}
    scored = by_row["right", "unit-tests"]
    assert scored["isolation"]["level"] in ("namespaced", "confined")
    assert scored["isolation"]["driver"] in QUICK_SANDBOXES.drivers
    assert any("memory" in limit for limit in scored["isolation"]["limits"])
    assert by_row["late", "unit-tests"]["isolation"] == scored["isolation"], "a failed program has one too"
    assert by_row["printing", "code-exec-tests"]["isolation"] == scored["isolation"]
    assert "isolation" not in by_row["printing", "unit-tests"], "there were no tests, so nothing was run"
    assert "isolation" not in by_row["right", "exact-match"]
    assert file["manifest"]["sandboxes"] == [scored["isolation"]]
    shown = evalsi("runs", "show", "latest", cwd=tmp_path)
    assert f"programs ran in {scored['isolation']['driver']}: level" in shown.err
    again = evalsi("runs", "show", "out.json", cwd=tmp_path)
    assert "programs ran in" in again.err


@pytest.mark.slow
def test_a_reward_says_what_fenced_in_the_programs_of_each_part_also_from_the_cache(tmp_path: Path) -> None:
    spec = read_reward_spec({"components": [{"ref": "code-exec-tests"}, {"ref": "format-check", "weight": 0}]})
    rollout = Record(id="a", output=Content(text="def f(): return 1"), metadata={"test_list": ["assert f() == 1"]})

    async def score() -> list[Reward]:
        scorer = make_reward_scorer(spec, Settings(directory=tmp_path, sandbox=QUICK_SANDBOXES))
        try:
            return await scorer.score([rollout])
        finally:
            await scorer.close()

    (measured,), (kept,) = asyncio.run(score()), asyncio.run(score())
    fence = measured.components["code-exec-tests"].isolation
    assert fence is not None
    assert fence.driver in QUICK_SANDBOXES.drivers
    assert kept.components["code-exec-tests"].cached
    assert kept.components["code-exec-tests"].isolation == fence
    assert kept.components["format-check"].isolation is None
