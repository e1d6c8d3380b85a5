"""A cell: one sandbox seen from inside. It is told what to do over its connection, and ends with it.

Inside namespaces a cell is process 1, so nothing outlives it; it hides its memory, and no program shares a descriptor
with it. What the host asks for, it asks for as messages: a list whose first item is the word of the request.

    open     limits, environment, files, archive      -> opened | failed
    python   source, standard inputs                  -> ended, once per input
    command  argv, stdin, environment, folder, ends in seconds, access      -> said*, ended
    write    files                                    -> done | failed
    read     paths, most bytes                        -> files, missing, truncated
    pack     -                                        -> archive | failed
    usage    -                                        -> usage
"""

from __future__ import annotations

import os
import sys
import time

from evalsi.guest import fence, linux, process, python_program, wire, workspace
from evalsi.guest.channel import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import Any, NoReturn

READ_ONLY, FULL = "read-only", "full"
_PATH = "/usr/local/bin:/usr/bin:/bin"


def serve(channel: Channel, surroundings: fence.Fence) -> NoReturn:
    """Runs in the new process; never returns."""
    try:
        _, limits, environment, files, archive = channel.receive()
        try:
            cell = _Cell(channel, surroundings, fence.CellLimits(*limits), environment)
            cell.fill(files)
            cell.restore(archive)
        except (OSError, wire.WireError, workspace.WorkspaceError) as error:
            channel.send(["failed", str(error)])
            os._exit(1)
        channel.send(["opened"])
        try:
            while True:
                cell.answer(channel.receive())
        finally:
            cell.clear()
    except (EOFError, OSError, process.HostGoneError):
        os._exit(0)
    except BaseException:
        os._exit(70)


