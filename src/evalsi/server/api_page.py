"""The page at `/docs`: every method with its addresses, for a person with a browser and no network.

Its own module because it is a view of the schema and nothing else. It has no script and asks nobody for anything.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from evalsi.core.version import __version__
from evalsi.server.served_method import ServedMethod

_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
.verb { display: inline-block; min-width: 4.2em; font-weight: 600 }
"""


def api_page(served: Sequence[ServedMethod]) -> bytes:
    """The page as HTML."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Evals.si API</title>",
        f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>",
        f"<h1>Evals.si API</h1><p>Version {escape(__version__)}. Every method is here over REST, gRPC, gRPC-Web and Connect; ",
        "<a href=/openapi.json>openapi.json</a> describes the REST addresses and their JSON.</p>",
        '<pre><code>curl -d \'{"records": [{"id": "1", "output": {"text": "Paris"}, "reference": {"text": "Paris"}}], '
        '"evaluators": [{"ref": "exact-match"}]}\' http://127.0.0.1:8080/v1alpha1/evaluate</code></pre>',
    ]
    for service, methods in groupby(served, key=lambda one: one.method.service):
        parts += [
            f"<h2>{escape(service)}</h2><table><tr><th>Method<th>REST<th>Kind<th>Needs</tr>",
            *_rows(methods),
            "</table>",
        ]
    return "".join(parts).encode()


def _rows(methods: Iterator[ServedMethod]) -> Iterator[str]:
    for one in methods:
        method = one.method
        rest = f"<span class=verb>{method.verb}</span> <code>{escape(method.path)}</code>" if method.verb else "–"
        sent = "stream in" if method.client_streams else ""
        got = "stream out" if method.server_streams else ""
        kind = ", ".join(filter(None, (sent, got))) or "call"
        yield f"<tr><td><code>{method.name}</code><td>{rest}<td>{kind}<td><code>{escape(method.action)}</code></tr>"
