"""Listening for HTTP: the socket, and uvicorn on it, for nodes and pages alike."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from byzmab.core.errors import BadInput

GRACE = 2  # seconds that open requests, such as streams, get at the end


class Server(uvicorn.Server):
    """uvicorn, but signals are ours."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def make_server(app: Any, connections: int) -> Server:
    """A server of an application, for so many connections at the same time."""
    return Server(
        uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=connections,
            timeout_graceful_shutdown=GRACE,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or BadInput."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise BadInput(f"http {host}:{port} cannot be listened on: {error.strerror or error}") from None
