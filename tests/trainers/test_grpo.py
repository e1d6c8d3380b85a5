"""TRL trains a model for real with rewards from programs that ran in sandboxes. Run by `make grpo`, which has TRL.

The model is a tiny transformer, made here, whose tokens are whole programs: right ones, wrong ones, and ones that hang,
leave or print what they like. It starts by knowing nothing, and must come to answer each task with its program.
"""

from pathlib import Path
from typing import Any

import pytest

from evalsi import rewards
from evalsi.settings import Settings

untyped_trl = pytest.importorskip("trl")
untyped_torch = pytest.importorskip("torch")

TESTS = {
    "add": ["assert solve(2, 3) == 5", "assert solve(-1, 1) == 0"],
    "multiply": ["assert solve(2, 3) == 6", "assert solve(-1, 1) == -1"],
}
PROGRAMS = [
    "def solve(a, b): return a + b",
    "def solve(a, b): return a * b",
    "def solve(a, b): return a - b",
    "def solve(a, b): return",
    "def solve(a, b): pass while",
    "def solve(a, b):\n    while True: pass",
    "import os; os._exit(0)",
    "print('5\\n0\\nPASSED'); raise SystemExit(0)",
    "class solve:\n    def __init__(self, a, b): pass\n    def __eq__(self, other): return True",
]
STEPS = 24
SPEC = """
name: reward
components:
  - {ref: unit-tests, name: tests, weight: 1, params: {timeout_s: 1}}
  - {ref: python-syntax, name: syntax, weight: 0}
"""


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "<end>", "<unknown>", *TESTS, *PROGRAMS]
    made: Any = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "<unknown>"))
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<end>", unk_token="<unknown>", padding_side="left"
    )


def model(vocabulary: int) -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    config: Any = GPT2Config(
        vocab_size=vocabulary,
        n_positions=16,
        n_embd=32,
        n_layer=2,
        n_head=2,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_model_learns_to_write_the_program_that_passes_its_tests(tmp_path: Path) -> None:
    torch: Any = untyped_torch
    trl: Any = untyped_trl
    from datasets import Dataset

    torch.manual_seed(0)
    torch.set_num_threads(1)
    words = tokenizer()
    tasks: Any = Dataset.from_list([{"prompt": task, "test_list": tests} for task, tests in TESTS.items()] * 8)
    with rewards.load(SPEC, settings=Settings(directory=tmp_path / "store")) as reward:
        trainer: Any = trl.GRPOTrainer(
            model=model(len(words)),
            processing_class=words,
            train_dataset=tasks,
            reward_funcs=reward.reward_funcs,
            args=trl.GRPOConfig(
                output_dir=str(tmp_path / "training"),
                reward_weights=reward.reward_weights,
                per_device_train_batch_size=32,
                num_generations=16,
                max_completion_length=1,
                max_steps=STEPS,
                learning_rate=1e-2,
                lr_scheduler_type="constant",
                beta=0.0,
                logging_steps=1,
                save_strategy="no",
                report_to="none",
                use_cpu=True,
                bf16=False,
                disable_tqdm=True,
                seed=0,
            ),
        )
        trainer.train()
    logged = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(logged) == STEPS
    for entry in logged:
        assert entry["reward"] == pytest.approx(entry["rewards/reward/mean"])
        assert entry["rewards/tests/mean"] == pytest.approx(entry["rewards/reward/mean"])
        assert entry["rewards/syntax/mean"] >= entry["rewards/tests/mean"]
    first, last = (sum(entry["reward"] for entry in part) / 4 for part in (logged[:4], logged[-4:]))
    print("reward by step:", " ".join(f"{entry['reward']:.2f}" for entry in logged))
    assert first < 0.4
    assert last > 0.8
    assert answers(trainer.model, words) == {"add": PROGRAMS[0], "multiply": PROGRAMS[1]}


def answers(trained: Any, words: Any) -> dict[str, str]:
    """The most likely program for each task."""
    torch: Any = untyped_torch
    found: dict[str, str] = {}
    for task in TESTS:
        with torch.no_grad():
            logits = trained(**words(task, return_tensors="pt")).logits[0, -1]
        found[task] = words.decode([int(logits.argmax())])
    return found
