"""The viewer as a program: addresses to pages, what moves as server-sent events, and who may look."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from whet.errors import WhetError
from whet.evals.estimate import mean_estimate
from whet.report.page import STATIC as SHARED
from whet.web import pages, review
from whet.web.guard import LOOPBACK, App, DoorGuard
from whet.web.site import ViewerSite

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

STATIC = Path(__file__).parent / "static"

FILES = {
    "whet.css": (SHARED / "whet.css", "text/css"),
    "view.js": (STATIC / "view.js", "text/javascript"),
    "icon.svg": (STATIC / "icon.svg", "image/svg+xml"),
}

PAUSE = 0.7
"""Seconds between two looks at whether a ledger has moved."""

ALIVE = 15.0
"""Seconds after which a silent stream says that it is still there."""

IMAGES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
"""What an image is by its first bytes; nothing else is sent as one."""


def build_app(root: Path, token: str = "", releases: Path | None = None) -> App:
    """The viewer of a folder of runs; with a token, for whoever has it.

    `releases` is the folder whose cases may be claimed and resolved here, by whoever has the token.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    site = ViewerSite(root.resolve())
    shown: dict[str, Callable[[Request], str]] = {
        "/": lambda request: pages.runs_page(site),
        "/run": lambda request: pages.run_page(site, _run(request)),
        "/rollouts": lambda request: pages.rollouts_page(site, _run(request), _words(request)),
        "/rollout": lambda request: pages.rollout_page(site, _run(request), _words(request)),
        "/playbook": lambda request: pages.playbook_page(site, _run(request)),
        "/decision": lambda request: pages.decision_page(site, _run(request), _whole(request, "number")),
        "/compare": lambda request: pages.compare_page(site, request.query_params.getlist("run")),
        "/pair": lambda request: pages.pair_page(site, *(request.query_params.get(n, "") for n in ("a", "b", "task"))),
    }
    routes = [Route(path, _page(made)) for path, made in shown.items()]
    routes += [
        Route("/text", _plain(site)),
        Route("/image", _image(site)),
        Route("/events", _events(site)),
        Route("/static/{name}", _static),
        Route("/review", _review(releases or _beside(root), writable=releases is not None)),
        *(Route(place, _moved(releases, place), methods=["POST"]) for place in review.MOVES if releases is not None),
    ]
    return DoorGuard(Starlette(routes=routes), token, frozenset(review.MOVES) if releases is not None else frozenset())


def _beside(root: Path) -> Path:
    """The releases that lie beside a folder of runs."""
    return root.resolve().parent / "releases"


def serve(
    root: Path,
    host: str,
    port: int,
    tell: Callable[[str], None],
    *,
    reviewing: bool = False,
    releases: Path | None = None,
) -> None:
    """Listen until the user ends it. Beyond this machine, and for reviewers, a token is asked for, and printed."""
    import uvicorn

    token = "" if host in LOOPBACK and not reviewing else secrets.token_urlsafe(24)
    app = build_app(root, token, (releases or _beside(root)) if reviewing else None)
    config = uvicorn.Config(app, host=host, port=port, log_level="error", access_log=False, timeout_graceful_shutdown=1)
    config.load()
    try:
        sockets = [config.bind_socket()]
    except SystemExit:
        raise WhetError(f"{host}:{port} cannot be listened on; name another with --port, or 0 for a free one") from None
    bound = sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    secret = f"?token={token}" if token else ""
    tell(f"runs of {root}: http://{shown}:{bound}/{secret}")
    may = "read every run and decide cases" if reviewing else "read every run"
    tell("Ctrl-C ends it" + (f"; whoever has this address can {may}" if token else ""))
    threading.Thread(target=_warm, daemon=True).start()
    uvicorn.Server(config).run(sockets=sockets)


def _warm() -> None:
    """Load what the first estimate needs, so that the first page does not wait for it."""
    mean_estimate([0.0, 0.5, 1.0])


# --------------------------------------------------------------------------------------------- requests


def _words(request: Request) -> dict[str, str]:
    return dict(request.query_params)


def _run(request: Request) -> str:
    return str(request.query_params.get("run", ""))


