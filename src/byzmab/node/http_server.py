"""The HTTP server of nodes and pages: a listening socket, and uvicorn on it."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn

from byzmab.node.faults import refusal
from byzmab.node.http_connections import BoundedProtocol, Connections

GRACE = 2  # seconds that open requests, such as streams, get at the end
KEEP_ALIVE = 5  # seconds that a connection may be idle between two requests


def _drop(record: logging.LogRecord) -> bool:
    return False


class HttpServer(uvicorn.Server):
    """uvicorn, with signals left to us and no log lines for streams cut at the end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop; open streams are cut after GRACE seconds, which is not logged as an error."""
        log = logging.getLogger("uvicorn.error")
        log.addFilter(_drop)
        try:
            await super().shutdown(sockets)
            if self.server_state.tasks:  # they were told to end, and complain when they do
                await asyncio.wait(self.server_state.tasks, timeout=1.0)
        finally:
            log.removeFilter(_drop)


def make_server(app: Any, connections: int, wait: float) -> HttpServer:
    """A server of an ASGI application for so many connections at the same time, with `wait` seconds for headers."""
    protocol: Any = partial(BoundedProtocol, bounds=Connections(connections, wait))
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
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or BadInput."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise refusal(f"http {host}:{port} cannot be listened on: {error.strerror or error}", error) from None
