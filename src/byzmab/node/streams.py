"""Streams of server-sent events: the history of the node, then its newest state after every report.

A state is encoded once, and one is queued for a watcher: a slow reader misses states. Watchers are woken some at a
time, so that requests are answered in between, however many streams are open.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator

import msgspec

from byzmab.node import views
from byzmab.node.api import Finding, NodeState, PeerSummary
from byzmab.node.host import Host

TOLD_AT_ONCE = 8  # watchers
PAUSE = 0.001  # seconds for requests in between
FINDINGS = 8  # that a slow watcher may not have read yet
HISTORY_EVERY = 5.0  # seconds between two points of the history, at first
MOST_POINTS, MOST_BYTES = 300, 4_000_000  # of the history


class TooManyStreams(Exception):
    """As many streams as may be are open."""


class Snapshot(msgspec.Struct, frozen=True):
    """What watchers see after every report."""

    state: NodeState
    peers: list[PeerSummary]


class History:
    """Snapshots since the start, oldest first: at the limit every second one goes, so the whole time stays in view."""

    def __init__(self) -> None:
        self._points: list[bytes] = []
        self._bytes, self._every, self._due = 0, HISTORY_EVERY, 0.0

    def is_due(self) -> bool:
        """Return whether it is time for the next point."""
        return time.monotonic() >= self._due

    def add(self, snapshot: Snapshot) -> None:
        """Add a point, with the time of the wall clock in milliseconds."""
        point = msgspec.json.encode({"time": int(1000 * time.time()), "state": snapshot.state, "peers": snapshot.peers})
        self._points.append(point)
        self._bytes += len(point)
        while len(self._points) > 1 and (len(self._points) > MOST_POINTS or self._bytes > MOST_BYTES):
            self._points = self._points[::2]
            self._bytes = sum(map(len, self._points))
            self._every *= 2.0
        self._due = time.monotonic() + self._every

    def event(self) -> Iterator[bytes]:
        """Yield the event with which a stream begins, in pieces: a slow reader holds up one, not all."""
        yield b"event: history\ndata: ["
        for number, point in enumerate(self._points):
            yield b"," * (number > 0) + point
        yield b"]\n\n"


class Watcher:
    """What one stream has yet to send."""

    def __init__(self) -> None:
        self.state: bytes | None = None  # the newest, in place of all before it
        self.findings: deque[bytes] = deque(maxlen=FINDINGS)
        self.news = asyncio.Event()
        self.ended = False

    async def events(self) -> AsyncIterator[bytes]:
        """Yield what is told, until the end."""
        while not self.ended:
            await self.news.wait()
            self.news.clear()
            while self.findings:
                yield self.findings.popleft()
            if self.state is not None:
                state, self.state = self.state, None
                yield state


class Streams:
    """All who watch a host."""

    def __init__(self, host: Host, most: int) -> None:
        self._host, self._most = host, most
        self._watchers: dict[Watcher, None] = {}
        self._reported = asyncio.Event()
        self._history = History()

    def open(self) -> AsyncIterator[bytes]:
        """Return a new stream, which begins with history and state; TooManyStreams where as many are open as may be."""
        if len(self._watchers) >= self._most:
            raise TooManyStreams(f"{self._most} streams are open; no more are allowed")
        return self._watch()

    def reported(self) -> None:
        """Have the state told."""
        self._reported.set()

    async def tell(self) -> None:
        """Wait for the next report, then wake all watchers, some at a time."""
        await self._reported.wait()
        self._reported.clear()
        watchers, state = list(self._watchers), b""
        if self._history.is_due():
            self._history.add(self._snapshot())
        for first in range(0, len(watchers), TOLD_AT_ONCE):
            state = state or _event("state", self._snapshot())
            for watcher in watchers[first : first + TOLD_AT_ONCE]:
                watcher.state = state
                watcher.news.set()
            await asyncio.sleep(PAUSE)

    def found(self, finding: Finding) -> None:
        """Tell of evidence."""
        event = _event("evidence", finding)
        for watcher in self._watchers:
            watcher.findings.append(event)
            watcher.news.set()

    def end(self) -> None:
        """End all streams."""
        for watcher in self._watchers:
            watcher.ended = True
            watcher.news.set()

    async def _watch(self) -> AsyncIterator[bytes]:
        watcher = Watcher()
        self._watchers[watcher] = None
        try:
            for piece in self._history.event():
                yield piece
            yield _event("state", self._snapshot())
            async for event in watcher.events():
                yield event
        finally:
            del self._watchers[watcher]

    def _snapshot(self) -> Snapshot:
        return Snapshot(views.state(self._host), views.peer_summaries(self._host))


def _event(name: str, data: msgspec.Struct) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
