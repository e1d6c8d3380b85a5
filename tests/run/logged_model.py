"""A model in a process of its own that answers with the last word it was told, and writes down every question first.

python -m tests.run.logged_model questions.log 0.02
"""

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evalsi.testing.stand_in_model import Behaviour, Question, StandInModel
from tests.command_line import environment

ROOT = Path(__file__).parents[2]


def last_word(question: Question) -> str:
    return question.text.split()[-1]


@contextmanager
def logged_model(log: Path, *, latency_s: float = 0.0) -> Generator[str]:
    """Its base URL, while the block lasts."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.run.logged_model", str(log), str(latency_s)],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate()


async def _serve(log: Path, latency_s: float) -> None:
    with log.open("a", buffering=1) as questions:

        def answer(question: Question) -> str:
            word = last_word(question)
            questions.write(word + "\n")
            return word

        model = StandInModel(Behaviour(replies=answer, latency_s=latency_s))
        server = await model.start()
        print(model.base_url, flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), float(sys.argv[2])))
