"""Text that others wrote, made harmless for the place it is shown in: a spreadsheet cell, a terminal, the log of a build.

Outputs of models are attacker-controlled. Every report and table shows them through these functions, so that what
counts as dangerous is decided once. (HTML is escaped by its own template engine.)
"""

import re

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")

# Control characters, direction overrides and isolates, line separators, invisible tags and lone surrogates. Joiners and
# variation selectors stay: scripts and emoji need them.
_UNPRINTABLE = (
    "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_IN_A_LINE = re.compile(f"[{_UNPRINTABLE}]")
_IN_A_BLOCK = re.compile(f"(?![\n\t])[{_UNPRINTABLE}]")


def inert_cell(text: str) -> str:
    """`text` for a CSV cell: what a spreadsheet would run as a formula gets an apostrophe in front.

    Text that starts with = + - @, their full-width forms, a tab or a line break is a formula to some spreadsheet. Numbers
    that we computed ourselves are no text and do not come through here.
    """
    return "'" + text if text.startswith(_FORMULA_STARTS) else text


def printable(text: str, *, one_line: bool = False) -> str:
    r"""`text` for a terminal: characters that move the cursor, recolour, hide or reorder are shown as escapes.

    Args:
        text: Anything, lone surrogates included.
        one_line: Whether line breaks and tabs are escaped too, as a table cell needs.
    Returns: The text with e.g. `\x1b` or `\u202e` spelt out; it can always be encoded as UTF-8.
    """
    return (_IN_A_LINE if one_line else _IN_A_BLOCK).sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}.get(character)
    if named is not None:
        return named
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|<>~:@&])")


def markdown_text(text: str) -> str:
    """`text` inside Markdown: one line, nothing in it is markup, a link, a mention or HTML."""
    return (
        _MARKDOWN.sub(r"\\\1", printable(" ".join(text.split()), one_line=True))
        .replace("\\@", "@\u2060")
        .replace("\\<", "&lt;")
        .replace("\\>", "&gt;")
    )


_COMMAND_START = re.compile(r"(?:^|(?<=\r))\s*::", re.MULTILINE)
_OLD_COMMAND = re.compile(r"##\[")


def inert_log(text: str) -> str:
    r"""`text` for the log of a build, with nothing in it that a runner of GitHub Actions takes for a command.

    A runner reads every line that a step prints: `::name …::` at the beginning of one, after spaces, and `##[name …]`
    anywhere are commands. One sign is spelt out, `\u003a:` and `\u0023#[`, which inside a JSON text means the same. An
    invisible character between would not do: the runner compares texts as people read them.
    """
    return _OLD_COMMAND.sub(r"\\u0023#[", _COMMAND_START.sub(lambda found: rf"{found[0][:-2]}\u003a:", text))
