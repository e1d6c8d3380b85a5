"""The pages as an ASGI application: addresses, signing in, forms, and what every answer carries.

Its own module because what must hold for every page is decided here: a strict content security policy, no page kept by
caches, forms taken only from pages of ours, and an error shown as a page with its sentence. Decision 0021 says why pages are
rendered here.
"""

from collections.abc import Awaitable, Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TypeAlias
from urllib.parse import quote, unquote, urlsplit

from evalsi.core.errors import EvalsiError, ForbiddenError, NotFoundError, UnauthenticatedError
from evalsi.schema import WhoAmIRequest, WhoAmIResponse
from evalsi.schema.schema_error import SchemaError
from evalsi.server.calls import Door
from evalsi.server.exchange import ClientGoneError, Exchange, Headers, Receive, Scope, Send
from evalsi.server.fault import Fault, fault_of
from evalsi.server.pages.assets_of_pages import asset, asset_type
from evalsi.server.pages.catalog_page import catalog_page, evaluator_page
from evalsi.server.pages.compare_page import compare_page
from evalsi.server.pages.datasets_page import dataset_page, datasets_page, review_dataset, start_run, upload_dataset
from evalsi.server.pages.failures_page import (
    delete_failure,
    failure_page,
    failures_page,
    publish_failures,
    review_failure,
    update_failure,
)
from evalsi.server.pages.live_events import list_events, run_events
from evalsi.server.pages.observation_page import observation_page
from evalsi.server.pages.policies_page import policies_page, policy_page
from evalsi.server.pages.run_page import archive_run, cancel_run, resume_run, run_page
from evalsi.server.pages.runs_page import runs_page
from evalsi.server.pages.session_page import session_page
from evalsi.server.pages.sessions import COOKIE, Sessions, is_same
from evalsi.server.pages.settings_page import create_key, create_project, revoke_key, settings_page
from evalsi.server.pages.templates_of_pages import rendered
from evalsi.server.pages.trace_compare_page import trace_compare_page
from evalsi.server.pages.trace_page import capture_trace, trace_page
from evalsi.server.pages.traces_page import trace_events, trace_facets, traces_page
from evalsi.server.pages.visit import Moved, Page, Query, Visit
from evalsi.server.served_method import ServedMethod

ROOT = "/ui/"
MOST_FORM_BYTES = 64 << 10
MOST_UPLOAD_BYTES = 16 << 20
"""Of the form with the rows of a dataset, as a browser encodes it; larger files come by the command line."""
UPLOAD = "datasets/upload"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_EVERY_ANSWER: Headers = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
)
Handler: TypeAlias = Callable[..., Awaitable[Page | Moved | None]]
"""Takes the visit and the parts of the address that a route leaves open; None where it answered itself."""

_PAGES: Sequence[tuple[str, Handler]] = (
    ("runs", runs_page),
    ("runs/live", list_events),
    ("runs/{}", run_page),
    ("runs/{}/live", run_events),
    ("runs/{}/record", observation_page),
    ("compare", compare_page),
    ("traces", traces_page),
    ("traces/live", trace_events),
    ("traces/facets", trace_facets),
    ("traces/compare", trace_compare_page),
    ("traces/{}", trace_page),
    ("sessions/{}", session_page),
    ("policies", policies_page),
    ("policies/{}", policy_page),
    ("failures", failures_page),
    ("failures/{}", failure_page),
    ("datasets", datasets_page),
    ("datasets/{}/{}", dataset_page),
    ("catalog", catalog_page),
    ("catalog/{}/{}", evaluator_page),
    ("settings", settings_page),
)
_FORMS: Sequence[tuple[str, Handler]] = (
    ("runs/{}/cancel", cancel_run),
    ("runs/{}/resume", resume_run),
    ("runs/{}/archive", archive_run),
    ("traces/{}/capture", capture_trace),
    ("failures/publish", publish_failures),
    ("failures/{}/update", update_failure),
    ("failures/{}/review", review_failure),
    ("failures/{}/delete", delete_failure),
    (UPLOAD, upload_dataset),
    ("datasets/{}/{}/review", review_dataset),
    ("datasets/{}/{}/run", start_run),
    ("settings/keys", create_key),
    ("settings/keys/revoke", revoke_key),
    ("settings/projects", create_project),
)


