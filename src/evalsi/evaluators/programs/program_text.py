"""The program in an answer: the code of its last fenced block, or all of it where there is none.

Its own module because every grader of code has to read the same program out of the same answer.
"""

import re
from functools import cache
from importlib.resources import files

_FENCE = re.compile(
    r"""^[ \t]*(?:</?[\w-]+>[ \t]*)*      # a tag may stand before it: <answer>```python
        (?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^\n]*\n
        (?P<code>.*?)
        (?:^[ \t]*(?P=mark)[ \t]*(?:</[\w-]+>[ \t]*)*$|\Z)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_INSIDE = {
    "answer_calls": ("exchange",),
    "drive_tests": ("exchange", "stand_ins", "pytest_stand_in", "forms_of_tests"),
}
_OWN_IMPORT = re.compile(r"^from evalsi\.[^\n(]*(\([^)]*\))?[^\n]*$", re.MULTILINE)
_PYTHON = {"python", "python3", "py", "py3"}


def program_text(answer: str, languages: frozenset[str] = frozenset(_PYTHON)) -> str:
    """The last block marked with one of `languages`, else the last block, else the whole answer."""
    if "```" not in answer and "~~~" not in answer:
        return answer
    blocks = [(match["language"].lower(), match["code"]) for match in _FENCE.finditer(answer)]
    if not blocks:
        return answer
    marked = [code for language, code in blocks if language in languages]
    return marked[-1] if marked else blocks[-1][1]


@cache
def inside_source(name: str) -> str:
    """The source of a module of `programs.inside`, with those it is made of in front of it."""
    folder = files("evalsi.evaluators.programs.inside")
    parts = [(folder / f"{each}.py").read_text(encoding="utf-8") for each in (*_INSIDE[name], name)]
    return "\n".join(_OWN_IMPORT.sub("", part) for part in parts) + "\n"
