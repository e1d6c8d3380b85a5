"""Python that compiles, without running any of it."""

import pytest

from tests.evaluators.measuring import value


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("x = 1", True),
        ("Text\n```python\ndef f():\n    return 1\n```\nmore", True),
        ("```python\ndef f(:\n```", False),
        ("```\nraise SystemExit\n```", True),
        ("<think>```python\n(\n```</think>```python\nx = 1\n```", True),
        ("<think>x", False),
        ("", False),
        ("x = '\x00'", False),
        ("(" * 500, False),
        ("```python\nx = 1", True),
    ],
)
def test_the_last_block_decides(output: str, expected: bool) -> None:
    assert value("python-syntax", output) is expected
