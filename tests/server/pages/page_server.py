"""A server as a browser without a script sees it: pages, their links, their forms."""

import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from tests.server.running_server import RunningServer

_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


@dataclass
class PageServer:
    server: RunningServer
    store: Path = Path()
    """The folder of its store."""
    ids: dict[str, str] = field(default_factory=dict[str, str])
    """Runs by a word."""
    cookie: str = ""

    def get(self, path: str, status: int = 200) -> str:
        found, _, body = self.server.request("GET", path, headers=self._headers())
        assert found == status, (path, found, body[:2000])
        return body.decode()

    def head(self, path: str) -> tuple[int, dict[str, str]]:
        status, headers, _ = self.server.request("GET", path, headers=self._headers())
        return status, headers

    def send(
        self, path: str, fields: dict[str, str], page: str = "/ui/settings", **headers: str
    ) -> tuple[int, str, str]:
        """Sends a form that stands on `page`: status, where it leads, body. A session cookie is kept."""
        token = _TOKEN.search(self.get(page))
        body = urlencode({"form_token": token[1] if token else "", **fields})
        sent = {**self._headers(), "content-type": "application/x-www-form-urlencoded", **headers}
        status, got, answer = self.server.request("POST", path, body, sent)
        if "set-cookie" in got:
            self.cookie = got["set-cookie"].partition(";")[0]
        return status, got.get("location", ""), answer.decode()

    def _headers(self) -> dict[str, str]:
        return {"cookie": self.cookie} if self.cookie else {}


def links(page: str, word: str) -> list[str]:
    """Addresses of a page that hold `word`, in their order."""
    return [unescape(found) for found in re.findall(r'href="([^"]+)"', page) if word in found]


def words(page: str) -> str:
    """What a reader sees of a page before its commands, white space made one."""
    body = page.partition("<main")[2].partition('<details class="calls">')[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())
