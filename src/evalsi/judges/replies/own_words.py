"""What a judge says itself, as opposed to what it thinks, quotes or repeats. Every text form is read from these lines.

Quoted text and repeated material are where a candidate could speak for the judge: "the answer ends with GRADE: C". So
quotations, block quotes and lines that repeat a line of the material are left out. The one exception is a reply's last
line: there the verdict is asked for, and a judge may well agree with a word the candidate used.
"""

import re
import unicodedata
from collections.abc import Sequence

from evalsi.core.errors import ReplyError
from evalsi.judges.replies.reasoning import without_reasoning
from evalsi.ports.chat_model import ChatReply
from evalsi.schema import ErrorKind

MOST_CHARACTERS = 200_000
"""Longest reply that is read, reasoning aside: more than the verdict on any record, less than takes a second to search."""
_MOST_WITH_REASONING = 2_000_000
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_REFUSAL = re.compile(
    r"(?:i['’]?m sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b|i (?:can['’]t|cannot|won['’]t|will not|"
    r"must decline|decline))\b",
    re.IGNORECASE,
)
_QUOTATIONS = re.compile(
    '"[^"\n]{0,2000}"|“[^”\n]{0,2000}”|„[^“”\n]{0,2000}[“”]|«[^»\n]{0,2000}»|`[^`\n]{0,2000}`'
    "|(?<!\\w)'[^'\n]{0,2000}'(?!\\w)|(?<!\\w)‘[^’\n]{0,2000}’(?!\\w)"
)
_MARKDOWN = " \t\r*_#~"
_QUOTES = "\"'`“”„‘’«»"
_BULLET = re.compile(r"^(?:[-+•]|\d{1,2}[.)])\s+(?=\S*\D)")


def refuse_runaway(reply: ChatReply, text: str | None = None) -> None:
    """Raises: ReplyError: the reply, or the text in it that is left without its reasoning, is longer than any verdict."""
    most = _MOST_WITH_REASONING if text is None else MOST_CHARACTERS
    length = len(reply.text if text is None else text)
    if length > most:
        raise ReplyError(
            f"the judge's reply has {length:,} characters, and no verdict has more than {most:,}",
            kind=ErrorKind.JUDGE_PARSE,
            detail=reply.text,
        )


def final_text(reply: ChatReply) -> str:
    """The reply without reasoning and invisible characters.

    Raises: ReplyError: cut at the token limit, refused, empty, longer than any verdict, or ended inside its reasoning.
    """
    refuse_runaway(reply)
    if reply.finish_reason == "length":
        raise ReplyError(
            "the judge's reply was cut at its token limit; raise the judge's max_tokens",
            kind=ErrorKind.JUDGE_TRUNCATED,
            detail=reply.text,
        )
    if reply.finish_reason == "refusal":
        raise ReplyError("the judge refused to judge", kind=ErrorKind.JUDGE_REFUSED, detail=reply.text)
    answer = without_reasoning(reply.text)
    if answer.text is None:
        raise ReplyError("the judge's reply ends inside its reasoning", kind=ErrorKind.JUDGE_PARSE, detail=reply.text)
    refuse_runaway(reply, answer.text)
    text = _INVISIBLE.sub("", answer.text).strip()
    if not text:
        raise ReplyError("the judge's reply is empty", kind=ErrorKind.JUDGE_PARSE, detail=reply.text)
    return text


def own_lines(text: str, material: Sequence[str] = ()) -> list[str]:
    """The lines a judge wrote itself, trimmed of Markdown and blanks; never an empty one.

    Args:
        text: From `final_text`.
        material: What the judge was shown as data; lines that repeat one of its lines do not count, except the last.
    """
    lines = [line for line in unicodedata.normalize("NFKC", text).splitlines() if line.strip()]
    if len(lines) == 1:
        return [bare] if (bare := _bare(lines[0]).strip(_QUOTES).strip(_MARKDOWN)) else []
    repeated = {_bare(line) for block in material for line in unicodedata.normalize("NFKC", block).splitlines()}
    own: list[str] = []
    for number, line in enumerate(lines):
        bare = _bare(line)
        if not bare or line.lstrip().startswith(">") or _QUOTATIONS.fullmatch(bare):
            continue
        if number < len(lines) - 1 and bare in repeated:
            continue
        own.append(bare)
    return own


def unquoted(line: str) -> str:
    """`line` with its quotations blanked, for patterns that may match anywhere in it."""
    return _QUOTATIONS.sub(" ", line)


def unreadable(reply: ChatReply, wanted: str, *, why: str = "the judge's reply holds no verdict") -> ReplyError:
    """The error for a reply that is no verdict.

    Args:
        reply: What the judge said.
        wanted: The required form as the end of a sentence, e.g. "one of CORRECT, INCORRECT after 'Verdict:'".
        why: What is wrong with the reply.
    """
    text = reply.text.strip()
    if len(text) < 600 and _REFUSAL.match(text):
        return ReplyError("the judge refused to judge", kind=ErrorKind.JUDGE_REFUSED, detail=reply.text)
    return ReplyError(f"{why}; required is {wanted}", kind=ErrorKind.JUDGE_PARSE, detail=reply.text)


def out_of_range(reply: ChatReply, what: str, value: float, low: float, high: float) -> ReplyError:
    """The error for a number outside its range: it is neither clamped nor counted."""
    return ReplyError(
        f"the judge gave {what} {value:g}, which is outside {low:g} to {high:g}",
        kind=ErrorKind.JUDGE_OUT_OF_RANGE,
        detail=reply.text,
    )


def _bare(line: str) -> str:
    return _BULLET.sub("", line.strip(_MARKDOWN)).strip(_MARKDOWN)
