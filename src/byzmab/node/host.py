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
from byzmab.node.neighbours import Ledger, Letters, Neighbourhood
from byzmab.node.records import State
from byzmab.node.store import Store
from byzmab.node.transport.base import Transport
from byzmab.node.wire import (
    VERSION,
    Accepted,
    Exhibit,
    Mark,
    Place,
    Refusal,
    Refused,
    Word,
    seal,
    unseal,
    unseal_word,
    word_of,
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


Letter = tuple[str, bytes]  # a neighbour's name, and a frame for it
Tongue = Callable[["Host", str], Report]  # what to tell a neighbour: liars have one


class Host:
    """One agent of a network, without HTTP."""

    def __init__(
        self,
        config: Config,
        key: Key,
        store: Store,
        transport: Transport,
        tongue: Tongue | None = None,
        clock: Clock = Clock(),  # noqa: B008 (a constant)
    ) -> None:
        self.config, self.key, self.store, self.transport, self.clock = config, key, store, transport, clock
        self.neighbourhood = Neighbourhood(config.network, config.equivocators == "expel")
        self.wake: Callable[[], None] = lambda: None  # called by `deliver` when there is something to listen to
        self.on_evidence: Callable[[Evidence], None] = lambda piece: None
        self.sent: Counter[str] = Counter()  # frames by neighbour
        self.strangers = 0  # frames under a name that is no neighbour's; written by the transport's thread
        self.seq = 0
        self.began = clock.steady()
        self._tongue = tongue
        self._public = public_bytes(key.public)
        self._stale_at = float("inf")  # when the oldest report heard becomes silence
        self._check(config.neighbours)
        state = store.load()
        seed = config.seed if config.seed is not None else int.from_bytes(self._public[:7])
        self.decisions = Decisions(config, seed, store, state, clock.wall)
        self.agent = self.decisions.agent
        self.reset = int(state.facts["reset"])
        self.epoch = store.raise_epoch()
        for neighbour in config.neighbours:
            self._meet(neighbour, state)

    def open(self) -> None:
        """Begin to hear neighbours."""
        self.transport.open(self.deliver)
        for ledger in self.neighbourhood.ledgers.values():
            if not ledger.expelled:
                self.transport.link(ledger.neighbour.link())

    def close(self) -> None:
        """End: what is left is written."""
        self.transport.close()
        self.listen()
        self._store_hearings()
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
    def heard(self) -> dict[str, Word]:
        """The newest word of each neighbour that counts now."""
        ledgers = self.neighbourhood.ledgers
        return {name: newest.word for name in self._counting() if (newest := ledgers[name].newest) is not None}

    def deliver(self, name: str, frame: bytes) -> None:
        """Take in a frame that says it is from a neighbour; from any one thread."""
        ledger = self.neighbourhood.ledgers.get(name)
        if ledger is None:
            self.strangers += 1
            return
        if len(ledger.inbox) >= WAITING:
            ledger.overflow += 1
            return
        try:
            ledger.inbox.append((frame, unseal(frame, ledger.public, self.config.network)))
        except Refused as refused:
            ledger.inbox.append((b"", refused.reason))
        self.wake()

    def listen(self, most: int = 2**31) -> bool:
        """Take in at most so many frames of those delivered, neighbours taking turns; whether there are more."""
        while most > 0 and (waiting := [ledger for ledger in self.neighbourhood.ledgers.values() if ledger.inbox]):
            for ledger in waiting:
                frame, body = ledger.inbox.popleft()
                try:
                    self._show(self._take(ledger, frame, body))
                except Refused as refused:
                    ledger.refuse(refused.reason)
                most -= 1
        for ledger in self.neighbourhood.ledgers.values():
            ledger.count_overflow()
        self._take_evidence()
        return any(ledger.inbox for ledger in self.neighbourhood.ledgers.values())

    def compose(self) -> list[Letter]:
        """One's next word, signed, for each neighbour that is told; `post` it when `store.pending` is durable."""
        self._forget_stale()
        self.decisions.expire()
        self.neighbourhood.count_fates(self.agent.explain(), len(self.agent.arms))
        self._store_hearings()
        self.seq += 1
        ledgers = self.neighbourhood.ledgers.items()
        told = [name for name, ledger in ledgers if ledger.neighbour.tells and not ledger.expelled]
        place = Place(self.config.network, self._public, self.epoch, self.seq, self.clock.wall(), self.reset)
        marks = self.neighbourhood.take_marks()
        if self._tongue is not None:
            return [(name, self._frame(place, self._tongue(self, name), marks)) for name in told]
        frame = self._frame(place, self.agent.report(), marks)
        return [(name, frame) for name in told]

    def post(self, letters: list[Letter]) -> None:
        """Send composed words."""
        for name, frame in letters:
            self.transport.send(name, frame)
            self.sent[name] += 1

    def tell(self) -> None:
        """One word to everyone who hears us, when all it says is on the disk."""
        letters = self.compose()
        self.store.flush()
        self.post(letters)

    def rearrange(self, neighbours: tuple[Neighbour, ...]) -> None:
        """Have these neighbours from now on: added, removed and changed ones take effect at once."""
        self._check(neighbours)
        wanted = {neighbour.name: neighbour for neighbour in neighbours}
        self._store_hearings()
        self.store.flush()
        state = self.store.load()
        for name, ledger in list(self.neighbourhood.ledgers.items()):
            if wanted.get(name) != ledger.neighbour:
                self.agent.forget(name)
                self.neighbourhood.remove(name)
                self.transport.unlink(name)
        for name, neighbour in wanted.items():
            if name not in self.neighbourhood.ledgers:
                ledger = self._meet(neighbour, state)
                if not ledger.expelled:
                    self.transport.link(neighbour.link())
        self.config.neighbours = neighbours

    def _take(self, ledger: Ledger, frame: bytes, body: Word | Exhibit | Refusal) -> Letters:
        if isinstance(body, Refusal):
            raise Refused(body)
        if ledger.expelled:
            raise Refused(Refusal.EXPELLED)
        if isinstance(body, Exhibit):
            return self.neighbourhood.consider(body, self.clock.wall())
        if not ledger.neighbour.hears:
            raise Refused(Refusal.STRANGER)
        accepted = Accepted(body, frame)
        letters = self.neighbourhood.hear(ledger, accepted, self.clock.wall(), self.clock.steady())
        if ledger.newest is accepted and not ledger.expelled:
            self.agent.hear(ledger.neighbour.name, body.report)
            self._stale_at = min(self._stale_at, ledger.steady + self.config.max_age)
        return letters

    def _frame(self, place: Place, report: Report, marks: list[Mark]) -> bytes:
        return seal(self.key, word_of(place, report, marks))

    def _show(self, letters: Letters) -> None:
        """Send exhibits to neighbours whom we tell."""
        for name, frames in letters:
            ledger = self.neighbourhood.ledgers.get(name)
            if ledger is not None and ledger.neighbour.tells and not ledger.expelled:
                exhibit = Exhibit(VERSION, self.config.network, self._public, list(frames))
                self.transport.send(name, seal(self.key, exhibit))

    def _take_evidence(self) -> None:
        found, self.neighbourhood.found = self.neighbourhood.found, []
        if not found:
            return
        with self.store.changing() as batch:
            batch.evidence += found
        for name, ledger in self.neighbourhood.ledgers.items():
            if ledger.expelled:
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
            until = self.neighbourhood.ledgers[name].steady + self.config.max_age
            if until <= now:
                self.agent.forget(name)
            else:
                self._stale_at = min(self._stale_at, until)

    def _store_hearings(self) -> None:
        touched = [ledger for ledger in self.neighbourhood.ledgers.values() if ledger.touched]
        if touched:
            with self.store.changing(urgent=False) as batch:
                for ledger in touched:
                    batch.hearings[ledger.neighbour.key] = ledger.hearing()
                    ledger.touched = False

    def _check(self, neighbours: tuple[Neighbour, ...]) -> None:
        for neighbour in neighbours:
            if neighbour.key == self.key.public:
                raise BadInput(f"neighbours: {neighbour.name!r} has this node's own key; allowed: keys of others")

    def _meet(self, neighbour: Neighbour, state: State) -> Ledger:
        """Know a neighbour, with all that was heard of its key before."""
        hearing = next((item for item in state.hearings if item.key == neighbour.key), None)
        evidence = [piece for piece in state.evidence if piece.key == neighbour.key]
        ledger = Ledger(neighbour, hearing, evidence)
        self.neighbourhood.add(ledger)
        if hearing is not None and hearing.frame is not None:
            word = unseal_word(hearing.frame, ledger.public, self.config.network)
            ledger.newest = Accepted(word, hearing.frame)
            ledger.recent[word.place] = ledger.newest
            age = max(0.0, self.clock.wall() - hearing.heard)
            ledger.heard, ledger.steady = hearing.heard, self.clock.steady() - age
            if neighbour.hears and not ledger.expelled and age < self.config.max_age:
                self.agent.hear(neighbour.name, word.report)
                self._stale_at = min(self._stale_at, ledger.steady + self.config.max_age)
        return ledger
