"""Streams of server-sent events: the newest state for everyone who watches, told in slices.

A state is encoded once, and one is queued for a watcher: who reads slowly misses states. Watchers are woken some at a
time, so that requests are answered in between, however many streams are open.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

import msgspec

from byzmab.node import views
from byzmab.node.api import Finding, NodeState, PeerSummary
from byzmab.node.host import Host

TOLD_AT_ONCE = 8  # watchers
PAUSE = 0.001  # seconds for requests in between
FINDINGS = 8  # that a slow watcher may not have read yet


class TooManyStreams(Exception):
    """As many streams as may be are open."""


class Snapshot(msgspec.Struct, frozen=True):
    """What watchers see after every report."""

    state: NodeState
    peers: list[PeerSummary]


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

    def open(self) -> AsyncIterator[bytes]:
        """A new stream, which begins with the state now; TooManyStreams where there are as many as may be."""
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
        for first in range(0, len(watchers), TOLD_AT_ONCE):
            state = state or self._snapshot()
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
            yield self._snapshot()
            async for event in watcher.events():
                yield event
        finally:
            del self._watchers[watcher]

    def _snapshot(self) -> bytes:
        return _event("state", Snapshot(views.state(self._host), views.peer_summaries(self._host)))


def _event(name: str, data: msgspec.Struct) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
