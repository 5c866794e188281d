"""The transport of nodes in one process: a hub that carries frames when told to, with seeded faults."""

import random
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from byzmab.node.transport.base import MOST_BYTES, WAITING, Deliver, Link

PERIOD = 0.002  # seconds between two carries of a running hub


class Faults(NamedTuple):
    """What may happen to a frame on its way."""

    drop: float = 0.0  # the chance that it is lost
    duplicate: float = 0.0  # the chance that it comes twice
    delay: int = 0  # it is carried up to so many times later, each equally likely
    reorder: bool = False  # frames carried together come in any order


FAULTLESS = Faults()


class InFlight(NamedTuple):
    """A frame under way."""

    due: int  # the carry at which it arrives
    sender: str
    receiver: str
    content: bytes


class Hub:
    """The network between in-memory transports, which are known by their public keys."""

    def __init__(self, faults: Faults = FAULTLESS, seed: int = 0) -> None:
        self.faults = faults
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._transports: dict[str, MemoryTransport] = {}
        self._lines: dict[tuple[str, str], deque[InFlight]] = {}  # by sender and receiver
        self._apart: frozenset[str] = frozenset()
        self._carried = 0

    def join(self, transport: "MemoryTransport") -> None:
        """Connect a transport; it replaces one with the same key."""
        self._transports[transport.key] = transport

    def leave(self, transport: "MemoryTransport") -> None:
        """Disconnect a transport."""
        if self._transports.get(transport.key) is transport:
            del self._transports[transport.key]

    def has(self, key: str) -> bool:
        """Whether the transport of a key is connected."""
        return key in self._transports

    def partition(self, keys: Iterable[str] = ()) -> None:
        """Cut every link between these nodes and the others; with no keys, mend all links."""
        self._apart = frozenset(keys)

    def send(self, sender: str, receiver: str, content: bytes) -> None:
        """Put a frame under way, subject to the faults."""
        if len(content) > MOST_BYTES:
            return
        with self._lock:
            faults, chance = self.faults, self._random
            if chance.random() < faults.drop:
                return
            line = self._lines.setdefault((sender, receiver), deque(maxlen=WAITING))
            for _ in range(1 + (chance.random() < faults.duplicate)):
                line.append(InFlight(self._carried + chance.randint(0, faults.delay), sender, receiver, content))

    def carry(self) -> int:
        """Deliver every frame that is due; return how many there were."""
        due = self._take_due()
        for frame in due:
            receiver = self._transports.get(frame.receiver)
            if receiver is not None and (frame.sender in self._apart) == (frame.receiver in self._apart):
                receiver.receive(frame.sender, frame.content)
        return len(due)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Carry from a thread, every PERIOD seconds, within the block."""
        ended = threading.Event()

        def run() -> None:
            while not ended.wait(PERIOD):
                self.carry()

        thread = threading.Thread(target=run, name="hub", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _take_due(self) -> list[InFlight]:
        with self._lock:
            due = []
            for pair, line in self._lines.items():
                due += [frame for frame in line if frame.due <= self._carried]
                self._lines[pair] = deque((frame for frame in line if frame.due > self._carried), WAITING)
            if self.faults.reorder:
                self._random.shuffle(due)
            self._carried += 1
            return due


class MemoryTransport:
    """One node's end of a hub; see `Transport`."""

    def __init__(self, hub: Hub, key: str) -> None:
        self.key = key
        self._hub = hub
        self._links: dict[str, Link] = {}
        self._deliver: Deliver | None = None

    def open(self, deliver: Deliver) -> None:
        """Begin."""
        self._deliver = deliver
        self._hub.join(self)

    def link(self, link: Link) -> None:
        """Add a neighbour, or change it."""
        self._links[link.name] = link

    def unlink(self, name: str) -> None:
        """Remove a neighbour."""
        self._links.pop(name, None)

    def send(self, name: str, frame: bytes) -> None:
        """Hand a frame to the hub."""
        link = self._links.get(name)
        if link is not None and link.tells:
            self._hub.send(self.key, link.key, frame)

    def is_up(self, name: str) -> bool | None:
        """Whether the neighbour is at the hub."""
        link = self._links.get(name)
        return link is not None and self._hub.has(link.key)

    def receive(self, sender: str, frame: bytes) -> None:
        """Take in a frame if this node hears its sender."""
        for link in tuple(self._links.values()):
            if link.key == sender and link.hears and self._deliver is not None:
                self._deliver(link.name, frame)

    def close(self) -> None:
        """End."""
        self._deliver = None
        self._hub.leave(self)
