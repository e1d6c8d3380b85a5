"""What a reader meets, taken apart: pages, their fenced blocks, and the directions that stand above a block.

A direction is a comment on the line above a fence, or at the top of a page:

    <!-- needs: examples/demo/data/aster.jsonl -->   a file of the repository, copied into the page's folder
    <!-- needs: starter -->                          the files that `evalsi init` writes
    <!-- needs: model -->                            a model answers at http://127.0.0.1:8000/v1
    <!-- needs: server -->                           a server of evalsi listens at http://127.0.0.1:8080
    <!-- needs: server FILE -->                      the same, configured by a file of the repository
    <!-- file: checks.py -->                         the block is this file; it is written, not run
    <!-- continues -->                               the Python block goes on from the one before
    <!-- not run: why -->                            the block is not run; `test_blocks_run` lists every one
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)[^\n`]*$")
_DIRECTION = re.compile(r"<!--\s*(needs|file|continues|not run)\s*:?\s*(.*?)\s*-->")


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block. `line` is where its text begins, counted from 1."""

    page: Path
    line: int
    language: str
    text: str
    directions: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Every Markdown page that is ours to keep true. Change fragments and the demo's data card are read too."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("adapters/*/*.md"), *ROOT.glob("changes/*.md")]
    return sorted(page for page in found if page.name != "THIRD_PARTY_NOTICES.md")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def needs_of(page: Path) -> list[str]:
    return [value for kind, value in _DIRECTION.findall(page.read_text(encoding="utf-8")) if kind == "needs"]


def blocks_of(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    row = 0
    while row < len(lines):
        opening = _FENCE.match(lines[row])
        if opening is None:
            row += 1
            continue
        end = row + 1
        while lines[end].strip() != opening["ticks"]:
            end += 1
        indent = len(opening["indent"])
        yield Block(
            page=page,
            line=row + 2,
            language=opening["language"],
            text="\n".join(line[indent:] for line in lines[row + 1 : end]),
            directions=_directions_above(lines, row),
        )
        row = end + 1


def prose_of(page: Path) -> str:
    """The page without its fenced blocks; lines keep their numbers."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in blocks_of(page):
        for row in range(block.line - 2, block.line + block.text.count("\n") + 1):
            lines[row] = ""
    return "\n".join(lines)


def _directions_above(lines: list[str], row: int) -> dict[str, str]:
    found: dict[str, str] = {}
    row -= 1
    while row >= 0 and (match := _DIRECTION.fullmatch(lines[row].strip())):
        found[match[1]] = match[2]
        row -= 1
    return found


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command line of a page, the output shown below it, and the exit status it promises (0 unless it says so)."""

    line: str
    shown: tuple[str, ...] = ()
    status: int = 0


_COMMENT = re.compile(r"\s+# .*$")
_STATUS = re.compile(r"\s+# exit (?:status )?(\d+).*$")


def commands_of(block: Block) -> list[Command]:
    """The command lines of a `bash` or `console` block, continued lines joined."""
    if block.language == "bash":
        joined = block.text.replace("\\\n", " ")
        return [_command(line) for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    if block.language != "console":
        return []
    commands: list[Command] = []
    lines = block.text.splitlines()
    row = 0
    while row < len(lines):
        assert lines[row].startswith("$ "), f"{block.place}: a console block begins each command with `$ `"
        line = lines[row][2:]
        row += 1
        while line.endswith("\\"):
            line = line[:-1] + " " + lines[row].removeprefix("> ")
            row += 1
        shown: list[str] = []
        while row < len(lines) and not lines[row].startswith("$ "):
            shown.append(lines[row])
            row += 1
        commands.append(_command(line, tuple(text for text in shown if text.strip())))
    return commands


def _command(line: str, shown: tuple[str, ...] = ()) -> Command:
    status = _STATUS.search(line)
    return Command(line=_COMMENT.sub("", line).strip(), shown=shown, status=int(status[1]) if status else 0)


def appears(shown: str, lines: Iterator[str]) -> bool:
    """Whether a line like that comes next, or after others; "…" stands for anything. Takes `lines` up to it."""
    parts = re.split(r"\s*…\s*", " ".join(shown.split()))
    pattern = re.compile(r".*?".join(re.escape(part) for part in parts))
    return any(pattern.fullmatch(" ".join(line.split())) for line in lines)