def _whole(request: Request, name: str) -> int:
    said = str(request.query_params.get(name, ""))
    return int(said) if said.isdecimal() and len(said) < 16 else -1


READING = (sqlite3.Error, OSError, LookupError, ValueError, TypeError, AttributeError)
"""What reading a run raises that is half written or damaged."""


def _page(made: Callable[[Request], str]) -> Callable[[Request], Response]:
    """A page, or in its place a note that says why there is none."""
    from starlette.responses import HTMLResponse

    def answer(request: Request) -> Response:
        try:
            return HTMLResponse(made(request))
        except WhetError as problem:
            return HTMLResponse(pages.trouble_page(str(problem)), 404)
        except READING as problem:
            said = f"this run cannot be read now ({type(problem).__name__}: {problem}); whet verify says what is wrong"
            return HTMLResponse(pages.trouble_page(said), 500)

    return answer


def _plain(site: ViewerSite) -> Callable[[Request], Response]:
    """A whole text as it is: no browser takes it for anything but text."""
    from starlette.responses import PlainTextResponse

    def answer(request: Request) -> Response:
        try:
            text = pages.entry_text(site, _run(request), _whole(request, "seq"), _whole(request, "entry"))
        except (WhetError, *READING):
            return PlainTextResponse("no such text", 404)
        sandbox = {"content-security-policy": "default-src 'none'; sandbox"}
        return PlainTextResponse(text.encode("utf-8", "replace"), headers=sandbox)

    return answer


def _image(site: ViewerSite) -> Callable[[Request], Response]:
    from starlette.responses import PlainTextResponse, Response

    def answer(request: Request) -> Response:
        data = site.image(_run(request), str(request.query_params.get("sha256", "")))
        kind = next((kind for start, kind in IMAGES.items() if data and data.startswith(start)), None)
        if data is None or kind is None:
            return PlainTextResponse("no such image", 404)
        return Response(data, media_type=kind, headers={"content-security-policy": "default-src 'none'; sandbox"})

    return answer


def _review(releases: Path, *, writable: bool) -> Callable[[Request], Response]:
    return _page(lambda request: review.review_page(releases, _whole(request, "case"), writable=writable))


def _moved(releases: Path, place: str) -> Callable[[Request], object]:
    """A case claimed, returned or resolved; back to it, or to a note that says why not."""
    from starlette.responses import HTMLResponse, RedirectResponse

    async def answer(request: Request) -> Response:
        body = await request.body()
        if len(body) > review.LONGEST:
            return HTMLResponse(pages.trouble_page("this is too long"), 413)
        words = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        try:
            number = await asyncio.to_thread(review.move, releases, place, words)
        except WhetError as problem:
            return HTMLResponse(pages.trouble_page(str(problem)), 409)
        return RedirectResponse(f"/review?case={number}", 303)

    return answer


def _static(request: Request) -> Response:
    from starlette.responses import FileResponse, PlainTextResponse

    found = FILES.get(request.path_params["name"])
    return FileResponse(found[0], media_type=found[1]) if found else PlainTextResponse("not here", 404)


# --------------------------------------------------------------------------------------------- what moves


def _events(site: ViewerSite) -> Callable[[Request], object]:
    from starlette.responses import StreamingResponse

    async def answer(request: Request) -> Response:
        name = _run(request)
        return StreamingResponse(moves(site, name, request.is_disconnected), media_type="text/event-stream")

    return answer


async def moves(site: ViewerSite, name: str, gone: Callable[[], object]) -> AsyncIterator[str]:
    """Says `moved` whenever something was committed: to one run, or to any of them."""

    def look() -> object:
        folders = site.folders()
        wanted = [folders[name]] if name in folders else list(folders.values()) if not name else []
        return [(folder, site.signature(folder)) for folder in wanted]

    seen = await asyncio.to_thread(look)
    yield "retry: 2000\n\n"
    silent = 0.0
    while True:
        await asyncio.sleep(PAUSE)
        left = gone()
        if asyncio.iscoroutine(left) and await left:
            return
        now = await asyncio.to_thread(look)
        silent += PAUSE
        if now != seen:
            seen, silent = now, 0.0
            yield "event: moved\ndata: 1\n\n"
        elif silent > ALIVE:
            silent = 0.0
            yield ": still here\n\n"
