"""A node without its HTTP: one agent, its store, its neighbours and the transport between them.

One thread owns a host. Only `deliver` is called from another, the transport's: it checks signatures there and leaves
the rest to `listen`. The owner calls `select` and `reward` for the application, `listen` when woken, and, every
`report_every` seconds, `decisions.expire`, `compose` and, once what it says is on the disk, `post`. With
`report_growth` nothing is composed unless a report is due (node/telling.py).
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from byzmab.core.traffic import Forced
from byzmab.node.clock import Clock, DeadlineClock
from byzmab.node.composing import Header, signed_report
from byzmab.node.config import Config, Neighbour
from byzmab.node.courier import Courier
from byzmab.node.decisions import Context, Decisions
from byzmab.node.evidence import Contradiction, Evidence
from byzmab.node.identity import Key, public_bytes
from byzmab.node.membership import Membership
from byzmab.node.neighbours import FRAMES, PROOF_AGAIN, Disclosures, Neighbourhood, NeighbourState
from byzmab.node.own_key import MEANING, Alarm, OwnKey
from byzmab.node.store import AHEAD, NodeStore, epoch_at
from byzmab.node.telling import Telling
from byzmab.node.transport.base import Transport
from byzmab.node.wire import (
    Accepted,
    AnyReport,
    Body,
    EvidenceMessage,
    Handover,
    ImpossibleReport,
    Mark,
    Refusal,
    RefusalNotice,
    Refused,
    Request,
    Signed,
    digest_of,
    seal,
    sender_of,
    unseal,
)

WAITING = 256  # checked frames of one neighbour that may wait for `listen`
NOTIFIED = frozenset({Refusal.AHEAD, Refusal.CONTEXT, Refusal.ARMS})  # accidents of which the sender is told
NOTIFY_AGAIN = 30.0  # seconds after which it is told again
log = logging.getLogger(__name__)


class Choice(NamedTuple):
    """The arm of an event."""

    event_id: str
    arm: str
    round: int  # t when it was chosen
    forced: Forced | None  # by a floor or a cap of traffic


Outgoing = tuple[str, bytes]  # a neighbour's name, and a frame for it
ReportFor = Callable[["Host", str], Any]  # a Byzantine agent's report for one neighbour


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
        self.wake: Callable[[], None] = lambda: None  # called by `deliver` when a frame waits for `listen`
        self.on_evidence: Callable[[Evidence], None] = lambda piece: None
        self.sent: Counter[str] = Counter()  # frames by neighbour
        self.strangers = 0  # frames under a name that is no neighbour's; written by the transport's thread
        self.began = clock.steady()
        self._report_for = report_for
        self._turn = 0  # frames handled
        self.courier = Courier(key, config.network, transport)
        self._telling = Telling(config.report_growth, config.longest_quiet)
        state = store.load()
        deadlines = DeadlineClock(clock, state.facts, store.newest_choice())
        seed = config.seed if config.seed is not None else int.from_bytes(public_bytes(key.public)[:7])
        self.decisions = Decisions(config, seed, store, state, deadlines)
        self.agent = self.decisions.agent
        self.own = OwnKey(key.public, state)
        self.neighbourhood = Neighbourhood(config.network, config.equivocators == "expel", self.own)
        self.membership = Membership(config, key.public, self.neighbourhood, self.agent, store, clock)
        self.membership.load(state)
        self.neighbourhood.arms = frozenset(map(str, self.decisions.agent.arms))
        self.unanswered = {item.name for item in config.neighbours if item.hears and item.tells}  # about one's own key
        with store.changing() as batch:
            batch.facts |= deadlines.facts
        self.own.begin(store.raise_epoch(clock.wall()), int(state.facts["reset"]))

    @property
    def epoch(self) -> int:
        """The epoch of one's reports."""
        return self.own.epoch

    @property
    def _highest_epoch(self) -> int:
        """The highest epoch in which a report is accepted now."""
        return max(epoch_at(self.clock.wall()), self.own.epoch) + AHEAD

    @property
    def seq(self) -> int:
        """The number of one's newest report in its epoch."""
        return self.own.seq

    def open(self) -> None:
        """Begin to hear neighbours."""
        self.transport.open(self.deliver)
        for neighbour in self.neighbourhood.neighbours.values():
            self.transport.link(neighbour.settings.link())

    def close(self) -> None:
        """End: what is left is written; frames that wait are dropped."""
        self.transport.close()
        self._take_evidence()
        self.membership.store_records()
        self.store.close()

    # the application

    def select(self, event_id: str | None = None, context: Context = None) -> Choice:
        """Choose an arm, at a context where there are any. Acknowledge it when `store.pending` is durable."""
        self.membership.forget_stale()
        event = self.decisions.select(event_id, context)
        return Choice(event.event_id, event.arm, event.round, event.forced)

    def reward(self, event_id: str, value: float) -> None:
        """Count a reward. Acknowledge it when `store.pending` is durable."""
        self.decisions.reward(event_id, value)

    def set_arms(self, arms: Sequence[str]) -> None:
        """Use these arms from now on. Acknowledge it when `store.pending` is durable."""
        self.decisions.set_arms(arms)
        self.neighbourhood.arms = frozenset(arms)
        self.membership.hear_again()

    def reset(self, arm: str) -> None:
        """Forget the rewards of an arm, and announce it. Acknowledge it when `store.pending` is durable.

        The epoch that announces it is on the disk no later than the tally that falls: no neighbour ever sees one
        without the other.
        """
        self.decisions.check_arm(arm)
        self._renew_epoch()
        self.decisions.reset(arm)

    # neighbours

    @property
    def heard(self) -> dict[str, AnyReport]:
        """The newest report of each neighbour that counts now."""
        neighbours = self.neighbourhood.neighbours
        return {
            name: newest.signed
            for name in self.membership.counting()
            if (newest := neighbours[name].newest) is not None
        }

    def deliver(self, name: str, frame: bytes) -> None:
        """Check a frame that claims to be from a neighbour and put it into its inbox; call from one thread only."""
        neighbour = self.neighbourhood.neighbours.get(name)
        if neighbour is None:
            self.strangers += 1
            return
        neighbour.bytes += len(frame)
        steady = self.clock.steady()
        is_late = len(neighbour.inbox) >= WAITING or neighbour.budget.is_spent(steady)
        if is_late or (neighbour.expelled and not neighbour.may_speak(steady)):
            neighbour.overflow += 1
            return
        with neighbour.budget.paying(steady):
            try:
                neighbour.inbox.append((frame, unseal(frame, neighbour.public, self.config.network)))
            except ImpossibleReport as proof:
                neighbour.inbox.append((frame, proof))
            except Refused as refused:
                neighbour.inbox.append((b"", refused))
        self.wake()

    def listen(self, seconds: float = float("inf")) -> bool:
        """Handle delivered frames, neighbours taking turns, until none waits or time is up; whether more are waiting.

        One frame is handled in any case. What is beyond a neighbour's budget is dropped and counted.
        """
        neighbours = self.neighbourhood.neighbours.values()
        until = time.monotonic() + seconds
        while waiting := [neighbour for neighbour in neighbours if neighbour.inbox]:
            neighbour = min(waiting, key=lambda each: each.served)
            self._turn += 1
            neighbour.served = self._turn
            frame, body = neighbour.inbox.popleft()
            self._handle(neighbour, frame, body)
            if time.monotonic() >= until:
                break
        for neighbour in neighbours:
            neighbour.count_overflow()
        self._take_evidence()
        self._ask()
        return any(neighbour.inbox for neighbour in neighbours)

    def ask_about_self(self) -> None:
        """Ask neighbours what they heard under one's own key, all who have not answered yet."""
        for name in self.unanswered:
            self.courier.ask(name, self.own.public, [])

    def compose(self) -> list[Outgoing]:
        """The next report, signed, for each neighbour that is told; `post` it when `store.pending` is durable.

        None where no report is due.
        """
        self.membership.forget_stale()
        self.own.forget_refusals(self.clock.steady(), self._refusals_needed)
        self.neighbourhood.count_fates(self.agent.explain(), len(self.agent.arms))
        self.membership.store_records()
        if self.own.overtaken:
            self._renew_epoch()
        report, steady = self.agent.report(), self.clock.steady()
        if self._report_for is None and not self._telling.is_due(report, steady):  # a Byzantine one sends when it likes
            return []
        self._telling.tell(report, steady)
        self.own.seq += 1
        neighbours = self.neighbourhood.neighbours.items()
        told = [name for name, neighbour in neighbours if neighbour.settings.tells and not neighbour.expelled]
        version = (self.own.epoch, self.own.seq)
        header = Header(self.config.network, self.own.public, *version, self.clock.wall(), self.own.reset)
        marks = self.neighbourhood.take_marks()
        if self._report_for is not None:
            return [(name, self._frame(header, self._report_for(self, name), marks)) for name in told]
        frame = self._frame(header, report, marks)
        return [(name, frame) for name in told]

    def post(self, outgoing: list[Outgoing]) -> None:
        """Send what `compose` returned, and with it the hand-over to another key if there is one."""
        handover = self.membership.handovers.get(self.key.public)
        for name, frame in outgoing:
            self.courier.send(name, frame)
            self.sent[name] += 1
            if handover is not None:
                self.courier.send(name, handover)

    def tell(self) -> None:
        """Give up overdue events, compose a report, wait until all it says is on the disk, and send it."""
        self.store.flush()
        while self.decisions.expire():
            self.store.flush()
        outgoing = self.compose()
        self.store.flush()
        self.post(outgoing)

    def set_neighbours(self, neighbours: tuple[Neighbour, ...]) -> None:
        """Use these neighbours from now on; what was added, removed or changed takes effect at once."""
        self.membership.use(neighbours, self.transport)
        self._telling.forget()

    def set_equivocators(self, equivocators: Literal["expel", "keep"]) -> None:
        """Expel proven equivocators from now on, or hear them again; those known take effect at once."""
        self.config.equivocators = equivocators
        self.neighbourhood.set_expels(equivocators == "expel")
        self.membership.expel()

    def pardon(self, who: str) -> None:
        """Hear a neighbour again that was expelled, given its name or key; with one's own key, end all alarms."""
        if who == self.key.public:
            with self.store.changing() as batch:
                batch.pardons.append(self.own.pardon())
        else:
            self.membership.pardon(who)

    def _handle(self, neighbour: NeighbourState, frame: bytes, body: Body | Refused) -> None:
        """Handle one frame of a neighbour at its expense, or drop it where its budget is spent."""
        steady = self.clock.steady()
        if neighbour.budget.is_spent(steady):
            neighbour.refuse(Refusal.FLOOD)
            return
        with neighbour.budget.paying(steady):
            try:
                self.courier.disclose(self._take(neighbour, frame, body))
            except Refused as refused:
                neighbour.refuse(refused.reason)
                if refused.reason in NOTIFIED and neighbour.pauses.may("notice", steady, NOTIFY_AGAIN):
                    self.courier.notify(neighbour.settings.name, refused.reason)

    def _take(self, neighbour: NeighbourState, frame: bytes, body: Body | Refused) -> Disclosures:
        """Handle one frame of a neighbour, or raise Refused; return which frames to send to which neighbours."""
        if isinstance(body, ImpossibleReport) and body.signed.epoch <= self._highest_epoch:
            self._convict(neighbour, frame, body)
        if isinstance(body, Refused):
            raise body
        if isinstance(body, Signed):
            self._check_report(neighbour, body)
            neighbour.see(Accepted(body, frame))
            if body.version <= neighbour.pardoned:
                self._accuse(neighbour)
        if neighbour.expelled:
            self._accuse(neighbour)
            raise Refused(Refusal.EXPELLED)
        if isinstance(body, EvidenceMessage):
            mine = [frame for frame in body.frames[:FRAMES] if sender_of(frame) == self.own.public]
            if mine or not body.frames:
                self._see_own(neighbour, mine)
            wall, steady = self.clock.wall(), self.clock.steady()
            return self.neighbourhood.consider(neighbour, body, wall, steady, self._highest_epoch)
        if isinstance(body, Request):
            return self.neighbourhood.answer(neighbour, body, self.clock.steady())
        if isinstance(body, RefusalNotice):
            self._note_refusal(neighbour.settings.name, body.reason)
            return []
        if isinstance(body, Handover):
            self.membership.hand_over(neighbour, body, frame, self.transport)
            return []
        accepted = Accepted(body, frame)
        disclosures = self.neighbourhood.hear(neighbour, accepted, self.clock.wall(), self.clock.steady())
        if neighbour.newest is accepted and not neighbour.expelled:
            self.membership.hear(neighbour, accepted)
        return disclosures

    def _check_report(self, neighbour: NeighbourState, body: AnyReport) -> None:
        """Raise Refused for a report that does not concern this node, or whose epoch is far above all clocks."""
        if body.epoch > self._highest_epoch:
            raise Refused(Refusal.AHEAD)
        if not neighbour.settings.hears:
            raise Refused(Refusal.STRANGER)
        if body.dimensions != (self.config.context or 0):
            raise Refused(Refusal.CONTEXT)

    def _convict(self, neighbour: NeighbourState, frame: bytes, proof: ImpossibleReport) -> None:
        """Keep a report that is impossible by itself, and show it to all."""
        found = Contradiction.of_one(proof.signed, frame)
        self.courier.disclose(self.neighbourhood.convict(neighbour, found, self.clock.wall()))

    def _frame(self, header: Header, report: Any, marks: list[Mark]) -> bytes:
        frame = seal(self.key, signed_report(header, report, marks))
        self.own.sign((header.epoch, header.seq), digest_of(frame))
        return frame

    def _renew_epoch(self) -> None:
        """Begin an epoch above all that were seen under one's key; what is told in it waits for the disk as ever."""
        epoch = self.own.next_epoch(self.clock.wall())
        self.own.begin(epoch, reset=epoch)
        self._telling.forget()
        with self.store.changing() as batch:
            batch.facts |= {"epoch": epoch, "reset": epoch}

    def _see_own(self, neighbour: NeighbourState, frames: list[bytes]) -> None:
        """Handle what a neighbour shows of your own key, if anything: raise an alarm over what was not signed here."""
        sightings, found = self.own.see(frames, epoch_at(self.clock.wall()) + AHEAD)
        self.unanswered.discard(neighbour.settings.name)
        for alarm, epoch, seq in sightings:
            shown = {"by": neighbour.settings.name, "epoch": epoch, "seq": seq}
            log.error(MEANING[alarm], extra={"alarm": alarm, **shown})
        if found is not None and (piece := self.own.accuse(found, self.clock.wall())) is not None:
            with self.store.changing() as batch:
                batch.evidence.append(piece)
            log.error(MEANING[Alarm.ACCUSED], extra={"alarm": Alarm.ACCUSED, "by": neighbour.settings.name})

    def _note_refusal(self, name: str, reason: Refusal) -> None:
        """Note that a neighbour refuses one's reports; raise an alarm where at least one of those who do is honest."""
        if reason in NOTIFIED and self.own.note_refusal(name, reason, self.clock.steady(), self._refusals_needed):
            log.error(MEANING[Alarm.REFUSED], extra={"alarm": Alarm.REFUSED, "by": name, "reason": reason})

    @property
    def _refusals_needed(self) -> int:
        """How many neighbours must refuse one's reports for an alarm: more than f, or all that are told."""
        told = sum(neighbour.settings.tells for neighbour in self.neighbourhood.neighbours.values())
        return min(self.agent.f + 1, max(told, 1))

    def _accuse(self, neighbour: NeighbourState) -> None:
        """Show a neighbour the newest proof against its key, now and then: one that speaks though nobody listens.

        After a pardon it learns so where to begin the epoch in which it is heard again.
        """
        states = self.neighbourhood.states(neighbour.settings.name)
        proofs = [piece for state in states for piece in state.evidence if piece.kind.proves]
        proof = max(proofs, key=lambda piece: (piece.epoch, piece.seq), default=None)
        if proof is not None and neighbour.pauses.may("accuse", self.clock.steady(), PROOF_AGAIN):
            self.courier.disclose([(neighbour.settings.name, proof.raw())])

    def _ask(self) -> None:
        """Ask for the reports that are wanted, as often as that may be."""
        steady = self.clock.steady()

        def may_ask(about: bytes) -> bool:
            neighbour = self.neighbourhood.of_key(about)
            return neighbour is None or not neighbour.budget.is_spent(steady)

        for name, about, versions in self.neighbourhood.requests.due(steady, may_ask):
            self.courier.ask(name, about, versions)

    def _take_evidence(self) -> None:
        """Store and log evidence found since the last call; an agent that it expels counts no more."""
        found, self.neighbourhood.found = self.neighbourhood.found, []
        if not found:
            return
        with self.store.changing() as batch:
            batch.evidence += found
        self.membership.expel()
        for piece in found:
            log.warning("evidence of lying", extra={"kind": piece.kind, "key": piece.key, "seq": piece.seq})
            self.on_evidence(piece)
