"""Pages of a server that asks who is calling: a key opens a session, and the session may do what the key may."""

from collections.abc import Generator
from pathlib import Path

import pytest

from evalsi.server.pages.sessions import IDLE_S, Sessions
from tests.command_line import evalsi
from tests.server.pages.page_server import PageServer, words
from tests.server.running_server import running_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asking")


@pytest.fixture(scope="module")
def root(folder: Path) -> str:
    env = {"EVALSI_DIR": str(folder / "store")}
    made = evalsi("auth", "keys", "create", "root", "--role", "*=owner", "--local", cwd=folder, env=env)
    return made.out.strip()


@pytest.fixture(scope="module")
def asking(folder: Path, root: str) -> Generator[PageServer]:
    assert root
    (folder / "evalsi.yaml").write_text("data_dir: store\nauth: {}\nprojects: {billing: {}}\n", encoding="utf-8")
    with running_server(folder, ["--config", "evalsi.yaml"]) as server:
        yield PageServer(server)


@pytest.fixture
def visitor(asking: PageServer) -> PageServer:
    """Somebody with a browser of their own."""
    return PageServer(asking.server)


def sign_in(visitor: PageServer, key: str, going_to: str = "/ui/runs") -> tuple[int, str, str]:
    return visitor.send(f"/ui/sign-in?next={going_to}", {"key": key}, page="/ui/sign-in")


def test_without_a_key_every_page_leads_to_the_door(visitor: PageServer) -> None:
    for path in ("/ui/runs", "/ui/settings", "/ui/datasets"):
        status, headers = visitor.head(path)
        assert (status, headers["location"]) == (303, f"/ui/sign-in?next={path.replace('/', '%2F')}")
    for path in ("/ui/runs/live", "/ui/runs/x/live"):
        assert visitor.head(path)[0] == 303


def test_a_key_opens_a_session_that_leads_where_one_wanted_to_go(visitor: PageServer, root: str) -> None:
    status, where, _ = sign_in(visitor, root, "%2Fui%2Fruns%3Fsearch%3Dx")
    assert (status, where) == (303, "/ui/runs?search=x")
    assert "root" in words(visitor.get("/ui/settings"))


def test_the_cookie_is_no_key_and_no_script_reads_it(visitor: PageServer, root: str) -> None:
    token = visitor.get("/ui/sign-in").partition('name="form_token" value="')[2].partition('"')[0]
    _, headers, _ = visitor.server.request("POST", "/ui/sign-in", f"form_token={token}&key={root}")
    cookie = headers["set-cookie"]
    assert root not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Path=/ui/" in cookie


def test_a_wrong_key_opens_nothing_and_is_not_shown_again(visitor: PageServer) -> None:
    key = "evk_" + "x" * 43
    status, _, page = sign_in(visitor, key)
    assert status == 401
    assert "alert" in page
    assert key not in page
    assert visitor.cookie == ""


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/ui/", "//evil.example/ui/", "/ui/..%5C..", "/v1/runs", "x"]
)
def test_signing_in_leads_to_no_other_place(visitor: PageServer, root: str, elsewhere: str) -> None:
    assert sign_in(visitor, root, elsewhere)[1] == "/ui/"


def test_signing_out_ends_the_session(visitor: PageServer, root: str) -> None:
    sign_in(visitor, root)
    kept = visitor.cookie
    assert visitor.send("/ui/sign-out", {}, page="/ui/runs")[1] == "/ui/sign-in"
    visitor.cookie = kept
    assert visitor.head("/ui/runs")[0] == 303


def test_the_form_of_one_session_is_none_of_another(asking: PageServer, root: str) -> None:
    one, other = PageServer(asking.server), PageServer(asking.server)
    sign_in(one, root)
    sign_in(other, root)
    token = one.get("/ui/settings").partition('name="form_token" value="')[2].partition('"')[0]
    assert other.send("/ui/settings/projects", {"name": "theirs", "form_token": token})[0] == 403


def test_a_session_may_do_what_its_key_may_until_the_key_is_revoked(asking: PageServer, root: str) -> None:
    owner, reader = PageServer(asking.server), PageServer(asking.server)
    sign_in(owner, root)
    _, _, page = owner.send("/ui/settings/keys", {"name": "reader", "role": "viewer", "project": "billing"})
    secret = page.partition('"command">evk_')[2].partition("<")[0]
    sign_in(reader, f"evk_{secret}")
    assert "No run is stored yet" in reader.get("/ui/runs")
    assert reader.send("/ui/settings/projects", {"name": "mine"})[0] == 403
    assert "access.manage" in words(reader.get("/ui/settings"))
    assert "root" not in words(reader.get("/ui/settings"))
    owner.send("/ui/settings/keys/revoke", {"name": "reader"})
    assert reader.head("/ui/runs")[0] == 303


def test_what_the_pages_say_to_paste_names_the_variable_and_holds_no_key(visitor: PageServer, root: str) -> None:
    sign_in(visitor, root)
    page = visitor.get("/ui/runs")
    assert "Authorization: Bearer $EVALSI_API_KEY" in page
    assert root not in page


def test_a_session_that_nobody_used_ends() -> None:
    now_s = [0.0]
    sessions = Sessions(lambda: now_s[0])
    cookie = sessions.begin("evk_a")
    now_s[0] = IDLE_S
    assert sessions.find(cookie) is not None
    now_s[0] = 2 * IDLE_S + 1
    assert sessions.find(cookie) is None
    assert sessions.find("") is None
    assert "evk_a" not in repr(sessions.find(sessions.begin("evk_a")))
