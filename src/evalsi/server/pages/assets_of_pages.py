"""The style sheets, the script and the icon of the pages: read once, at addresses that change with their content.

Its own module because templates need the addresses and the application the content.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from evalsi.core.errors import NotFoundError

_ASSETS: Mapping[str, tuple[str, str]] = {
    "base.css": ("evalsi.report", "templates/report.css"),
    "pages.css": ("evalsi.server.pages", "assets/pages.css"),
    "pages.js": ("evalsi.server.pages", "assets/pages.js"),
    "icon.svg": ("evalsi.server.pages", "assets/icon.svg"),
}
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


@cache
def asset(name: str) -> bytes:
    """Raises: NotFoundError: there is no such file."""
    found = _ASSETS.get(name)
    if found is None:
        raise NotFoundError(f"there is no file {name[:80]!r} here")
    return files(found[0]).joinpath(found[1]).read_bytes()


def asset_type(name: str) -> str:
    return _TYPES[name.rpartition(".")[2]]


@cache
def asset_address(name: str) -> str:
    """The address of an asset, which changes with its content."""
    return f"/ui/assets/{name}?v={hashlib.sha256(asset(name)).hexdigest()[:12]}"
