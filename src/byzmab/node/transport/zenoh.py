"""The transport of real networks: eclipse-zenoh from neighbour to neighbour, without a broker.

A node has one session for the neighbours that connect to it, and one for each neighbour that it connects to. Sessions
are cheap (0.2 MB, no threads of their own), and one that holds a single neighbour can be opened and closed without
disturbing another. Neighbours do not forward, so a frame travels along its own link or not at all.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import zenoh

from byzmab.core.errors import BadInput
from byzmab.node.faults import refusal
from byzmab.node.tls import watch_certificates
from byzmab.node.transport.access import DECLARED, IN, OUT, PUT, Passage, access_control, tls_settings
from byzmab.node.transport.base import MOST_BYTES, WAITING, Certificates, Deliver, Link
from byzmab.node.transport.session import LinkStates, Session, Subscription, attempt

PERIOD = 0.01  # seconds between two looks at what came in
RECONNECT_AFTER = 3.0  # seconds without a connection after which a session is opened anew
LAST_PORT = 65_535
TURNS = 2  # frames taken in from a neighbour at each look, so at most 200 per second
SETTINGS: dict[str, Any] = {
    "mode": "peer",
    "scouting/multicast/enabled": False,
    "scouting/gossip/enabled": False,
    "scouting/delay": 0,
    "open/return_conditions": {"connect_scouted": False, "declares": False},  # opening waits for nobody
    "connect/timeout_ms": -1,  # tried for ever
    "connect/exit_on_failure": False,
    "connect/retry": {"period_init_ms": 200, "period_max_ms": 2000, "period_increase_factor": 1.5},
    "listen/retry": {"period_init_ms": 50, "period_max_ms": 1000, "period_increase_factor": 1.5},
    "transport/unicast/open_timeout": 3000,
    "transport/unicast/accept_timeout": 3000,
    "transport/link/tx/lease": 4000,  # ms of silence, keep-alives included, after which a link is opened anew
    "transport/link/tx/queue/congestion_control/drop/wait_before_drop": 0,
    "transport/link/tx/queue/congestion_control/drop/max_wait_before_drop_fragments": 0,
    "transport/link/tx/queue/size/data": 16,  # batches of up to 64 kB that wait for a slow link; more are dropped
    "transport/link/rx/max_message_size": MOST_BYTES,
    "transport/shared_memory/enabled": False,
}
log = logging.getLogger(__name__)


class ZenohTransport:
    """One node's end of its links; see `Transport`.

    With certificates, links are TLS with both sides authenticated. A neighbour can then neither send under another's
    name nor read what is sent to another: the common name on its certificate decides which frames pass. Without, anyone
    who reaches the port can do both. Frames are signed, so that is no way to lie, but to crowd out and to spy.
    """

    def __init__(
        self, network: str, key: str, listen: tuple[str, ...] = (), certificates: Certificates | None = None
    ) -> None:
        self._network, self._key, self._listen, self._certificates = network, key, listen, certificates
        for endpoint in listen:
            self._check(endpoint)
        self._renewed = None if certificates is None else watch_certificates(certificates)
        self._used = None if self._renewed is None else self._renewed.value  # by the sessions that are open
        self._links: dict[str, Link] = {}
        self._inbound: Session | None = None  # for neighbours who connect to us; None where we do not listen
        self._outbound: dict[str, Session] = {}  # for those that we connect to, by neighbour
        self._states = LinkStates()
        self._deliver: Deliver | None = None
        self._lock = threading.Lock()  # of changes; sending does not wait for them
        self._ended = threading.Event()
        self._receiver = threading.Thread(target=self._receive, name="transport", daemon=True)

    def open(self, deliver: Deliver) -> None:
        """Listen, connect, and take in frames."""
        with self._lock:
            self._deliver = deliver
            self._open_inbound(retry=False)
            for link in self._links.values():
                self._connect(link)
            self._receiver.start()

    def link(self, link: Link) -> None:
        """Add a neighbour, or change it."""
        if link.endpoint is not None:
            self._check(link.endpoint)
        with self._lock:
            if self._links.get(link.name) == link:
                return
            session = self._new_session(link) if self._deliver is not None else None
            self._remove(link.name)
            self._links[link.name] = link
            if session is not None:
                self._outbound[link.name] = session
            if self._deliver is not None and self._inbound is not None and self._is_admitted(link, self._inbound):
                self._declare(self._inbound, link)

    def unlink(self, name: str) -> None:
        """Remove a neighbour."""
        with self._lock:
            self._links.pop(name, None)
            self._states.forget(name)
            self._remove(name)

    def send(self, name: str, frame: bytes) -> None:
        """Put a frame on its way, or drop it where the link is down or full."""
        session = self._outbound.get(name) or self._inbound
        publisher = session.publishers.get(name) if session is not None else None
        if publisher is not None:
            attempt(publisher.put, frame)

    def is_up(self, name: str) -> bool | None:
        """Whether the link of a neighbour was up at the last look."""
        return self._states.is_up(name)

    def close(self) -> None:
        """Close all links."""
        self._ended.set()
        if self._receiver.is_alive():
            self._receiver.join()
        with self._lock:
            self._deliver = None
            for name in tuple(self._outbound):
                self._remove(name)
            if self._inbound is not None:
                self._inbound.close()
                self._inbound = None

    def _check(self, endpoint: str) -> None:
        allowed, when = ("tcp/", "without") if self._certificates is None else ("tls/", "with")
        host, _, port = endpoint.removeprefix(allowed).rpartition(":")
        usable = host and " " not in host and port.isascii() and port.isdecimal() and int(port) <= LAST_PORT
        if not endpoint.startswith(allowed) or not usable:
            raise BadInput(f"endpoint {endpoint!r} is not allowed {when} certificates; allowed: {allowed}host:port")

    def _remove(self, name: str) -> None:
        if self._inbound is not None:
            self._inbound.remove(name)
        session = self._outbound.pop(name, None)
        if session is not None:
            session.close()

    def _open_inbound(self, retry: bool) -> None:
        """Listen, for exactly the neighbours there are now; without `retry` a port in use is BadInput."""
        if not self._listen:
            return
        if self._inbound is not None:
            self._inbound.close()
        waiting = {"listen/timeout_ms": -1 if retry else 0, "listen/exit_on_failure": not retry}
        try:
            self._inbound = self._open({"listen/endpoints": self._listen, **waiting}, tuple(self._links.values()))
        except zenoh.ZError as error:
            raise refusal(f"endpoints {', '.join(self._listen)} cannot be opened: {_reason(error)}", error) from None
        self._inbound.presence = self._inbound.zenoh.declare_subscriber(
            self._presence_path(self._key), zenoh.handlers.RingChannel(1)
        )

    def _connect(self, link: Link) -> None:
        """Connect to a neighbour, if we are the side that connects."""
        session = self._new_session(link)
        if session is not None:
            self._outbound[link.name] = session

    def _new_session(self, link: Link) -> Session | None:
        """A session that connects to a neighbour, or BadInput; None if it connects to us."""
        if link.endpoint is None:
            return None
        try:
            session = self._open({"connect/endpoints": [link.endpoint], "listen/endpoints": []}, (link,))
        except zenoh.ZError as error:
            raise refusal(f"endpoint {link.endpoint!r} cannot be used: {_reason(error)}", error) from None
        session.presence = session.zenoh.declare_publisher(self._presence_path(link.key))
        return session

    def _open(self, endpoints: dict[str, Any], links: tuple[Link, ...]) -> Session:
        """A new session that lets through exactly what these links carry."""
        config = zenoh.Config()
        for path, value in {**SETTINGS, **self._security(links), **endpoints}.items():
            config.insert_json5(path, json.dumps(value))
        session = Session(zenoh.open(config), links)
        for link in links:
            self._declare(session, link, alone="connect/endpoints" in endpoints)
        return session

    def _is_admitted(self, link: Link, session: Session) -> bool:
        return self._certificates is None or link in session.admitted

    def _declare(self, session: Session, link: Link, alone: bool = False) -> None:
        """Declare what hears and tells a neighbour; one with a session of its own is told through that alone."""
        if link.hears:
            newest: Any = zenoh.handlers.RingChannel(WAITING)
            subscriber = session.zenoh.declare_subscriber(self._path(link.key, self._key), newest)
            session.subscriptions[link.name] = Subscription(subscriber, subscriber.handler)
        if link.tells and (alone or link.endpoint is None):
            path, drop = self._path(self._key, link.key), zenoh.CongestionControl.DROP
            session.publishers[link.name] = session.zenoh.declare_publisher(path, congestion_control=drop)

    def _path(self, teller: str, hearer: str) -> str:
        return f"byzmab/{self._network}/{teller}/{hearer}"

    def _presence_path(self, key: str) -> str:
        """Where nothing is ever sent: a subscriber there shows those who connect that the neighbour is present."""
        return f"byzmab/{self._network}/{key}"

    def _security(self, links: tuple[Link, ...]) -> dict[str, Any]:
        if self._certificates is None:
            return {"transport/link/protocols": ["tcp"]}
        passing = {link: self._passing(link) for link in links}
        return {"access_control": access_control(passing), **tls_settings(self._certificates)}

    def _passing(self, link: Link) -> list[Passage]:
        """The messages that a neighbour and we may exchange."""
        heard, told = self._path(link.key, self._key), self._path(self._key, link.key)
        passing = [
            Passage(OUT, DECLARED, self._presence_path(self._key)),
            Passage(IN, DECLARED, self._presence_path(link.key)),
        ]
        if link.hears:
            passing += [Passage(IN, PUT, heard), Passage(OUT, DECLARED, heard)]
        if link.tells:
            passing += [Passage(OUT, PUT, told), Passage(IN, DECLARED, told)]
        return passing

    def _receive(self) -> None:
        """Deliver frames as they come, neighbours taking turns; now and then check the sessions."""
        looked = time.monotonic()
        while not self._ended.wait(PERIOD):
            if time.monotonic() - looked > RECONNECT_AFTER / 10:
                looked = time.monotonic()
                _guard("links", self._check_sessions, looked)
            for session in (self._inbound, *tuple(self._outbound.values())):
                for name, subscription in tuple(session.subscriptions.items()) if session is not None else ():
                    self._receive_from(name, subscription)

    def _check_sessions(self, now: float) -> None:
        """Open sessions anew where zenoh does not do so itself.

        It learns only at opening who may pass: after a new neighbour, those who connect to us do so anew, in about
        0.2 s. And it connects again by itself, but not where a session was closed in the very moment of connecting.
        """
        with self._lock:
            if self._renewed is not None and self._used is not self._renewed.value:
                self._used = self._renewed.value
                self._open_anew()
            inbound = self._inbound
            if inbound is not None and not all(self._is_admitted(link, inbound) for link in self._links.values()):
                self._open_inbound(retry=True)
            for name, session in tuple(self._outbound.items()):
                if session.sees_neighbour:
                    session.last_seen = now
                elif now - session.last_seen > RECONNECT_AFTER:
                    session.close()
                    self._connect(self._links[name])
            for name in self._links:
                outbound = self._outbound.get(name)
                if outbound is not None:
                    self._states.note(name, outbound.sees_neighbour)
                elif self._inbound is not None:
                    self._states.note(name, self._inbound.is_heard_by(name))

    def _open_anew(self) -> None:
        """Open all sessions again, which read the certificates; neighbours are connected again within a second."""
        for name in tuple(self._outbound):
            self._outbound.pop(name).close()
            self._connect(self._links[name])
        self._open_inbound(retry=True)

    def _receive_from(self, name: str, subscription: Subscription) -> None:
        for _ in range(TURNS):
            try:
                sample = subscription.waiting.try_recv()
            except zenoh.ZError:  # undeclared meanwhile
                return
            if sample is None or self._deliver is None:
                return
            _guard(f"a frame of neighbour {name}", self._deliver, name, bytes(sample.payload))


def _guard(what: str, act: Callable[..., None], *arguments: Any) -> None:
    """Call a function; log what goes wrong, so that the next frame is handled."""
    try:
        act(*arguments)
    except Exception:
        log.exception("%s could not be handled", what)


def _reason(error: Exception) -> str:
    """zenoh's message without the location in its source."""
    return str(error).split(" at ")[0].strip().rstrip(".")
