"""The transport of real networks: eclipse-zenoh peer to peer, without a broker.

A node has one session for the neighbours who connect to it, and one for each neighbour to whom it connects: sessions
are cheap (0.2 MB, no threads of their own), and one that holds a single neighbour can be opened and closed without
disturbing another. Peers do not forward, so a frame travels along its own link or not at all.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import zenoh

from byzmab.core.errors import BadInput
from byzmab.node.transport.access import DECLARED, IN, OUT, PUT, Passage, access_control, tls_settings
from byzmab.node.transport.base import MOST_BYTES, WAITING, Certificates, Deliver, Link

PERIOD = 0.01  # seconds between two looks at what came in
LONELY = 3.0  # seconds without a connection after which a session is opened anew
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


class _Ear(NamedTuple):
    """What hears one neighbour."""

    subscriber: Any
    waiting: Any  # frames that came in, the newest few


class _Door:
    """A session, and what is declared on it for the neighbours who come through it."""

    def __init__(self, session: Any, admitted: tuple[Link, ...]) -> None:
        self.session = session
        self.admitted = admitted  # whom it was opened for
        self.ears: dict[str, _Ear] = {}  # by neighbour
        self.mouths: dict[str, Any] = {}  # publishers by neighbour
        self.bell: Any = None  # by which two sessions notice each other
        self.met = time.monotonic()  # when the neighbour was last there, or the door was opened

    def part_from(self, name: str) -> None:
        """Neither hear nor tell a neighbour any more."""
        ear, mouth = self.ears.pop(name, None), self.mouths.pop(name, None)
        for declared in (ear and ear.subscriber, mouth):
            if declared is not None:
                _try(declared.undeclare)

    def close(self) -> None:
        """Close the session, and with it all that was declared."""
        self.ears, self.mouths = {}, {}
        _try(self.session.close)


class ZenohTransport:
    """One node's end of its links; see `Transport`.

    With certificates, links are TLS with both sides authenticated, and a neighbour can neither speak under another's
    name nor listen to what is told to another: the common name on its certificate decides which frames pass. Without,
    whoever reaches the port can do both. Frames are signed, so that is no way to lie, but to crowd out and to spy.
    """

    def __init__(
        self, network: str, key: str, listen: tuple[str, ...] = (), certificates: Certificates | None = None
    ) -> None:
        self._network, self._key, self._listen, self._certificates = network, key, listen, certificates
        for endpoint in listen:
            self._check(endpoint)
        for file in certificates or ():
            if not os.access(file, os.R_OK):
                raise BadInput(f"certificate file {str(file)!r} cannot be read")
        self._links: dict[str, Link] = {}
        self._front: _Door | None = None  # at which neighbours knock; None where we do not listen
        self._doors: dict[str, _Door] = {}  # at which we knock, by neighbour
        self._deliver: Deliver | None = None
        self._lock = threading.Lock()  # of changes; sending does not wait for them
        self._ended = threading.Event()
        self._taker = threading.Thread(target=self._take_in, name="transport", daemon=True)

    def open(self, deliver: Deliver) -> None:
        """Listen, connect, and take in frames."""
        with self._lock:
            self._deliver = deliver
            self._open_front(patient=False)
            for link in self._links.values():
                self._open_door(link)
            self._taker.start()

    def link(self, link: Link) -> None:
        """Add a neighbour, or change it."""
        if link.endpoint is not None:
            self._check(link.endpoint)
        with self._lock:
            if self._links.get(link.name) == link:
                return
            self._part_from(link.name)
            self._links[link.name] = link
            if self._deliver is not None:
                self._open_door(link)
                if self._front is not None and self._may_pass(link, self._front):
                    self._declare(self._front, link)

    def unlink(self, name: str) -> None:
        """Remove a neighbour."""
        with self._lock:
            self._links.pop(name, None)
            self._part_from(name)

    def send(self, name: str, frame: bytes) -> None:
        """Put a frame on its way, or drop it where the link is down or full."""
        door = self._doors.get(name) or self._front
        mouth = door.mouths.get(name) if door is not None else None
        if mouth is not None:
            _try(mouth.put, frame)

    def close(self) -> None:
        """Close all links."""
        self._ended.set()
        if self._taker.is_alive():
            self._taker.join()
        with self._lock:
            self._deliver = None
            for name in tuple(self._doors):
                self._part_from(name)
            if self._front is not None:
                self._front.close()
                self._front = None

    def _check(self, endpoint: str) -> None:
        allowed, when = ("tcp/", "without") if self._certificates is None else ("tls/", "with")
        _, colon, port = endpoint.removeprefix(allowed).rpartition(":")
        usable = colon and port.isascii() and port.isdecimal() and int(port) <= LAST_PORT
        if not endpoint.startswith(allowed) or not usable:
            raise BadInput(f"endpoint {endpoint!r} is not allowed {when} certificates; allowed: {allowed}host:port")

    def _part_from(self, name: str) -> None:
        if self._front is not None:
            self._front.part_from(name)
        door = self._doors.pop(name, None)
        if door is not None:
            door.close()

    def _open_front(self, patient: bool) -> None:
        """Listen, for exactly the neighbours there are now; at the beginning a port in use is an error."""
        if not self._listen:
            return
        if self._front is not None:
            self._front.close()
        waiting = {"listen/timeout_ms": -1 if patient else 0, "listen/exit_on_failure": not patient}
        try:
            self._front = self._open({"listen/endpoints": self._listen, **waiting}, tuple(self._links.values()))
        except zenoh.ZError as error:
            raise BadInput(f"endpoints {', '.join(self._listen)} cannot be opened: {_reason(error)}") from None
        self._front.bell = self._front.session.declare_subscriber(self._bell(self._key), zenoh.handlers.RingChannel(1))

    def _open_door(self, link: Link) -> None:
        """Connect to a neighbour, if we are the one who does."""
        if link.endpoint is None:
            return
        try:
            door = self._open({"connect/endpoints": [link.endpoint], "listen/endpoints": []}, (link,))
        except zenoh.ZError as error:
            raise BadInput(f"endpoint {link.endpoint!r} cannot be used: {_reason(error)}") from None
        door.bell = door.session.declare_publisher(self._bell(link.key))
        self._doors[link.name] = door

    def _open(self, endpoints: dict[str, Any], links: tuple[Link, ...]) -> _Door:
        """Open a session that lets through exactly what these links carry."""
        config = zenoh.Config()
        for place, value in {**SETTINGS, **self._security(links), **endpoints}.items():
            config.insert_json5(place, json.dumps(value))
        door = _Door(zenoh.open(config), links)
        for link in links:
            self._declare(door, link, alone="connect/endpoints" in endpoints)
        return door

    def _may_pass(self, link: Link, door: _Door) -> bool:
        return self._certificates is None or link in door.admitted

    def _declare(self, door: _Door, link: Link, alone: bool = False) -> None:
        """Begin to hear and tell a neighbour through a door; of two doors it is told through its own alone."""
        if link.hears:
            newest: Any = zenoh.handlers.RingChannel(WAITING)
            subscriber = door.session.declare_subscriber(self._path(link.key, self._key), newest)
            door.ears[link.name] = _Ear(subscriber, subscriber.handler)
        if link.tells and (alone or link.endpoint is None):
            path, drop = self._path(self._key, link.key), zenoh.CongestionControl.DROP
            door.mouths[link.name] = door.session.declare_publisher(path, congestion_control=drop)

    def _path(self, teller: str, hearer: str) -> str:
        return f"byzmab/{self._network}/{teller}/{hearer}"

    def _bell(self, key: str) -> str:
        """Nothing is ever sent there; that somebody listens shows who connects that the neighbour is there."""
        return f"byzmab/{self._network}/{key}"

    def _security(self, links: tuple[Link, ...]) -> dict[str, Any]:
        if self._certificates is None:
            return {"transport/link/protocols": ["tcp"]}
        passing = {link: self._passing(link) for link in links}
        return {"access_control": access_control(passing), **tls_settings(self._certificates)}

    def _passing(self, link: Link) -> list[Passage]:
        """What passes between a neighbour and us."""
        heard, told = self._path(link.key, self._key), self._path(self._key, link.key)
        passing = [Passage(OUT, DECLARED, self._bell(self._key)), Passage(IN, DECLARED, self._bell(link.key))]
        if link.hears:
            passing += [Passage(IN, PUT, heard), Passage(OUT, DECLARED, heard)]
        if link.tells:
            passing += [Passage(OUT, PUT, told), Passage(IN, DECLARED, told)]
        return passing

    def _take_in(self) -> None:
        """Hand on what came in, neighbours taking turns; now and then look after the doors."""
        looked = time.monotonic()
        while not self._ended.wait(PERIOD):
            if time.monotonic() - looked > LONELY / 10:
                looked = time.monotonic()
                _guard("links", self._look_after_doors, looked)
            for door in (self._front, *tuple(self._doors.values())):
                for name, ear in tuple(door.ears.items()) if door is not None else ():
                    self._take_from(name, ear)

    def _look_after_doors(self, now: float) -> None:
        """Open anew what zenoh leaves as it is.

        It learns only at opening who may pass: after a new neighbour, those who connect to us do so anew, in about
        0.2 s. And it connects again by itself, but not where a session was closed in the very moment of connecting.
        """
        with self._lock:
            front = self._front
            if front is not None and not all(self._may_pass(link, front) for link in self._links.values()):
                self._open_front(patient=True)
            for name, door in tuple(self._doors.items()):
                if door.bell.matching_status.matching:
                    door.met = now
                elif now - door.met > LONELY:
                    door.close()
                    self._open_door(self._links[name])

    def _take_from(self, name: str, ear: _Ear) -> None:
        for _ in range(TURNS):
            try:
                sample = ear.waiting.try_recv()
            except zenoh.ZError:  # undeclared meanwhile
                return
            if sample is None or self._deliver is None:
                return
            _guard(f"a frame of neighbour {name}", self._deliver, name, bytes(sample.payload))


def _guard(what: str, act: Callable[..., None], *arguments: Any) -> None:
    """Whatever goes wrong, the next frame is taken in."""
    try:
        act(*arguments)
    except Exception:
        log.exception("%s could not be handled", what)


def _try(act: Callable[..., Any], *arguments: Any) -> None:
    """Do what fails only where a link or session is gone by now."""
    try:
        act(*arguments)
    except (zenoh.ZError, RuntimeError) as error:
        log.debug("zenoh: %s", error)


def _reason(error: Exception) -> str:
    """zenoh's message without the place in its source."""
    return str(error).split(" at ")[0].strip().rstrip(".")
