"""Bounds on connections before anybody is known: bytes of headers, seconds to send them, and idle connections.

uvicorn reads headers of any length for any time. Here they have HEADER_LIMIT bytes and some seconds; and where all
connections are taken, a new one replaces the one that has been idle longest, those that never asked anything first.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from byzmab.node.api import Problem

HEADER_LIMIT = 16_384  # bytes of a request before its body
BAD_REQUEST, TIMEOUT, TOO_LONG = 400, 408, 431


class Idle(Protocol):
    """A connection that may give way to another one."""

    def give_way(self) -> None:
        """Close at once."""


class Connections:
    """The idle connections of a server, in the order in which they became idle."""

    def __init__(self, most: int, wait: float) -> None:
        self._most = most
        self.wait = wait  # seconds for the headers of a request
        self._new: dict[Idle, None] = {}  # nothing was asked yet
        self._kept: dict[Idle, None] = {}  # between two requests

    def add(self, connection: Idle, is_new: bool) -> None:
        """Note that a connection is idle from now on."""
        (self._new if is_new else self._kept)[connection] = None

    def remove(self, connection: Idle) -> None:
        """Note that a connection is busy or gone."""
        self._new.pop(connection, None)
        self._kept.pop(connection, None)

    def make_room(self, taken: set[Any]) -> None:
        """Close idle connections until there is room for the newest."""
        while len(taken) >= self._most and (idle := self._new or self._kept):
            oldest = next(iter(idle))
            self.remove(oldest)
            taken.discard(oldest)
            oldest.give_way()


class BoundedProtocol(HttpToolsProtocol):
    """One connection; its idle time and the headers of its requests are bounded."""

    def __init__(
        self, *arguments: Any, bounds: Connections, handshake: "Handshake | None" = None, **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self._bounds, self._handshake = bounds, handshake
        self._unparsed = 0  # bytes since a head, a piece of a body or a request was complete
        self._in_head = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin: the first request must come in time."""
        super().connection_made(transport)
        if self._handshake is not None:
            self._handshake.leave()
        self._bounds.make_room(self.connections)
        self._bounds.add(self, is_new=True)
        self._timer = self.loop.call_later(self._bounds.wait, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_timer()
        self._bounds.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the head is too long or too late."""
        self._unparsed += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unparsed > HEADER_LIMIT:
            self._refuse(TOO_LONG, f"headers may have {HEADER_LIMIT} bytes")
        elif self._in_head and self._unparsed and self._timer is None:
            self._timer = self.loop.call_later(self._bounds.wait, self._give_up)

    def on_headers_complete(self) -> None:
        """Pass the request on, unless its head is too long."""
        self._stop_timer()
        self._unparsed, self._in_head = 0, False
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > HEADER_LIMIT:
            self._refuse(TOO_LONG, f"headers may have {HEADER_LIMIT} bytes")
            return
        self._bounds.remove(self)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of the body."""
        self._unparsed = 0
        if self.cycle is not None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Pass on the end of the request."""
        self._unparsed, self._in_head = 0, True
        if self.cycle is not None:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.pipeline and not self.transport.is_closing():
            self._bounds.add(self, is_new=False)

    def give_way(self) -> None:
        """Close at once, for a newer connection."""
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._refuse(BAD_REQUEST, "this is not HTTP/1.1")

    def _give_up(self) -> None:
        """Close a connection that was silent for too long, or whose headers are late."""
        self._timer = None
        if self._unparsed:
            self._refuse(TIMEOUT, f"the headers did not arrive within {self._bounds.wait:g} s")
        else:
            self.transport.close()

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with one sentence, and close."""
        if self.transport.is_closing():
            return
        body = msgspec.json.encode(Problem(status, detail))
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[status] + head + body)
        self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Handshake:
    """A connection whose TLS does not stand yet.

    It counts as an idle one: it has as many seconds as headers have, and gives way to newer ones.
    """

    def __init__(self, connection: socket.socket, tls: ssl.SSLContext, bounds: Connections, taken: set[Any]) -> None:
        self._connection, self._tls, self._bounds, self._taken = connection, tls, bounds, taken
        self._task: asyncio.Task[None] | None = None

    def begin(self, protocol: Callable[..., BoundedProtocol]) -> None:
        """Shake hands, then hand the connection over to a new protocol."""
        self._bounds.make_room(self._taken)
        self._bounds.add(self, is_new=True)
        self._taken.add(self)
        self._task = asyncio.create_task(self._shake_hands(partial(protocol, handshake=self)))

    def leave(self) -> None:
        """Note that the connection is encrypted, or gone."""
        self._bounds.remove(self)
        self._taken.discard(self)

    def give_way(self) -> None:
        """Close at once, for a newer connection or at the server's end."""
        if self._task is not None:
            self._task.cancel()

    shutdown = give_way  # its name in uvicorn

    async def _shake_hands(self, protocol: Callable[[], BoundedProtocol]) -> None:
        try:
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().connect_accepted_socket(
                protocol, self._connection, ssl=self._tls, ssl_handshake_timeout=self._bounds.wait
            )
        except OSError:  # strangers who speak no TLS, or nothing, are no news; SSLError and TimeoutError are such, too
            self._connection.close()
        finally:
            self.leave()
