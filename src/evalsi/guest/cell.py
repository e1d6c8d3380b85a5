"""A cell: one sandbox seen from inside. It is told what to do over its connection, and ends with it.

Inside namespaces a cell is process 1, so nothing outlives it; it hides its memory, and no program shares a descriptor
with it. What the host asks for, it asks for as messages: a list whose first item is the word of the request.

    open     limits, environment, files, archive, has a way out      -> opened | failed
    python   source, standard inputs                  -> ended, once per input
    command  argv, stdin, environment, folder, ends in seconds, access      -> said*, ended
    write    files                                    -> done | failed
    read     paths, most bytes                        -> files, missing, truncated
    pack     -                                        -> archive | failed
    usage    -                                        -> usage
    egress   see `forwarder`; while a command runs    -> egress*
"""

from __future__ import annotations

import os
import sys
import time

from evalsi.guest import fence, forwarder, linux, process, python_program, wire, workspace
from evalsi.guest.channel import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:  # the module typing takes longer to import than all of ours
    from typing import Any, NoReturn

READ_ONLY, FULL = "read-only", "full"
_PATH = "/usr/local/bin:/usr/bin:/bin"


def serve(channel: Channel, surroundings: fence.Fence) -> NoReturn:
    """Runs in the new process; never returns."""
    try:
        _, limits, environment, files, archive, has_way_out = channel.receive()
        try:
            cell = _Cell(channel, surroundings, fence.CellLimits(*limits), environment, bool(has_way_out))
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


class _Beside:
    """What the cell does beside watching a program: see `process.Beside`."""

    def __init__(self, way_out: forwarder.Forwarder, channel: Channel) -> None:
        self._way_out = way_out
        self._channel = channel
        self.descriptor = way_out.descriptor

    def turn(self) -> None:
        self._way_out.turn(self._channel)

    def hear_host(self) -> None:
        try:
            message = self._channel.receive()
        except EOFError as error:
            raise process.HostGoneError from error
        self._way_out.hear(self._channel, message)


class _Cell:
    def __init__(
        self,
        channel: Channel,
        surroundings: fence.Fence,
        limits: fence.CellLimits,
        environment: list[str],
        has_way_out: bool,
    ) -> None:
        self._channel = channel
        self._fence = surroundings
        self._limits = limits
        self._commands = 0
        self._cpu_s = 0.0
        self._peak_memory_bytes = 0
        self._known_kills = 0
        self._place = surroundings.prepare_cell(limits)
        self._forwarder = None
        if has_way_out:
            if surroundings.has_namespaces:
                linux.start_loopback()
            self._forwarder = forwarder.Forwarder()
        surroundings.enclose_cell(limits)
        self._workspace = f"{self._place}/work"
        for name in ("work", "tmp"):
            folder = f"{self._place}/{name}"
            if not os.path.isdir(folder):  # a copy of an image may have one already
                os.mkdir(folder, 0o700)
        os.chdir(self._workspace)
        self._known_environment: dict[str, str] = usual_environment(surroundings.shape.disk)
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
            case "egress":
                pass  # about a connection of a command that has ended
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
        workspace.unpack(of_workspace)
        if of_tree and self._fence.layer >= 0:
            os.chdir("/")
            workspace.unpack(of_tree)
            os.chdir(self._workspace)

    def clear(self) -> None:
        """Where the files lie in a folder of the host, they go with the cell; a mount goes by itself."""
        if not self._fence.has_own_tree:
            workspace.remove_everything(self._place)
            os.rmdir(self._place)

    def _run_python(self, source: str, stdins: list[bytes]) -> None:
        if self._environment != self._known_environment:  # the agent's own, which programs share
            os.environ.clear()
            os.environ.update(self._environment)
            self._known_environment = self._environment
        sys.path += [self._workspace, *filter(None, self._environment.get("PYTHONPATH", "").split(":"))]
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
            self._channel.send(["ended", *self._told(ending), b"".join(kept[1]), b"".join(kept[2])])

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
        self._channel.send(["ended", *self._told(ending), b"", b""])

    def _run(self, become: process.Become, stdin: bytes, wall_s: float, hear: process.Hear) -> process.Ending:
        ending = process.run_child(
            become,
            stdin,
            process.Bounds(ends_at=time.monotonic() + wall_s, output_bytes=self._limits.output_bytes),
            hear=hear,
            end_all=self._fence.end_all,
            host=self._channel.descriptor,
            beside=None if self._forwarder is None else _Beside(self._forwarder, self._channel),
        )
        if self._forwarder is not None:
            self._forwarder.drop_all()
        self._cpu_s += ending.cpu_s
        counted = self._fence.group.peak_memory_bytes() if self._fence.group is not None else 0
        self._peak_memory_bytes = max(self._peak_memory_bytes, ending.peak_memory_bytes, counted)
        return ending

    def _told(self, ending: process.Ending) -> list[wire.Value]:
        kills = self._memory_kills()
        new_kills, self._known_kills = kills - self._known_kills, kills
        return [
            os.waitstatus_to_exitcode(ending.status),
            int(ending.timed_out),
            int(ending.truncated),
            ending.duration_s,
            ending.cpu_s,
            new_kills,
        ]

    def _memory_kills(self) -> int:
        """Those that are counted inside; 0 where the host counts them."""
        return self._fence.group.memory_kills() if self._fence.group is not None else 0

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


def _pairs(words: list[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def _close_all_descriptors() -> None:
    os.closerange(3, 65536)
