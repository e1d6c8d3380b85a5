"""Results files of ours among the logs of other tools: told apart by how they begin, so that none is read as what it is not.

Its own module because a file of results is JSON with a list `results`, as those of several tools are, and a lenient reader
would take each of its rows for a case without an answer.
"""

import re

from evalsi.core.errors import InvalidDataError

_DOCUMENT = re.compile(rb'\s*\{\s*"api_?[vV]ersion"\s*:\s*"evals\.si/')
_LINE = re.compile(rb'\s*\{"record_id":[^\n]*"evaluator":[^\n]*"outcome":')
_TABLE = re.compile(rb"record_id,[^\n]*\.outcome[,\r\n]")


def refuse_own_results(head: bytes, *, path: str, scheme: str) -> None:
    """Refuses a file that begins so where it is one of ours.

    Args:
        head: The first bytes of the file, unpacked.
        scheme: The tool whose log it was called.

    Raises: InvalidDataError: says what it is, and which reader to use.
    """
    if _DOCUMENT.match(head):
        raise InvalidDataError(
            f"this is a results file of evalsi, no log of {scheme}",
            where=path,
            hint=f"name it as {path}, without {scheme}://",
        )
    if _LINE.match(head) or _TABLE.match(head):
        raise InvalidDataError(
            f"this is a table of results that evalsi wrote, no log of {scheme}",
            where=path,
            hint="name the results file of its run, which --output FILE.json or 'evalsi runs export' writes",
        )
