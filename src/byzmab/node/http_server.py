"""The HTTP server of nodes and pages: a listening socket, and uvicorn on it."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn

from byzmab.node.faults import refusal
from byzmab.node.http_connections import BoundedProtocol, Connections, Handshake

GRACE = 2  # seconds that open requests, such as streams, get at the end
ACCEPT_AGAIN = 0.1  # seconds after which a connection that could not be accepted is tried again
KEEP_ALIVE = 5  # seconds that a connection may be idle between two requests


def _drop(record: logging.LogRecord) -> bool:
    return False


class HttpServer(uvicorn.Server):
    """uvicorn, with signals left to us, no log lines for streams cut at the end, and bounds on TLS handshakes."""

    def __init__(self, config: uvicorn.Config, bounds: Connections, tls: ssl.SSLContext | None) -> None:
        super().__init__(config)
        self._bounds, self._tls = bounds, tls
        self._accepting: list[asyncio.Task[None]] = []

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; with TLS connections are accepted here, as the loop's own servers let handshakes wait unbounded."""
        if self._tls is None:
            await super().startup(sockets)
            return
        await super().startup([])
        self._accepting = [asyncio.create_task(self._accept(each, self._tls)) for each in sockets or ()]

    async def _accept(self, listener: socket.socket, tls: ssl.SSLContext) -> None:
        loop, taken = asyncio.get_running_loop(), self.server_state.connections
        state = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        protocol: Any = self.config.http_protocol_class
        listener.setblocking(False)
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:  # too many open files, or the other side has gone already
                await asyncio.sleep(ACCEPT_AGAIN)
                continue
            Handshake(connection, tls, self._bounds, taken).begin(partial(protocol, **state))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; open streams are cut after GRACE seconds, which is not logged as an error."""
        for task in self._accepting:
            task.cancel()
        log = logging.getLogger("uvicorn.error")
        log.addFilter(_drop)
        try:
            await super().shutdown(sockets)
            if self.server_state.tasks:  # they were told to end, and complain when they do
                await asyncio.wait(self.server_state.tasks, timeout=1.0)
        finally:
            log.removeFilter(_drop)


def make_server(app: Any, connections: int, wait: float, tls: ssl.SSLContext | None = None) -> HttpServer:
    """A server of an ASGI application for so many connections at the same time, with `wait` seconds for headers."""
    bounds = Connections(connections, wait)
    protocol: Any = partial(BoundedProtocol, bounds=bounds)
    return HttpServer(
        uvicorn.Config(
            app,
            http=protocol,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=connections,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
        ),
        bounds,
        tls,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or BadInput."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise refusal(f"http {host}:{port} cannot be listened on: {error.strerror or error}", error) from None
