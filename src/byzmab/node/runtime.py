"""The event loop of a node: it sends reports in time, handles frames, and delays answers until the disk has them."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import msgspec

from byzmab.node import views
from byzmab.node.api import Decision, NodeState, Peer
from byzmab.node.config import read_config
from byzmab.node.evidence import Evidence
from byzmab.node.host import Host
from byzmab.node.metrics import Metrics
from byzmab.node.store import StoreTrouble

ASK_AGAIN = 0.1  # seconds after which a neighbour that did not answer is asked again
SLICE = 16  # frames taken in before the application gets its turn
AFTER_A_FAULT = 0.1  # seconds of rest
BEHIND = 64  # events that a slow watcher may not have read yet; older ones are dropped
LOST = (logging.ERROR, "state cannot be written; nothing is accepted until it can")
FOUND = (logging.INFO, "state can be written again")
log = logging.getLogger(__name__)


class Snapshot(msgspec.Struct, frozen=True):
    """What watchers see after every report."""

    state: NodeState
    peers: list[Peer]


StreamEvent = tuple[str, bytes]  # its name, and its data as JSON


class NodeRuntime:
    """A host in an event loop, which owns it."""

    def __init__(self, host: Host, file: str | None = None) -> None:
        self.host = host
        self.metrics = Metrics(host)
        self._file = file  # from which neighbours are read again
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time()  # when the last report was
        self._caught_up = False
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._trouble: str | None = None  # as it was last told
        self._frames = asyncio.Event()
        self._watchers: set[asyncio.Queue[StreamEvent | None]] = set()
        self._tasks: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run within the block."""
        self.host.wake = lambda: _call(self._loop, self._frames.set)
        self.host.store.watch(lambda: _call(self._loop, self._release))
        self.host.on_evidence = self._tell_evidence
        self.host.open()
        self._tasks = [asyncio.create_task(_for_ever(work)) for work in (self._listen, self._tell)]
        try:
            yield
        finally:
            self.end_streams()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.to_thread(self.host.close)

    async def select(self, event_id: str | None) -> Decision:
        """Choose an arm; returns when that is on the disk."""
        choice = self.host.select(event_id)
        decision = Decision(*choice, self.host.agent.estimates)  # type: ignore[arg-type]
        await self.durable()
        return decision

    async def reward(self, event_id: str, value: float) -> None:
        """Count a reward; returns when that is on the disk."""
        self.host.reward(event_id, value)
        await self.durable()

    async def durable(self) -> None:
        """Wait until all that was changed so far is on the disk; StoreTrouble if it cannot be written."""
        store = self.host.store
        number = store.pending
        if store.durable >= number:
            return
        if store.trouble:
            raise StoreTrouble(store.trouble)
        future = self._loop.create_future()
        self._waiting.append((number, future))
        await future

    def reload(self) -> None:
        """Read the neighbours from the file again; BadInput, and nothing changed, if it is wrong."""
        if self._file is not None:
            self.host.set_neighbours(read_config(self._file).neighbours)
            log.info("neighbours read again", extra={"neighbours": [item.name for item in self.host.config.neighbours]})

    async def watch(self) -> AsyncIterator[StreamEvent]:
        """The stream's events from now on; the first is a snapshot."""
        queue: asyncio.Queue[StreamEvent | None] = asyncio.Queue(BEHIND)
        self._watchers.add(queue)
        try:
            event: StreamEvent | None = self._snapshot()
            while event is not None:
                yield event
                event = await queue.get()
        finally:
            self._watchers.discard(queue)

    def end_streams(self) -> None:
        """End the streams of all watchers."""
        self._publish(None)

    def _release(self) -> None:
        """Wake those whose changes are on the disk, or all where it cannot be written."""
        store, waiting = self.host.store, self._waiting
        if store.trouble != self._trouble:
            self._trouble = store.trouble
            log.log(*(LOST if store.trouble else FOUND), extra={"reason": store.trouble})
        while waiting and (waiting[0][0] <= store.durable or store.trouble):
            number, future = waiting.popleft()
            if future.done():
                continue
            if number <= store.durable:
                future.set_result(None)
            else:
                future.set_exception(StoreTrouble(store.trouble))

    async def _listen(self) -> None:
        """Wait for frames and handle them in slices, so that the application gets its turn in between."""
        await self._frames.wait()
        self._frames.clear()
        while self.host.listen(SLICE):
            await asyncio.sleep(0)

    async def _tell(self) -> None:
        """Wait until the next report is due, then send it once all it says is on the disk."""
        if not self._caught_up:
            await self._catch_up()
        self._due = max(self._due + self.host.config.report_every, self._loop.time())
        await asyncio.sleep(self._due - self._loop.time())
        outgoing = self.host.compose()
        with suppress(StoreTrouble):  # what cannot be written is not told either
            await self.durable()
            self.host.post(outgoing)
        if self._watchers:
            self._publish(self._snapshot())

    async def _catch_up(self) -> None:
        """Before the first report, ask neighbours what they heard under this key; wait for all, or `catch_up` s."""
        end = self._loop.time() + self.host.config.catch_up
        while self.host.unanswered and (left := end - self._loop.time()) > 0:
            self.host.ask_about_self()
            await asyncio.sleep(min(ASK_AGAIN, left))
        self._caught_up = True

    def _snapshot(self) -> StreamEvent:
        snapshot = Snapshot(views.state(self.host), views.peers(self.host).peers)
        return "state", msgspec.json.encode(snapshot)

    def _tell_evidence(self, piece: Evidence) -> None:
        self._publish(("evidence", msgspec.json.encode(piece)))

    def _publish(self, event: StreamEvent | None) -> None:
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(event)


async def _for_ever(work: Callable[[], Awaitable[None]]) -> None:
    """Repeat `work` until cancelled; log whatever goes wrong."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("something went wrong; going on")
            await asyncio.sleep(AFTER_A_FAULT)


def _call(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Schedule a call in the loop from another thread; do nothing if the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
