"""The page at `/docs`: every method with its addresses, for a person with a browser and no network.

Its own module because it is a view of the schema and nothing else. It has no script and asks nobody for anything.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path

import msgspec

from evalsi.core.version import __version__
from evalsi.server.served_method import ServedMethod

OPENAPI = Path(__file__).parent.parent / "schema" / "openapi.json"
_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem }
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: 4px }
p.services { line-height: 1.9 }
p.services a { margin-right: 1.2em; white-space: nowrap }
td p { margin: 0 }
th, td:last-child code { white-space: nowrap }
tr:target { background: color-mix(in srgb, currentColor 8%, transparent) }
.fields { font-size: .9em; opacity: .8 }
@media (max-width: 45rem) {
  table, tbody, tr, td { display: block }
  th { display: none }
  td { border: 0; padding: .1rem 0 }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0 }
}
.verb { display: inline-block; min-width: 4.2em; font-weight: 600 }
"""


class _Operation(msgspec.Struct, frozen=True, rename="camel"):
    operation_id: str = ""
    summary: str = ""


class _Api(msgspec.Struct, frozen=True):
    paths: dict[str, dict[str, _Operation]]


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
    names = dict.fromkeys(one.method.service for one in served)
    parts += ["<p class=services>", *(f"<a href=#{escape(name)}>{escape(_short(name))}</a> " for name in names), "</p>"]
    for service, methods in groupby(served, key=lambda one: one.method.service):
        parts += [
            f"<h2 id={escape(service)}>{escape(service)}</h2><table><tr><th>Method<th>REST<th>Kind<th>Needs</tr>",
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
        told = escape(_descriptions().get(f"{_short(method.service)}_{method.name}", ""))
        fields = (
            f"{method.request} ({', '.join(one.request.__struct_fields__)})" if one.request.__struct_fields__ else ""
        )
        yield (
            f"<tr id={one.short_name}><td><a href=#{one.short_name}><code>{method.name}</code></a><p>{told}</p>"
            f"<p class=fields>{escape(fields)}</p>"
            f"<td>{rest}<td>{kind}<td><code>{escape(method.action)}</code></tr>"
        )


def _short(service: str) -> str:
    return service.rpartition(".")[2]


@cache
def _descriptions() -> dict[str, str]:
    """What each method does, by `Service_Method`, as the description of the REST addresses has it."""
    found = msgspec.json.decode(OPENAPI.read_bytes(), type=_Api)
    return {one.operation_id: one.summary for path in found.paths.values() for one in path.values()}