class Pages:
    """Answers everything under `/ui/`.

    Args:
        door: The one of the server.
        served: The methods of the server.
    """

    def __init__(self, door: Door, served: Sequence[ServedMethod]) -> None:
        self._door = door
        self._served = {one.short_name: one for one in served}
        self._sessions = Sessions()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send, most_bytes=MOST_FORM_BYTES)
        try:
            await self._handle(exchange)
        except ClientGoneError:
            return
        except Exception as error:
            if not isinstance(error, (EvalsiError, SchemaError)):
                self._door.journal.crash(error, path=exchange.path[:200], request_id=exchange.request_id)
            if exchange.started:
                raise
            await self._show_fault(self._visit(exchange), fault_of(error))

    async def _handle(self, exchange: Exchange) -> None:
        path = exchange.raw_path.removeprefix(ROOT).rstrip("/")
        if path.startswith("assets/"):
            await _send_asset(exchange, path.removeprefix("assets/"))
            return
        visit = self._visit(exchange)
        if exchange.method not in ("GET", "HEAD", "POST"):
            fault = Fault(http_status=405, grpc_status=12, code="usage", message="a page takes GET and POST")
            await self._show_fault(visit, fault, [("allow", "GET, HEAD, POST")])
            return
        if path == UPLOAD and (visit.session is not None or not self._door.authenticator.enabled):
            exchange.allow(MOST_UPLOAD_BYTES)
        if exchange.method == "POST":
            visit.form = await self._checked_form(visit)
        try:
            answer = await self._answer(visit, path)
        except UnauthenticatedError:
            address = exchange.path + (f"?{exchange.query}" if exchange.query else "")
            answer = Moved(to=f"{ROOT}sign-in?next={quote(address if exchange.method == 'GET' else ROOT, safe='')}")
        await self._send(visit, answer)

    async def _answer(self, visit: Visit, path: str) -> Page | Moved | None:
        match path, visit.exchange.method:
            case "", _:
                return Moved(to=f"{ROOT}runs")
            case "sign-in", "POST":
                return await self._sign_in(visit)
            case "sign-in", _:
                return Page(template="sign_in.html.jinja", values={"problem": ""})
            case "sign-out", "POST":
                self._sessions.end(_cookie(visit.exchange))
                return Moved(to=f"{ROOT}sign-in", cookie=_set_cookie(visit.exchange, "", max_age_s=0))
            case _:
                routes = _FORMS if visit.exchange.method == "POST" else _PAGES
                handler, places = _found(routes, path)
                return await handler(visit, *places)

    async def _sign_in(self, visit: Visit) -> Page | Moved:
        key = visit.form.get("key")
        cookie = self._sessions.begin(key)
        visit.session = self._sessions.find(cookie)
        try:
            await visit.call("AuthService.WhoAmI", WhoAmIRequest(), WhoAmIResponse)
        except UnauthenticatedError as error:
            self._sessions.end(cookie)
            visit.session = None
            return Page(template="sign_in.html.jinja", values={"problem": error.message}, status=401)
        self._sessions.end(_cookie(visit.exchange))
        return Moved(to=_local(visit.query.get("next")), cookie=_set_cookie(visit.exchange, cookie))

    def _visit(self, exchange: Exchange) -> Visit:
        session = self._sessions.find(_cookie(exchange)) if self._door.authenticator.enabled else None
        token = session.form_token if session is not None else self._sessions.open_form_token
        return Visit(exchange=exchange, door=self._door, served=self._served, session=session, form_token=token)

    async def _checked_form(self, visit: Visit) -> Query:
        """The fields of a form of ours. Raises: ForbiddenError: it came from somewhere else."""
        headers = visit.exchange.headers
        origin = headers.get("origin", "")
        elsewhere = origin not in ("", visit.origin) or headers.get("sec-fetch-site", "same-origin") not in (
            "same-origin",
            "none",
        )
        body = await visit.exchange.body()
        form = Query(body.decode("utf-8", errors="replace"))
        if elsewhere or not is_same(form.get("form_token"), visit.form_token):
            raise ForbiddenError(
                "the form did not come from this page", hint="open the page again and send it once more"
            )
        return form

    async def _send(self, visit: Visit, answer: Page | Moved | None) -> None:
        match answer:
            case Page():
                body = rendered(visit, answer)
                headers = [*_EVERY_ANSWER, ("cache-control", "no-store")]
                await visit.exchange.answer(answer.status, body, "text/html; charset=utf-8", headers)
            case Moved():
                headers = [*_EVERY_ANSWER, ("location", answer.to), ("cache-control", "no-store")]
                if answer.cookie:
                    headers.append(("set-cookie", answer.cookie))
                await visit.exchange.answer(303, b"", "text/plain", headers)
            case None:
                pass

    async def _show_fault(self, visit: Visit, fault: Fault, headers: Headers = ()) -> None:
        page = Page(template="fault.html.jinja", values={"fault": fault}, status=fault.http_status)
        extra = [*_EVERY_ANSWER, ("cache-control", "no-store"), *headers]
        if visit.exchange.method == "POST":
            extra += await visit.exchange.headers_of_refusal()
        await visit.exchange.answer(page.status, rendered(visit, page), "text/html; charset=utf-8", extra)


def _found(routes: Sequence[tuple[str, Handler]], path: str) -> tuple[Handler, list[str]]:
    """The handler for a path and what stands in its open places. The most literal route wins: it stands first."""
    parts = path.split("/")
    for route, handler in routes:
        wanted = route.split("/")
        if len(wanted) == len(parts) and all(want in ("{}", part) for want, part in zip(wanted, parts, strict=True)):
            places = [unquote(part) for want, part in zip(wanted, parts, strict=True) if want == "{}"]
            if all(places):
                return handler, places
    raise NotFoundError(f"there is no page at {ROOT}{unquote(path)[:200]}")


async def _send_asset(exchange: Exchange, name: str) -> None:
    # The address bears the digest of the content, so what it names never changes.
    headers = [*_EVERY_ANSWER, ("cache-control", "public, max-age=31536000, immutable")]
    await exchange.answer(200, asset(name), asset_type(name), headers)


def _cookie(exchange: Exchange) -> str:
    try:
        found = SimpleCookie(exchange.headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _set_cookie(exchange: Exchange, value: str, *, max_age_s: int | None = None) -> str:
    secure = "; Secure" if exchange.scheme == "https" else ""
    age = f"; Max-Age={max_age_s}" if max_age_s is not None else ""
    return f"{COOKIE}={value}; Path={ROOT}; HttpOnly; SameSite=Strict{secure}{age}"


def _local(address: str) -> str:
    """An address of ours to go on to; the first page where it is none."""
    parts = urlsplit(address)
    ours = not parts.scheme and not parts.netloc and parts.path.startswith(ROOT) and "\\" not in address
    return quote(address, safe="/?&=%:,+~!*'();@$-._") if ours else ROOT
