"""`evalsi sandbox` as a person uses it: what it prints, and the status it ends with."""

import functools
import http.server
import json
import threading
from pathlib import Path

import pytest

from evalsi.guest import landlock
from tests.command_line import evalsi
from tests.infra.sandbox.test_escapes import missing

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("sandbox"),
    pytest.mark.skipif(
        not landlock.version(), reason="the kernel has no Landlock, so perhaps there is no sandbox here"
    ),
]


def test_probe_names_every_kind_with_its_limits_or_its_reason(tmp_path: Path) -> None:
    every = {"EVALSI_SANDBOX_DRIVERS": ""}
    ended = evalsi("sandbox", "probe", "--format", "json", cwd=tmp_path, env=every)
    assert ended.status == 0, ended.err
    rungs = {rung["driver"]: rung for rung in json.loads(ended.out)}
    assert set(rungs) == {"firecracker", "qemu", "gvisor", "bubblewrap", "landlock"}
    assert rungs["landlock"]["available"]
    for rung in rungs.values():
        assert rung["limits"] if rung["available"] else rung["reason"] and rung["remedy"]
    shown = evalsi("sandbox", "probe", cwd=tmp_path)
    assert "landlock" in shown.out
    assert "limit" in shown.out


def test_the_status_of_the_command_is_that_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "part.txt").write_text("copied\n", encoding="utf-8")
    said = evalsi(
        "sandbox", "run", "--copy", "part.txt", "--", "sh", "-c", "cat part.txt; echo aside >&2; exit 9", cwd=tmp_path
    )
    assert (said.status, said.out, said.err) == (9, "copied\n", "aside\n")
    killed = evalsi("sandbox", "run", "--", "sh", "-c", "kill -KILL $$", cwd=tmp_path)
    assert killed.status == 137
    late = evalsi("sandbox", "run", "--wall", "0.3", "--", "sleep", "60", cwd=tmp_path)
    assert late.status == 124
    assert "wall-clock" in late.err
    unknown = evalsi("sandbox", "run", "--", "no-such-program", cwd=tmp_path)
    assert unknown.status == 127


def test_standard_input_is_passed_on_where_it_is_asked_for(tmp_path: Path) -> None:
    assert evalsi("sandbox", "run", "--stdin", "-", "--", "cat", cwd=tmp_path, stdin="told").out == "told"
    assert evalsi("sandbox", "run", "--", "cat", cwd=tmp_path, stdin="told").out == ""


def test_asking_for_more_than_there_is_runs_nothing_and_says_every_reason(tmp_path: Path) -> None:
    every = {"EVALSI_SANDBOX_DRIVERS": ""}
    asked = ("--min-isolation", "vm", "--", "touch", str(tmp_path / "ran"))
    ended = evalsi("sandbox", "run", *asked, cwd=tmp_path, env=every)
    assert ended.status == 1
    assert ended.err.startswith("error: no sandbox here reaches level vm: firecracker ")
    assert "bubblewrap" in ended.err
    assert "landlock" in ended.err
    assert not (tmp_path / "ran").exists()


def test_an_operator_chooses_which_kinds_may_be_used(tmp_path: Path) -> None:
    only = {"EVALSI_SANDBOX_DRIVERS": "landlock"}
    strong = evalsi("sandbox", "run", "--min-isolation", "namespaced", "--", "true", cwd=tmp_path, env=only)
    assert strong.status == 1
    assert "landlock reaches confined" in strong.err
    wrong = evalsi("sandbox", "probe", cwd=tmp_path, env={"EVALSI_SANDBOX_DRIVERS": "bublewrap"})
    assert wrong.status == 2
    assert "did you mean 'bubblewrap'?" in wrong.err


def test_an_image_that_cannot_be_had_is_told_before_anything_runs(tmp_path: Path) -> None:
    absent = evalsi("sandbox", "run", "--image", f"oci-layout:{tmp_path}/nowhere", "--", "true", cwd=tmp_path)
    assert absent.status == 1
    assert "nowhere" in absent.err
    wrong = evalsi("sandbox", "run", "--image", "no such name", "--", "true", cwd=tmp_path)
    assert wrong.status == 2
    assert "names no image" in wrong.err


def test_a_sandbox_reaches_what_it_is_allowed_and_says_what_was_refused(tmp_path: Path) -> None:
    if missing(("bubblewrap",)):
        pytest.skip(missing(("bubblewrap",)))
    (tmp_path / "ask.py").write_text(
        "import sys, urllib.error, urllib.request\n"
        "for url in sys.argv[1:]:\n"
        "    try: print(urllib.request.urlopen(url, timeout=20).read().decode())\n"
        "    except urllib.error.HTTPError as refused: print(refused.code)\n",
        encoding="utf-8",
    )
    (tmp_path / "page.txt").write_text("from the mirror", encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            here = f"http://localhost:{server.server_port}/page.txt"
            run = (
                "sandbox",
                "run",
                "--allow-host",
                f"localhost:{server.server_port}",
                "--copy",
                "ask.py",
                "--",
                "python3",
                "ask.py",
            )
            house = {"EVALSI_SANDBOX_DRIVERS": "bubblewrap", "EVALSI_SANDBOX_EGRESS_NETWORKS": "127.0.0.0/8, ::1/128"}
            allowed = evalsi(*run, here, "http://example.com/", cwd=tmp_path, env=house)
            refused = evalsi(*run, here, cwd=tmp_path, env={"EVALSI_SANDBOX_DRIVERS": "bubblewrap"})
        finally:
            server.shutdown()
            serving.join()
    assert (allowed.status, allowed.out) == (0, "from the mirror\n403\n")
    assert allowed.err == "network: example.com:80 is not among what this sandbox may reach\n"
    assert refused.out == "403\n"
    assert "an address of this machine" in refused.err
    wrong = evalsi("sandbox", "run", "--allow-host", "*", "--", "true", cwd=tmp_path)
    assert wrong.status == 2
    assert "names no host" in wrong.err