def usual_environment(place: str) -> dict[str, str]:
    """What every program finds, given where the files of its cell are."""
    return {
        "PATH": _PATH,
        "HOME": f"{place}/work",
        "TMPDIR": f"{place}/tmp",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Cell:
    def __init__(
        self, channel: Channel, surroundings: fence.Fence, limits: fence.CellLimits, environment: list[str]
    ) -> None:
        self._channel = channel
        self._fence = surroundings
        self._limits = limits
        self._commands = 0
        self._cpu_s = 0.0
        self._peak_memory_bytes = 0
        self._place = surroundings.prepare_cell(limits)
        surroundings.enclose_cell(limits)
        self._workspace = f"{self._place}/work"
        for name in ("work", "tmp"):
            os.makedirs(f"{self._place}/{name}", 0o700, exist_ok=True)
        os.chdir(self._workspace)
        self._environment = {**usual_environment(self._place), **_pairs(environment)}

    def answer(self, request: list[Any]) -> None:
        word, *arguments = request
        os.chdir(self._workspace)
        match word:
            case "python":
                self._run_python(*arguments)
            case "command":
                self._run_command(*arguments)
            case "write":
                try:
                    self.fill(arguments[0])
                except workspace.WorkspaceError as error:
                    self._channel.send(["failed", str(error)])
                else:
                    self._channel.send(["done"])
            case "read":
                self._channel.send(self._read(*arguments))
            case "pack":
                self._pack()
            case _:
                self._channel.send(["usage", self._commands, self._cpu_s, self._peak_memory_bytes])

    def fill(self, files: list[Any]) -> None:
        """Raises: WorkspaceError."""
        for file in files:
            workspace.write_file(*file)

    def restore(self, archive: bytes) -> None:
        """Raises: WorkspaceError, WireError: the archive is none of ours."""
        packed: Any = wire.parse(archive) if archive else [[], []]
        of_workspace, of_tree = packed
        for entry in of_workspace:
            workspace.unpack(*entry)
        if of_tree and self._fence.layer >= 0:
            os.chdir("/")
            for entry in of_tree:
                workspace.unpack(*entry)
            os.chdir(self._workspace)

    def clear(self) -> None:
        """Where the files lie in a folder of the host, they go with the cell; a mount goes by itself."""
        if not self._fence.has_own_tree:
            workspace.remove_everything(self._place)
            os.rmdir(self._place)

    def _run_python(self, source: str, stdins: list[bytes]) -> None:
        if os.environ != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        sys.path.append(self._workspace)
        try:
            workspace.write_file(python_program.FILE, source.encode("utf-8", "surrogateescape"), 0o644)
        except workspace.WorkspaceError:
            pass  # it only gives tracebacks their lines
        for stdin in stdins:
            kept: dict[int, list[bytes]] = {1: [], 2: []}

            def become() -> NoReturn:
                self._fence.enclose_program(self._limits, read_only=False, whole_tree=False, memory_by_process=True)
                _close_all_descriptors()
                python_program.run_as_main(source)

            self._commands += 1
            ending = self._run(become, stdin, self._limits.wall_s, lambda stream, data: kept[stream].append(data))  # noqa: B023 - used before the next turn
            self._channel.send(["ended", *_told(ending), b"".join(kept[1]), b"".join(kept[2])])

    def _run_command(
        self, argv: list[str], stdin: bytes, environment: list[str], folder: str, wall_s: float, access: str
    ) -> None:
        def become() -> None:
            os.chdir(folder)
            self._fence.enclose_program(
                self._limits, read_only=access == READ_ONLY, whole_tree=access == FULL, memory_by_process=False
            )
            _close_all_descriptors()
            linux.end_on_broken_pipes()
            everything = {**self._environment, **_pairs(environment)}
            try:
                os.execvpe(argv[0], argv, everything)
            except OSError as error:
                os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
                os._exit(127 if isinstance(error, FileNotFoundError) else 126)

        if access == READ_ONLY and not self._fence.can_forbid_writing:
            self._channel.send(
                ["refused", "writing to the workspace cannot be forbidden here: the kernel has no Landlock"]
            )
            return
        self._commands += 1
        ending = self._run(become, stdin, wall_s, lambda stream, data: self._channel.send(["said", stream, data]))
        self._channel.send(["ended", *_told(ending), b"", b""])

    def _run(self, become: process.Become, stdin: bytes, wall_s: float, hear: process.Hear) -> process.Ending:
        ending = process.run_child(
            become,
            stdin,
            process.Bounds(ends_at=time.monotonic() + wall_s, output_bytes=self._limits.output_bytes),
            hear=hear,
            end_all=self._fence.end_all,
            host=self._channel.descriptor,
        )
        self._cpu_s += ending.cpu_s
        self._peak_memory_bytes = max(self._peak_memory_bytes, ending.peak_memory_bytes)
        return ending

    def _read(self, paths: list[str], most_bytes: int) -> list[wire.Value]:
        found: list[wire.Value] = []
        missing: list[wire.Value] = []
        truncated = False
        for path in paths:
            try:
                read = workspace.read_file(path, most_bytes)
            except workspace.WorkspaceError:
                truncated = True
                continue
            if read is None:
                missing.append(path)
            else:
                most_bytes -= len(read[0])
                found.append([path, *read])
        return ["files", found, missing, int(truncated)]

    def _pack(self) -> None:
        try:
            of_workspace: list[wire.Value] = [list(entry) for entry in workspace.pack()]
            of_tree: list[wire.Value] = []
            if self._fence.layer >= 0:
                os.fchdir(self._fence.layer)
                of_tree = [list(entry) for entry in workspace.pack()]
            self._channel.send(["archive", wire.body([of_workspace, of_tree])])
        except (OSError, workspace.WorkspaceError) as error:
            self._channel.send(["failed", str(error)])


def _told(ending: process.Ending) -> list[wire.Value]:
    return [
        os.waitstatus_to_exitcode(ending.status),
        int(ending.timed_out),
        int(ending.truncated),
        ending.duration_s,
        ending.cpu_s,
    ]


def _pairs(words: list[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def _close_all_descriptors() -> None:
    os.closerange(3, 65536)
