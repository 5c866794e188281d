"""The event loop of a node: it sends reports in time, handles frames, and delays answers until the disk has them."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from byzmab.core.errors import BadInput
from byzmab.node.api import Chosen, Decision, Reward, RewardOutcome, RewardsAnswer, SelectRequest, SelectsAnswer
from byzmab.node.config import ignored_changes, read_config
from byzmab.node.decisions import Conflict, TooLate, UnknownEvent
from byzmab.node.expiry import expiries, warn_of_expiry
from byzmab.node.host import Host
from byzmab.node.metrics import Metrics
from byzmab.node.problems import STATUS
from byzmab.node.store import StoreTrouble
from byzmab.node.streams import Streams
from byzmab.node.views import finding

ASK_AGAIN = 0.1  # seconds after which a neighbour that did not answer is asked again
COUNTED = 204  # the status of a reward that was counted
SLICE = 0.001  # seconds for which frames are handled before the application gets its turn
SELECTS = 64  # decisions of a batch before others get their turn
AFTER_A_FAULT = 0.1  # seconds of rest
PROBE_EVERY, PROBE_WAIT = 1.0, 2.0  # seconds between two writes to see that it can be done, and for each
CERTIFICATES_EVERY = 3600.0  # seconds between two looks at when certificates expire
LOST = (logging.ERROR, "state cannot be written; nothing is accepted until it can")
FOUND = (logging.INFO, "state can be written again")
log = logging.getLogger(__name__)


class NodeRuntime:
    """A host in an event loop, which owns it."""

    def __init__(self, host: Host, file: str | None = None) -> None:
        self.host = host
        self.metrics = Metrics(host)
        self.streams = Streams(host, host.config.http.connections // 2)
        self._file = file  # from which neighbours are read again
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time()  # when the last report was
        self._caught_up = False
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._trouble: str | None = None  # as it was last told
        self._probed = -PROBE_EVERY  # when a write was last seen to come to the disk
        self._frames = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Run within the block."""
        self.host.wake = lambda: _call(self._loop, self._frames.set)
        self.host.store.observe(self.metrics.commits.observe)
        self.host.store.watch(lambda: _call(self._loop, self._release))
        self.host.on_evidence = lambda piece: self.streams.found(finding(piece))
        self.host.open()
        works = (self._listen, self._tell, self._expire, self._watch_certificates, self.streams.tell)
        self._tasks = [asyncio.create_task(_for_ever(work)) for work in works]
        try:
            yield
        finally:
            self.streams.end()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.to_thread(self.host.close)

    async def select(self, asked: SelectRequest) -> Decision:
        """Choose an arm; returns when that is on the disk."""
        event, arm, round, forced = self.host.select(asked.event_id, asked.context)
        decision = Decision(event, arm, round, self._estimates(), forced)
        await self.durable()
        return decision

    async def selects(self, selects: Sequence[SelectRequest]) -> SelectsAnswer:
        """Choose many arms, one after the other; returns when all are on the disk."""
        for item in selects:  # nothing is chosen unless all can be
            self.host.agent.check_context(item.context)
        chosen = []
        for number, item in enumerate(selects, 1):
            chosen.append(Chosen(*self.host.select(item.event_id, item.context)))
            if number % SELECTS == 0:
                await asyncio.sleep(0)
        answer = SelectsAnswer(chosen, self._estimates())
        await self.durable()
        return answer

    async def reward(self, event_id: str, value: float) -> None:
        """Count a reward; returns when that is on the disk."""
        self.host.reward(event_id, value)
        await self.durable()

    async def rewards(self, rewards: Sequence[Reward]) -> RewardsAnswer:
        """Count many rewards; returns, when they are on the disk, what became of each."""
        results = []
        for item in rewards:
            try:
                self.host.reward(item.event_id, item.value)
                results.append(RewardOutcome(item.event_id, COUNTED))
            except (UnknownEvent, Conflict, TooLate) as error:
                results.append(RewardOutcome(item.event_id, STATUS[type(error)], str(error)))
        await self.durable()
        return RewardsAnswer(results)

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

    async def check_ready(self) -> None:
        """Return when a write has come to the disk within the last second; StoreTrouble with the reason otherwise."""
        store = self.host.store
        if store.trouble:
            raise StoreTrouble(store.trouble)
        if self._loop.time() - self._probed < PROBE_EVERY:
            return
        with store.changing() as batch:
            batch.facts["round"] = self.host.agent.time  # as it is there already
        try:
            async with asyncio.timeout(PROBE_WAIT):
                await self.durable()
        except TimeoutError:
            raise StoreTrouble(f"state has waited {store.backlog:.0f} s to be written") from None
        self._probed = self._loop.time()

    def reload(self) -> list[str]:
        """Read neighbours, `equivocators` and `traffic` again; BadInput, and nothing changed, if they are wrong.

        Return the other settings that differ from those that the node runs with: they need a restart.
        """
        if self._file is None:
            return []
        config = read_config(self._file)
        ignored = ignored_changes(self.host.config, config)
        self.host.decisions.check_traffic(config.traffic)
        self.host.set_neighbours(config.neighbours)
        self.host.set_equivocators(config.equivocators)
        self.host.decisions.set_traffic(config.traffic)
        log.info("neighbours read again", extra={"neighbours": [item.name for item in self.host.config.neighbours]})
        if ignored:
            log.warning("settings that changed are used after a restart", extra={"settings": ignored})
        return ignored

    def _estimates(self) -> dict[str, float]:
        return self.host.agent.estimates  # type: ignore[return-value]  # a node's arms are texts

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

    async def _watch_certificates(self) -> None:
        """Tell of certificates that expire soon, now and every hour."""
        try:
            warn_of_expiry(expiries(self.host.config), self.host.clock.wall())
        except BadInput as error:
            log.error("certificates not read", extra={"reason": str(error)})
        await asyncio.sleep(CERTIFICATES_EVERY)

    async def _expire(self) -> None:
        """Wait for a report's time, then give up overdue events in slices, each on the disk before the next."""
        await asyncio.sleep(self.host.config.report_every)
        with suppress(StoreTrouble):
            while self.host.decisions.expire():
                await self.durable()

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
        self.streams.reported()

    async def _catch_up(self) -> None:
        """Before the first report, ask neighbours what they heard under this key; wait for all, or `catch_up` s."""
        end = self._loop.time() + self.host.config.catch_up
        while self.host.unanswered and (left := end - self._loop.time()) > 0:
            self.host.ask_about_self()
            await asyncio.sleep(min(ASK_AGAIN, left))
        self._caught_up = True


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
