"""The reference page of datasets says what is so."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs/reference/datasets.md").read_text(encoding="utf-8")


def test_its_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "datasets.md", "exec"), {})
