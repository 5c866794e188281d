"""A node without its HTTP: one agent, its store, its neighbours and the transport between them.

One thread owns a host. Only `deliver` is called from another, the transport's: it checks signatures there and leaves
the rest to `listen`. The owner calls `select` and `reward` for the application, `listen` when woken, and, every
`report_every` seconds, `compose` and, once what it says is on the disk, `post`.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from byzmab.core.errors import BadInput
from byzmab.core.report import Report
from byzmab.node.config import Config, Neighbour
from byzmab.node.decisions import Decisions
from byzmab.node.evidence import Evidence
from byzmab.node.identity import Key, public_bytes
from byzmab.node.neighbours import Disclosures, Neighbourhood, NeighbourState
from byzmab.node.records import State
from byzmab.node.store import NodeStore
from byzmab.node.transport.base import Transport
from byzmab.node.wire import (
    PROTOCOL,
    Accepted,
    Body,
    EvidenceMessage,
    Header,
    Mark,
    Refusal,
    Refused,
    SignedReport,
    seal,
    signed_report,
    unseal,
    unseal_report,
)

WAITING = 256  # checked frames of one neighbour that may wait for `listen`
log = logging.getLogger(__name__)


class Clock(NamedTuple):
    """The two times that a node looks at."""

    wall: Callable[[], float] = time.time  # seconds since 1970
    steady: Callable[[], float] = time.monotonic  # for ages: never jumps


class Choice(NamedTuple):
    """The arm of an event."""

    event_id: str
    arm: str
    round: int  # t when it was chosen


Outgoing = tuple[str, bytes]  # a neighbour's name, and a frame for it
ReportFor = Callable[["Host", str], Report]  # a liar's report for one neighbour


class Host:
    """One agent of a network, without HTTP."""

    def __init__(
        self,
        config: Config,
        key: Key,
        store: NodeStore,
        transport: Transport,
        report_for: ReportFor | None = None,
        clock: Clock = Clock(),  # noqa: B008 (a constant)
    ) -> None:
        self.config, self.key, self.store, self.transport, self.clock = config, key, store, transport, clock
        self.neighbourhood = Neighbourhood(config.network, config.equivocators == "expel")
        self.wake: Callable[[], None] = lambda: None  # called by `deliver` when a frame waits for `listen`
        self.on_evidence: Callable[[Evidence], None] = lambda piece: None
        self.sent: Counter[str] = Counter()  # frames by neighbour
        self.strangers = 0  # frames under a name that is no neighbour's; written by the transport's thread
        self.seq = 0
        self.began = clock.steady()
        self._report_for = report_for
        self._public = public_bytes(key.public)
        self._stale_at = float("inf")  # when the oldest report heard becomes silence
        self._check(config.neighbours)
        state = store.load()
        seed = config.seed if config.seed is not None else int.from_bytes(self._public[:7])
        self.decisions = Decisions(config, seed, store, state, clock.wall)
        self.agent = self.decisions.agent
        self.reset = int(state.facts["reset"])
        self.epoch = store.raise_epoch()
        for settings in config.neighbours:
            self._add_neighbour(settings, state)

    def open(self) -> None:
        """Begin to hear neighbours."""
        self.transport.open(self.deliver)
        for neighbour in self.neighbourhood.neighbours.values():
            if not neighbour.expelled:
                self.transport.link(neighbour.settings.link())

    def close(self) -> None:
        """End: what is left is written."""
        self.transport.close()
        self.listen()
        self._store_records()
        self.store.close()

    # the application

    def select(self, event_id: str | None = None) -> Choice:
        """Choose an arm. Acknowledge it when `store.pending` is durable."""
        self._forget_stale()
        event = self.decisions.select(event_id)
        return Choice(event.event_id, event.arm, event.round)

    def reward(self, event_id: str, value: float) -> None:
        """Count a reward. Acknowledge it when `store.pending` is durable."""
        self.decisions.reward(event_id, value)

    # neighbours

    @property
    def heard(self) -> dict[str, SignedReport]:
        """The newest report of each neighbour that counts now."""
        neighbours = self.neighbourhood.neighbours
        return {name: newest.signed for name in self._counting() if (newest := neighbours[name].newest) is not None}

    def deliver(self, name: str, frame: bytes) -> None:
        """Check a frame that claims to be from a neighbour and put it into its inbox; call from one thread only."""
        neighbour = self.neighbourhood.neighbours.get(name)
        if neighbour is None:
            self.strangers += 1
            return
        if len(neighbour.inbox) >= WAITING:
            neighbour.overflow += 1
            return
        try:
            neighbour.inbox.append((frame, unseal(frame, neighbour.public, self.config.network)))
        except Refused as refused:
            neighbour.inbox.append((b"", refused.reason))
        self.wake()

    def listen(self, most: int = 2**31) -> bool:
        """Handle at most `most` delivered frames, neighbours taking turns; return whether more are waiting."""
        neighbours = self.neighbourhood.neighbours.values()
        while most > 0 and (waiting := [neighbour for neighbour in neighbours if neighbour.inbox]):
            for neighbour in waiting:
                frame, body = neighbour.inbox.popleft()
                try:
                    self._disclose(self._take(neighbour, frame, body))
                except Refused as refused:
                    neighbour.refuse(refused.reason)
                most -= 1
        for neighbour in neighbours:
            neighbour.count_overflow()
        self._take_evidence()
        return any(neighbour.inbox for neighbour in neighbours)

    def compose(self) -> list[Outgoing]:
        """The next report, signed, for each neighbour that is told; `post` it when `store.pending` is durable."""
        self._forget_stale()
        self.decisions.expire()
        self.neighbourhood.count_fates(self.agent.explain(), len(self.agent.arms))
        self._store_records()
        self.seq += 1
        neighbours = self.neighbourhood.neighbours.items()
        told = [name for name, neighbour in neighbours if neighbour.settings.tells and not neighbour.expelled]
        header = Header(self.config.network, self._public, self.epoch, self.seq, self.clock.wall(), self.reset)
        marks = self.neighbourhood.take_marks()
        if self._report_for is not None:
            return [(name, self._frame(header, self._report_for(self, name), marks)) for name in told]
        frame = self._frame(header, self.agent.report(), marks)
        return [(name, frame) for name in told]

    def post(self, outgoing: list[Outgoing]) -> None:
        """Send what `compose` returned."""
        for name, frame in outgoing:
            self.transport.send(name, frame)
            self.sent[name] += 1

    def tell(self) -> None:
        """Compose a report, wait until all it says is on the disk, and send it."""
        outgoing = self.compose()
        self.store.flush()
        self.post(outgoing)

    def set_neighbours(self, neighbours: tuple[Neighbour, ...]) -> None:
        """Use these neighbours from now on; what was added, removed or changed takes effect at once."""
        self._check(neighbours)
        wanted = {settings.name: settings for settings in neighbours}
        self._store_records()
        self.store.flush()
        state = self.store.load()
        for name, neighbour in list(self.neighbourhood.neighbours.items()):
            if wanted.get(name) != neighbour.settings:
                self.agent.forget(name)
                self.neighbourhood.remove(name)
                self.transport.unlink(name)
        for name, settings in wanted.items():
            if name not in self.neighbourhood.neighbours and not self._add_neighbour(settings, state).expelled:
                self.transport.link(settings.link())
        self.config.neighbours = neighbours
        self.agent.neighbours = self.config.heard

    def _take(self, neighbour: NeighbourState, frame: bytes, body: Body | Refusal) -> Disclosures:
        """Handle one frame of a neighbour, or raise Refused; return which frames to send to whom."""
        if isinstance(body, Refusal):
            raise Refused(body)
        if neighbour.expelled:
            raise Refused(Refusal.EXPELLED)
        if isinstance(body, EvidenceMessage):
            return self.neighbourhood.consider(body, self.clock.wall())
        if not neighbour.settings.hears:
            raise Refused(Refusal.STRANGER)
        accepted = Accepted(body, frame)
        disclosures = self.neighbourhood.hear(neighbour, accepted, self.clock.wall(), self.clock.steady())
        if neighbour.newest is accepted and not neighbour.expelled:
            self.agent.hear(neighbour.settings.name, body.report)
            self._stale_at = min(self._stale_at, neighbour.steady + self.config.max_age)
        return disclosures

    def _frame(self, header: Header, report: Report, marks: list[Mark]) -> bytes:
        return seal(self.key, signed_report(header, report, marks))

    def _disclose(self, disclosures: Disclosures) -> None:
        """Send frames of others to the neighbours that should see them and that we tell."""
        for name, frames in disclosures:
            neighbour = self.neighbourhood.neighbours.get(name)
            if neighbour is not None and neighbour.settings.tells and not neighbour.expelled:
                message = EvidenceMessage(PROTOCOL, self.config.network, self._public, list(frames))
                self.transport.send(name, seal(self.key, message))

    def _take_evidence(self) -> None:
        """Store and log evidence found since the last call; unlink whoever it expels."""
        found, self.neighbourhood.found = self.neighbourhood.found, []
        if not found:
            return
        with self.store.changing() as batch:
            batch.evidence += found
        for name, neighbour in self.neighbourhood.neighbours.items():
            if neighbour.expelled:
                self.agent.forget(name)
                self.transport.unlink(name)
        for piece in found:
            log.warning("evidence of lying", extra={"kind": piece.kind, "key": piece.key, "seq": piece.seq})
            self.on_evidence(piece)

    def _counting(self) -> set[str]:
        """The neighbours whose reports count now."""
        return set(map(str, self.agent.senders))

    def _forget_stale(self) -> None:
        """Reports older than `max_age` are silence."""
        now = self.clock.steady()
        if now < self._stale_at:
            return
        self._stale_at = float("inf")
        for name in self._counting():
            until = self.neighbourhood.neighbours[name].steady + self.config.max_age
            if until <= now:
                self.agent.forget(name)
            else:
                self._stale_at = min(self._stale_at, until)

    def _store_records(self) -> None:
        touched = [neighbour for neighbour in self.neighbourhood.neighbours.values() if neighbour.touched]
        if touched:
            with self.store.changing(urgent=False) as batch:
                for neighbour in touched:
                    batch.neighbours[neighbour.settings.key] = neighbour.record()
                    neighbour.touched = False

    def _check(self, neighbours: tuple[Neighbour, ...]) -> None:
        for neighbour in neighbours:
            if neighbour.key == self.key.public:
                raise BadInput(f"neighbours: {neighbour.name!r} has this node's own key; allowed: keys of others")

    def _add_neighbour(self, settings: Neighbour, state: State) -> NeighbourState:
        """Add a neighbour with all that the store holds of its key."""
        record = next((item for item in state.neighbours if item.key == settings.key), None)
        evidence = [piece for piece in state.evidence if piece.key == settings.key]
        neighbour = NeighbourState(settings, record, evidence)
        self.neighbourhood.add(neighbour)
        if record is not None and record.frame is not None:
            signed = unseal_report(record.frame, neighbour.public, self.config.network)
            neighbour.newest = neighbour.recent[signed.version] = Accepted(signed, record.frame)
            age = max(0.0, self.clock.wall() - record.heard)
            neighbour.heard, neighbour.steady = record.heard, self.clock.steady() - age
            if settings.hears and not neighbour.expelled and age < self.config.max_age:
                self.agent.hear(settings.name, signed.report)
                self._stale_at = min(self._stale_at, neighbour.steady + self.config.max_age)
        return neighbour
