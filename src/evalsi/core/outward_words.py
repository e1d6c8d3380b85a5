"""An error in the words for somebody who calls a server: without its paths, and without advice for its command line.

Its own module because what a server answers and what it keeps of a run that failed are read by the same people. What
always holds: no absolute path of this machine leaves it in a message, whoever wrote the message.
"""

import re

from evalsi.core.errors import EvalsiError

_PATH = re.compile(r"(?:file://|(?<![\w/.:#~$)\]}*+?-]))/(?:[^\s/'\"<>:;,()|]+/)+([^\s/'\"<>:;,()|]*)")
_COMMAND_LINE = re.compile(r"(?<![\w.])evalsi [a-z]|(?<![\w-])--[a-z]|\bEVALSI_[A-Z]")
_ASIDE = re.compile(r"\s*\([^()]*(?<![\w-])--[a-z][^()]*\)")
"""What a hint says in brackets with an option of the command line."""
_CALLS = {
    "see: evalsi catalog": "ListEvaluators lists them",
    "'evalsi runs list' shows all": "ListRuns lists them",
    "'evalsi runs list' shows runs": "ListRuns lists them",
}
"""What says to a caller what a hint says to somebody at a command line; other such hints are left out."""


def outward_words(error: EvalsiError) -> str:
    """The sentence of an error for a caller."""
    text = without_paths(f"{error.where}: {error.message}" if error.where else error.message)
    hint = outward_hint(error.hint)
    return f"{text}; {hint}" if hint else text


def outward_hint(hint: str | None) -> str:
    """What of a hint helps a caller, clause by clause; empty where nothing does."""
    clauses = _ASIDE.sub("", hint or "").split("; ")
    told = [_CALLS.get(each, "" if _COMMAND_LINE.search(each) else each) for each in clauses]
    return without_paths("; ".join(each for each in told if each))


def without_paths(text: str) -> str:
    """The text with every absolute path cut down to its last name."""
    return _PATH.sub(lambda found: found[1] or "a folder", text)
