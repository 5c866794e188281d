"""The guard before the application: who may ask, how much, how often; it also measures how long answers take."""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
from prometheus_client import Histogram

from byzmab.node.admission import Denied, Headers, TokenFile, check_host, check_origin, check_path, checked_headers
from byzmab.node.api import Problem
from byzmab.node.config import Http, is_loopback
from byzmab.node.fast_path import FastAnswer, FastPath

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/healthz", "/readyz", "/", "/plotly.js"})  # asked without a token
FILES = "/static/"  # of pages, which hold nothing of the node's: so are these
ROUTES = {f"/v1/{name}": name for name in ("select", "selects", "rewards", "stream")}
ADDRESSES = 10_000  # whose rate is remembered
SAFE = ("GET", "HEAD")  # methods that change nothing


class RateLimit:
    """A token bucket for each address: `limit` requests per second, twice as many at once."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._left: dict[str, tuple[float, float]] = {}  # address → tokens left, and when

    def take(self, address: str, now: float) -> bool:
        """Take a token of an address; return whether there was one."""
        most = 2.0 * self._limit
        left, then = self._left.pop(address, (most, now))
        left = min(most, left + (now - then) * self._limit)
        self._left[address] = (max(left - 1.0, 0.0), now)  # the most recent last
        if len(self._left) > ADDRESSES:
            del self._left[next(iter(self._left))]
        return left >= 1.0


class Guard:
    """An ASGI application that passes on what is allowed, by the fast path or to another application."""

    def __init__(self, app: App, fast_path: FastPath, http: Http, latency: Histogram) -> None:
        self._app, self._fast_path, self._http, self._latency = app, fast_path, http, latency
        self.token = None if http.token_file is None else TokenFile(http.token_file)
        self._rate = RateLimit(http.rate_limit) if http.rate_limit else None
        self._local_only = is_loopback(http.host) and self.token is None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def note_status(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            headers = checked_headers(scope["headers"])
            self._check(scope, headers)
            body = await self._body(headers, receive)
            answer = await self._fast_path(scope["path"], body) if body and scope["method"] == "POST" else None
            if answer is None:
                await self._app(scope, receive if body is None else _replay(body, receive), note_status)
            else:
                status = answer.status
                await _send(send, answer)
        except Denied as denied:
            status = denied.status
            await _send(send, FastAnswer(status, msgspec.json.encode(Problem(status, denied.detail)), denied.headers))
        finally:
            self._latency.labels(_route(scope["path"]), status).observe(time.perf_counter() - began)

    def _check(self, scope: Scope, headers: Headers) -> None:
        path: str = scope["path"]
        if self._rate is not None:
            client = scope.get("client")
            if not self._rate.take(client[0] if client else "", time.monotonic()):
                raise Denied(429, f"more than {self._http.rate_limit:g} requests a second", (b"retry-after", b"1"))
        check_path(path)
        is_open = path in OPEN or path.startswith(FILES)
        if not (is_open and scope["method"] in SAFE):  # links to a page may come from anywhere
            check_origin(headers)
        if self.token is not None and not is_open:
            self.token.check(headers)
        if self._local_only:  # a page from elsewhere must not ask through the user's browser
            check_host(headers)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """Read the whole body; None if there is none, Denied if it is late, too large or not JSON."""
        length = headers.get(b"content-length")
        if length is None and b"transfer-encoding" not in headers:
            return None
        if length is not None and int(length) > self._http.body_limit:
            raise self._too_large()
        body, more = b"", True
        try:
            async with asyncio.timeout(self._http.body_wait):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Denied(400, "the request ended early")
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self._http.body_limit:
                        raise self._too_large()
        except TimeoutError:
            detail = f"the request did not arrive within {self._http.body_wait:g} s"
            raise Denied(408, detail, (b"connection", b"close")) from None
        if body and headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
            raise Denied(415, "the body must be application/json")
        try:
            body.decode()
        except UnicodeDecodeError:
            raise Denied(400, "the body is not UTF-8") from None
        return body

    def _too_large(self) -> Denied:
        return Denied(413, f"a request may have {self._http.body_limit} bytes", (b"connection", b"close"))


def _route(path: str) -> str:
    return ROUTES.get(path) or ("reward" if path.startswith("/v1/events/") else "other")


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body already read, then whatever comes after it."""
    first = True

    async def again() -> Message:
        nonlocal first
        if not first:
            return await receive()
        first = False
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _send(send: Send, answer: FastAnswer) -> None:
    headers = [*answer.headers]
    if answer.body:
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer.body))]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
