"""Pages on loopback: our static files, Plotly's script, the headers that limit a page, and the server."""

import asyncio
import gzip
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from litestar import Litestar, Request, Response, Router, get
from litestar.config.app import AppConfig
from litestar.datastructures import CacheControlHeader
from litestar.plugins import InitPlugin
from litestar.response import File
from litestar.static_files import create_static_files_router
from litestar.types import Message, Scope

from byzmab.node.api import Problem
from byzmab.node.config import Http
from byzmab.node.fast_path import no_fast_path
from byzmab.node.guard import Guard
from byzmab.node.http_server import HttpServer, listen, make_server
from byzmab.node.metrics import latency_histogram
from byzmab.node.problems import problem_of

STATIC = Path(__file__).parent / "static"
LOOPBACK = "127.0.0.1"
ASKED_AGAIN = CacheControlHeader(no_cache=True)  # else a browser mixes files of two versions that it kept
# Plotly sets style attributes and makes two style elements: one empty, filled by script, and one for maps, of which we
# draw none. Its downloads are drawn from data and blob URLs.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
MAP_STYLE = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": f"'self' {EMPTY_STYLE} {MAP_STYLE}",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


@cache
def _plotly(compressed: bool) -> bytes:
    """Plotly's script, from its own package; that has no smaller one."""
    script = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return gzip.compress(script, 6) if compressed else script


@get("/plotly.js", media_type="text/javascript")
async def plotly_script(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Plotly's script, compressed for browsers that accept it so: a third of the bytes."""
    compressed = "gzip" in request.headers.get("accept-encoding", "")
    script = await asyncio.to_thread(_plotly, compressed)
    headers = {"vary": "accept-encoding", "cache-control": "private, max-age=86400"}
    return Response(script, headers={**headers, **({"content-encoding": "gzip"} if compressed else {})})


async def _add_headers(message: Message, _: Scope) -> None:
    """Add the headers that limit what a page may do to every answer, errors and files included."""
    if message["type"] == "http.response.start":
        added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
        message["headers"] = [*message.get("headers", []), *added]


def page(name: str) -> File:
    """The answer that is one of our HTML files."""
    headers = {ASKED_AGAIN.HEADER_NAME: ASKED_AGAIN.to_header()}
    return File(
        STATIC / name, media_type="text/html; charset=utf-8", content_disposition_type="inline", headers=headers
    )


def _static_files() -> Router:
    return create_static_files_router(path="/static", directories=[STATIC], cache_control=ASKED_AGAIN)


def _too_deep(_: Request[Any, Any, Any], error: RecursionError) -> Response[Problem]:
    problem, _headers = problem_of(error)
    return Response(problem, status_code=problem.status_code)


def make_site(handlers: Sequence[Any], exception_handlers: Mapping[Any, Any], **settings: Any) -> Litestar:
    """An application of these handlers, the shared files and Plotly."""
    return Litestar(
        [*handlers, plotly_script, _static_files()],
        exception_handlers={**exception_handlers, RecursionError: _too_deep},
        before_send=[_add_headers],
        logging_config=None,
        openapi_config=None,
        **settings,
    )


class Pages(InitPlugin):
    """A plug-in that adds pages to another application: their handlers, the shared files and Plotly."""

    def __init__(self, handlers: Sequence[Any]) -> None:
        self._handlers = handlers

    def on_app_init(self, app_config: AppConfig) -> AppConfig:
        """Add the pages, outside of the application's schema."""
        pages = Router("/", route_handlers=[*self._handlers, plotly_script], include_in_schema=False)
        app_config.route_handlers += [pages, _static_files()]
        app_config.before_send.append(_add_headers)
        return app_config


@contextmanager
def serve_in_background(app: Any, port: int) -> Iterator[str]:
    """Serve an application on loopback from a thread, within the block; yield its address."""
    listener = listen(LOOPBACK, port)
    server = _make_server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), name="pages", daemon=True)
    thread.start()
    try:
        yield _address(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def serve(app: Any, port: int, opened: Callable[[str], None]) -> None:
    """Serve an application on loopback until SIGINT or SIGTERM; call `opened` with its address first."""
    listener = listen(LOOPBACK, port)
    try:
        asyncio.run(_serve(app, listener, opened))
    finally:
        listener.close()


async def _serve(app: Litestar, listener: Any, opened: Callable[[str], None]) -> None:
    server = _make_server(app)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    opened(_address(listener))
    await server.serve([listener])


def _make_server(app: Any) -> HttpServer:
    http = Http(host=LOOPBACK, connections=256)
    return make_server(Guard(app, no_fast_path, http, latency_histogram()), http.connections, http.body_wait)


def _address(listener: Any) -> str:
    return "http://{}:{}/".format(*listener.getsockname()[:2])
