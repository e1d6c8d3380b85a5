"""The way out of a sandbox, on every rung that has a network of its own: programs reach what is allowed, and nothing else."""

import asyncio
import http.server
import ipaddress
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence

import pytest

from evalsi.core.address_fence import IpAddress
from evalsi.core.errors import SandboxError, SandboxUnavailableError, UsageError
from evalsi.guest import wire
from evalsi.infra.sandbox import Ladder, LadderOptions
from evalsi.infra.sandbox.egress import Allowlist, EgressOptions, EgressProxy, EgressRelay
from evalsi.ports.sandbox import Execution, Sandbox, SandboxCommand, SandboxLimits, SandboxSpec
from tests.infra.sandbox.machines import MACHINES
from tests.infra.sandbox.test_escapes import missing

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sandbox")]
LARGE = 1_000_000
LIMITS = SandboxLimits(wall_s=40.0, cpu_s=40)


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"x" * LARGE if self.path == "/large" else f"{self.headers['Host']}{self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        heard = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(str(len(heard)).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the library
        pass


@pytest.fixture(scope="module")
def port() -> Generator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server.server_port
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture(params=["qemu", "gvisor", "bubblewrap"])
def driver(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    reason = missing((name,))
    if reason:
        pytest.skip(reason)
    return name


async def _everywhere_is_here(_host: str, _port: int) -> Sequence[IpAddress]:
    return [ipaddress.ip_address("127.0.0.1")]


def on(driver: str, allow: tuple[str, ...], use: Callable[[Sandbox], Awaitable[None]]) -> None:
    egress = EgressOptions(networks=(ipaddress.ip_network("127.0.0.0/8"),), resolve=_everywhere_is_here)

    async def main() -> None:
        ladder = Ladder(LadderOptions(drivers=(driver,), machines=MACHINES, egress=egress))
        try:
            await use(await ladder.create(SandboxSpec(limits=LIMITS, allow_hosts=allow)))
        finally:
            await ladder.close()

    asyncio.run(main())


async def run(sandbox: Sandbox, source: str) -> Execution:
    return await sandbox.execute(SandboxCommand(argv=("python3", "-c", source)))


def test_a_program_reaches_what_is_allowed_and_nothing_else(driver: str, port: int) -> None:
    source = f"""
import socket, urllib.error, urllib.request
def fetch(url, data=None):
    try:
        return urllib.request.urlopen(url, data, timeout=30).read()
    except urllib.error.HTTPError as error:
        return error.code
print(fetch("http://mirror.test:{port}/a"))
print(len(fetch("http://mirror.test:{port}/large")))
print(fetch("http://mirror.test:{port}/", b"y" * {LARGE}))
print(fetch("http://other.test:{port}/"), fetch("http://mirror.test:1/"), fetch("http://127.0.0.1:{port}/"))
for address in (("127.0.0.1", {port}), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, 2)
        print("LEAK", address)
    except OSError:
        pass
"""

    async def use(sandbox: Sandbox) -> None:
        times = 1 if driver == "qemu" else 2  # an emulated processor takes seconds
        for _ in range(times):
            ended = await run(sandbox, source)
            assert ended.stdout.decode().splitlines() == [
                f"b'mirror.test:{port}/a'", str(LARGE), f"b'{LARGE}'", "403 403 403"
            ], ended  # fmt: skip
            assert [(event.host, event.allowed) for event in ended.egress] == [
                ("mirror.test", True), ("mirror.test", True), ("mirror.test", True),
                ("other.test", False), ("mirror.test", False), ("127.0.0.1", False),
            ]  # fmt: skip
            assert ended.egress[1].bytes_received > LARGE
            assert ended.egress[2].bytes_sent == LARGE
        assert len((await sandbox.statistics()).egress) == 6 * times

    on(driver, (f"mirror.test:{port}",), use)


HOSTILE = {
    "a connection that stands still stops no other": """
stuck = [tunnel() for _ in range(8)]
for each in stuck: each.sendall(b"GET /large HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
    "more connections than there may be": """
many = []
for _ in range(200):
    try: many.append(socket.create_connection(("127.0.0.1", 3128), 0.5))
    except OSError: break
for each in many: each.close()
time.sleep(0.3)
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
    "killing everybody": """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try: os.kill(-1, signal.SIGTERM)
except OSError: pass
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
    "listening in the proxy's place": """
try:
    socket.create_server(("127.0.0.1", 3128), reuse_port=True); print("LEAK")
except OSError: pass
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
    "one byte at a time, and left": """
slow = socket.create_connection(("127.0.0.1", 3128))
for byte in b"CONNECT mirror.test:PORT HTTP/1.1": slow.send(bytes([byte]))
slow.close()
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
    "a flood that nobody answers": """
loud = socket.create_connection(("127.0.0.1", 3128)); loud.settimeout(1)
try:
    for _ in range(1000): loud.sendall(b"A" * 65536)
except OSError: pass
print(urllib.request.urlopen("http://mirror.test:PORT/a", timeout=30).status)
""",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_program_breaks_the_way_out(name: str, port: int) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))
    before = """
import os, signal, socket, time, urllib.request
def tunnel():
    made = socket.create_connection(("127.0.0.1", 3128)); made.sendall(b"CONNECT mirror.test:PORT HTTP/1.1\\r\\n\\r\\n")
    return made
"""

    async def use(sandbox: Sandbox) -> None:
        for _ in range(2):
            ended = await run(sandbox, (before + HOSTILE[name]).replace("PORT", str(port)))
            assert ended.stdout == b"200\n", ended

    on("bubblewrap", (f"mirror.test:{port}",), use)


def test_no_connection_outlives_its_command(port: int) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))
    leave = f"""
import os, socket, time
made = socket.create_connection(("127.0.0.1", 3128)); made.sendall(b"CONNECT mirror.test:{port} HTTP/1.1\\r\\n\\r\\n")
print(made.recv(12))
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
"""

    async def use(sandbox: Sandbox) -> None:
        ended = await run(sandbox, leave)
        assert ended.stdout == b"b'HTTP/1.1 200'\n"
        (event,) = ended.egress
        assert event.reason == "the command ended"
        assert (await run(sandbox, "print(1)")).egress == ()

    on("bubblewrap", (f"mirror.test:{port}",), use)


@pytest.mark.parametrize("driver", ["gvisor", "bubblewrap"], indirect=True)
def test_a_sandbox_that_was_allowed_nothing_has_no_way_out(driver: str, port: int) -> None:
    source = (
        "import os, socket\nassert not [name for name in os.environ if 'PROXY' in name.upper()]\n"
        f"for port in (3128, {port}):\n    try: socket.create_connection(('127.0.0.1', port), 2); print('LEAK')\n"
        "    except OSError: pass\n"
    )

    async def use(sandbox: Sandbox) -> None:
        ended = await run(sandbox, source)
        assert (ended.exit_code, ended.stdout, ended.egress) == (0, b"", ())

    on(driver, (), use)


def test_a_rung_without_a_network_of_its_own_is_not_used_for_a_way_out() -> None:
    async def use(_: Sandbox) -> None:
        raise AssertionError

    with pytest.raises(SandboxUnavailableError, match=r"no network of its own|does not work here"):
        on("landlock", ("mirror.test",), use)
    with pytest.raises(UsageError, match="names no host"):
        on("landlock", ("*",), use)


@pytest.mark.parametrize(
    "message",
    [
        ["egress"],
        ["egress", 1, "open", 5],
        ["egress", 7, "open", b""],
        ["egress", 7, "data", bytes(1 << 20)],
        ["egress", 7, "took", 1],
        ["egress", 7, "took", -1],
        ["egress", 7, "jump", b""],
        ["said", 1, b""],
    ],
)
def test_a_cell_that_breaks_the_rules_is_told_on(message: list[wire.Value]) -> None:
    async def main() -> None:
        async def send(_: wire.Value) -> None:
            await asyncio.sleep(0)

        relay = EgressRelay(EgressProxy(Allowlist.of(("a.org",)), EgressOptions()), send)
        relay.hear(["egress", 7, "open", b""])
        relay.hear(["egress", 6, "data", b"late, of a connection that is gone"])
        try:
            with pytest.raises(SandboxError):
                relay.hear(message)
        finally:
            await relay.close()

    asyncio.run(main())
