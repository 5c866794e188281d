"""Who the neighbours of a node are, and whose reports count: settings, stored records, keys handed over, pardons."""

import base64
import logging
from collections.abc import Iterable, Iterator

import msgspec

from byzmab.core.agent import Agent
from byzmab.core.errors import BadInput
from byzmab.core.liars import ignored_because
from byzmab.node.clock import Clock
from byzmab.node.config import Config, Neighbour
from byzmab.node.identity import public_bytes, public_text
from byzmab.node.neighbours import Neighbourhood, NeighbourState
from byzmab.node.records import HandoverRecord, State
from byzmab.node.store import AHEAD, NodeStore, epoch_at
from byzmab.node.transport.base import Transport
from byzmab.node.wire import Accepted, Handover, Refusal, Refused, unseal_handover, unseal_report

MOST_HANDOVERS = 16  # of one neighbour in a row, before its new key must be in the file
log = logging.getLogger(__name__)


class Membership:
    """The neighbours of one node: added, removed, given other keys, pardoned, and heard while they are fresh."""

    def __init__(
        self, config: Config, public: str, neighbourhood: Neighbourhood, agent: Agent, store: NodeStore, clock: Clock
    ) -> None:
        self._config, self._public, self._neighbourhood = config, public, neighbourhood
        self._agent, self._store, self._clock = agent, store, clock
        self._stale_at = float("inf")  # when the oldest report heard becomes silence
        self._has_logged = False  # that all reports are ignored
        self.handovers: dict[str, bytes] = {}  # a key → the frame by which it was handed over
        self._check(config.neighbours)

    def load(self, state: State) -> None:
        """Add the neighbours in the settings with all that the store holds of them."""
        self.handovers = {item.key: item.frame for item in state.handovers}
        for settings in self._config.neighbours:
            self._add(settings, state)
        self.adjust_f()

    def use(self, neighbours: tuple[Neighbour, ...], transport: Transport) -> None:
        """Use these neighbours from now on; what was added, removed or changed takes effect at once.

        BadInput, and nothing changed, if one of them cannot be linked.
        """
        self._check(neighbours)
        present = self._neighbourhood.neighbours
        wanted = {settings.name: self._keys_of(settings)[-1] for settings in neighbours}
        state = self._stored()
        self._link(
            {name: item for name, item in wanted.items() if name not in present or present[name].settings != item},
            transport,
        )
        for name, neighbour in list(present.items()):
            if name not in wanted:
                transport.unlink(name)
            if wanted.get(name) != neighbour.settings:
                self._agent.remove(name)
                self._neighbourhood.remove(name)
        for settings in neighbours:
            if settings.name not in present:
                self._add(settings, state)
        self._config.neighbours = neighbours
        self._agent.neighbours = self._config.heard
        self.adjust_f()

    def _link(self, wanted: dict[str, Neighbour], transport: Transport) -> None:
        """Link these neighbours, all of them or none."""
        present = self._neighbourhood.neighbours
        linked: list[str] = []
        try:
            for name, settings in wanted.items():
                transport.link(settings.link())
                linked.append(name)
        except BadInput:
            for name in linked:
                if name in present:
                    transport.link(present[name].settings.link())
                else:
                    transport.unlink(name)
            raise

    def hand_over(self, neighbour: NeighbourState, body: Handover, frame: bytes, transport: Transport) -> None:
        """Hear a neighbour under its new key from now on, or raise Refused."""
        name, old, new = neighbour.settings.name, neighbour.settings.key, public_text(body.successor)
        taken = self._neighbourhood.of_key(body.successor) is not None or new == self._public or new in self.handovers
        if taken or len(self._neighbourhood.states(name)) > MOST_HANDOVERS:
            raise Refused(Refusal.STRANGER)
        self._store_handover(old, frame)
        former = self._neighbourhood.states(name)
        settings = msgspec.structs.replace(neighbour.settings, key=new)
        self._agent.forget(name)
        self._neighbourhood.add(NeighbourState(settings), former)
        transport.link(settings.link())
        log.warning("a neighbour has handed over to another key", extra={"neighbour": name, "old": old, "key": new})

    def announce(self, handover: str) -> None:
        """Tell the neighbours from now on that another key takes one's place, by a frame in base64, or BadInput."""
        try:
            frame = base64.b64decode(handover, validate=True)
            unseal_handover(frame, public_bytes(self._public), self._config.network)
        except (ValueError, Refused):
            raise BadInput("frame is not allowed; allowed: a hand-over signed with this node's key") from None
        first = self.handovers.get(self._public)
        if first is None:
            self._store_handover(self._public, frame)
        elif (to := self._successor(first)) != self._successor(frame):
            raise BadInput(f"a second hand-over is not allowed; allowed: the first one, to {public_text(to)}")

    def pardon(self, who: str) -> None:
        """Hear a neighbour again that was expelled, given its name or key; BadInput if it is none."""
        neighbours = self._neighbourhood.neighbours
        name = next((name for name, item in neighbours.items() if who in (name, item.settings.key)), None)
        if name is None:
            known = ", ".join(neighbours) or "nobody, it has no neighbours"
            raise BadInput(f"{who!r} is no neighbour of this node; allowed: the name or key of {known}")
        with self._store.changing() as batch:
            batch.pardons += [state.pardon() for state in self._neighbourhood.states(name)]
        self.adjust_f()
        log.warning("a neighbour is pardoned", extra={"neighbour": name})

    def hear(self, neighbour: NeighbourState, accepted: Accepted) -> None:
        """Let the agent hear a report that was just accepted; one on no arm is silence, not one on the agent's own."""
        name, signed = neighbour.settings.name, accepted.signed
        if not signed.arms:
            self._agent.forget(name)
            return
        shared = [str(arm) for arm in self._agent.arms if arm in signed.places]
        self._agent.hear(name, signed.report_on(shared or signed.arms[:1]))
        self._stale_at = min(self._stale_at, neighbour.steady + self._config.max_age)

    def hear_again(self) -> None:
        """Let the agent hear what counts now once more: it has other arms."""
        for name in self.counting():
            neighbour = self._neighbourhood.neighbours[name]
            if neighbour.newest is not None:
                self.hear(neighbour, neighbour.newest)

    def expel(self) -> None:
        """Let nobody count who is expelled."""
        for name, neighbour in self._neighbourhood.neighbours.items():
            if neighbour.expelled:
                self._agent.forget(name)
        self.adjust_f()

    def adjust_f(self) -> None:
        """Lower f by the Byzantine agents heard no more: if f bounds the Byzantine agents, at most so many are left."""
        neighbours = self._neighbourhood.neighbours.items()
        self._agent.expelled = {name for name, item in neighbours if item.expelled and item.settings.hears}
        if self.ignored and not self._has_logged:
            log.warning("all reports are ignored", extra={"reason": self.ignored, "f": self._config.f})
        self._has_logged = self.ignored is not None

    @property
    def ignored(self) -> str | None:
        """Why all reports are ignored, in one sentence; None where they are used, or nobody is configured."""
        if not self._config.heard or not self._agent.ignores_reports:
            return None
        return ignored_because(self._agent.may_hear, len(self._agent.expelled))

    def counting(self) -> set[str]:
        """The neighbours whose reports count now."""
        return set(map(str, self._agent.senders))

    def forget_stale(self) -> None:
        """Reports older than `max_age` are silence."""
        now = self._clock.steady()
        if now < self._stale_at:
            return
        self._stale_at = float("inf")
        for name in self.counting():
            until = self._neighbourhood.neighbours[name].steady + self._config.max_age
            if until <= now:
                self._agent.forget(name)
            else:
                self._stale_at = min(self._stale_at, until)

    def store_records(self) -> None:
        """Store what changed of the neighbours, when convenient."""
        touched = [neighbour for neighbour in self._neighbourhood.neighbours.values() if neighbour.touched]
        if touched:
            with self._store.changing(urgent=False) as batch:
                for neighbour in touched:
                    batch.neighbours[neighbour.settings.key] = neighbour.record()
                    neighbour.touched = False

    def _successor(self, frame: bytes) -> bytes:
        """The key to which one's own key is handed over."""
        return unseal_handover(frame, public_bytes(self._public), self._config.network).successor

    def _store_handover(self, key: str, frame: bytes) -> None:
        self.handovers[key] = frame
        with self._store.changing() as batch:
            batch.handovers.append(HandoverRecord(key, frame))

    def _stored(self) -> State:
        self.store_records()
        self._store.flush()
        return self._store.load()

    def _check(self, neighbours: Iterable[Neighbour]) -> None:
        for neighbour in neighbours:
            if neighbour.key == self._public:
                raise BadInput(f"neighbours: {neighbour.name!r} has this node's own key; allowed: keys of others")

    def _keys_of(self, settings: Neighbour) -> list[Neighbour]:
        """A neighbour's settings with each key that it has had, the present one last."""
        keys = _successors(settings.key, self.handovers, self._config.network)
        return [msgspec.structs.replace(settings, key=key) for key in keys]

    def _add(self, settings: Neighbour, state: State) -> NeighbourState:
        """Add a neighbour with all that the store holds of its keys."""
        *former, neighbour = (self._restore(item, state) for item in self._keys_of(settings))
        self._neighbourhood.add(neighbour, former)
        newest = neighbour.newest
        fresh = self._clock.steady() < neighbour.steady + self._config.max_age
        counts = settings.hears and not neighbour.expelled and fresh
        if newest is not None and counts and newest.signed.version > neighbour.pardoned:  # what is forgiven is void
            self.hear(neighbour, newest)
        return neighbour

    def _restore(self, settings: Neighbour, state: State) -> NeighbourState:
        record = next((item for item in state.neighbours if item.key == settings.key), None)
        evidence = [piece for piece in state.evidence if piece.key == settings.key]
        pardon = next((item for item in state.pardons if item.key == settings.key), None)
        if pardon is not None and pardon.epoch > max(epoch_at(self._clock.wall()), state.facts["epoch"]) + AHEAD:
            log.warning("a pardon for epochs that are not accepted is void", extra={"neighbour": settings.name})
            pardon = None
        neighbour = NeighbourState(settings, record, evidence, pardon)
        if record is not None and record.frame is not None:
            try:
                signed = unseal_report(record.frame, neighbour.public, self._config.network)
            except Refused as refused:  # accepted by a version that checked less: it counts no more
                log.warning("stored report refused", extra={"neighbour": settings.name, "reason": refused.reason})
                return neighbour
            neighbour.newest = Accepted(signed, record.frame)
            neighbour.history.tell(neighbour.newest)
            age = max(0.0, self._clock.wall() - record.heard)
            neighbour.heard, neighbour.steady = record.heard, self._clock.steady() - age
        return neighbour


def _successors(key: str, handovers: dict[str, bytes], network: str) -> Iterator[str]:
    """A key, the key it was handed over to, and so on."""
    yield key
    known = {key}
    while key in handovers:
        key = public_text(unseal_handover(handovers[key], public_bytes(key), network).successor)
        if key in known:
            return
        known.add(key)
        yield key
