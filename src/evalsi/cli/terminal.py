"""How the command line writes: one console for tables, messages on standard error, any text on any encoding."""

import codecs
import io
import os
import re
import shutil
import sys
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from evalsi.core.inert import inert_log, printable

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 100
_SPACES_AT_END = re.compile(r" +\n")


class _Log(io.TextIOBase):
    """A stream whose reader may be the runner of a build, which looks for commands in it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        # Where the library breaks a sentence, it leaves the space.
        return self._stream.write(inert_log(_SPACES_AT_END.sub("\n", text)))

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._stream.encoding


_PLAIN = {"–": "-", "→": ">", "…": "~", "·": ".", "├": "[", "┤": "]", "─": "-", "●": "o"}
"""What our own texts are drawn with, and what stands for it, in as many columns, where a stream cannot show it."""
_PLAINLY = "evalsi.plainly"


def open_standard_streams() -> None:
    """Opens on nothing what our caller closed of standard input, output and error.

    Else the next file that is opened, the store say, gets the number of standard error, and messages are written into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
            if null != number:
                os.dup2(null, number)
                os.close(null)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))


def write_plainly() -> None:
    """Makes standard output and error take any text: what their encoding lacks is replaced, or shown as an escape."""
    codecs.register_error(_PLAINLY, _plainly)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_PLAINLY)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character) or _escape(character) for character in text), error.end


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


LOADED_LATER = ("rich.console", "rich.table")
"""What draws tables: a job that waits for others loads it meanwhile."""


def console(piped_width: int = PIPED_WIDTH, *, width: int | None = None) -> "Console":
    """The console of standard output; NO_COLOR is honoured.

    Args:
        piped_width: Columns where it is no terminal.
        width: Columns wherever it is.
    Raises, when it prints: BrokenPipeError: nobody reads on.
    """
    from rich.console import Console

    class OurConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # for us to deal with; the library would end the process

    terminal = shutil.get_terminal_size((80, 25))
    if width is None:
        width = terminal.columns if sys.stdout.isatty() else piped_width
    return OurConsole(
        file=cast("IO[str]", _Log(sys.stdout)),
        width=width,
        height=terminal.lines,  # without it the library takes every terminal that calls itself dumb for 80 columns wide
        highlight=False,
        markup=False,
        emoji=False,  # a name with colons is no picture
        soft_wrap=False,
    )


def say(message: str) -> None:
    """A message for a person, on standard error, so that standard output stays data.

    It may hold what others wrote, a name or a reason: nothing in it moves the cursor or commands a build.
    """
    print(inert_log(printable(message)), file=sys.stderr, flush=True)


def when(moment: datetime | None) -> str:
    """A moment to the minute, UTC; a dash for none."""
    return moment.strftime("%Y-%m-%d %H:%M") if moment else "-"


def as_json(value: Any) -> str:
    """JSON for `--format json`: indented, keys in their own order, characters kept where standard output has them.

    Messages of the schema are written as files carry them: zero and false are there, what is empty is not.
    """
    import json

    import msgspec

    values = [_in_file_form(each) for each in value] if isinstance(value, (list, tuple)) else _in_file_form(value)  # pyright: ignore[reportUnknownVariableType]
    text = inert_log(msgspec.json.format(msgspec.json.encode(values), indent=2).decode())
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return inert_log(json.dumps(json.loads(text), indent=2))
    return text


def _in_file_form(value: Any) -> Any:
    from evalsi.schema import json_codec

    is_message = type(value).__module__.startswith("evalsi.schema.generated.")
    return json_codec.to_jsonable(value, camel=False) if is_message else value
