"""What a node knows of its neighbours: their newest reports, what became of all of them, and evidence of lies.

A receiver sees only its own copy of what a neighbour reports. So every report carries witness marks: the hashes of
reports accepted from others. Where a mark does not match the node's own copy, the two frames are exchanged. Where the
node has no copy, it asks for the frame. An agent that signed what no honest agent signs is proven to lie, and the proof
is sent to all neighbours, itself included.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from byzmab.core.filters.fates import Fate
from byzmab.node.budget import Budget
from byzmab.node.config import Neighbour
from byzmab.node.evidence import Contradiction, Evidence, Lie, contradiction, impossible_arm
from byzmab.node.history import History, Version
from byzmab.node.identity import public_bytes
from byzmab.node.marks import Marks
from byzmab.node.own_key import OwnKey
from byzmab.node.records import NeighbourRecord, Pardon
from byzmab.node.requests import Pauses, Requests, Wanted
from byzmab.node.wire import (
    Accepted,
    AnyReport,
    Body,
    EvidenceMessage,
    ImpossibleReport,
    Mark,
    Refusal,
    Refused,
    Request,
    sender_of,
    unseal_report,
)

CLAIMS = 256  # versions of a neighbour that others marked before we heard them
SUSPICIONS = 8  # kept for a neighbour; further ones are only counted
FRAMES = 2  # of an evidence message
COPY_AGAIN, PROOF_AGAIN = 1.0, 30.0  # seconds after which a witness is sent one's copy, or a proof, again
SPEAK_AGAIN = 1.0  # seconds after which one more frame of an expelled neighbour is looked at
ANSWER_AGAIN = 0.1  # seconds after which a neighbour's next request is answered
NEVER: Version = (-1, -1)  # before all versions
ACCEPTED, REFUSED, IMPOSSIBLE = "accepted", "refused", "impossible"  # counts, beside those of fates and refusals

Disclosures = list[tuple[str, tuple[bytes, ...]]]  # a neighbour's name, and frames of others to send to it


class NeighbourState:
    """One neighbour, as long as it has this key."""

    def __init__(
        self,
        settings: Neighbour,
        record: NeighbourRecord | None = None,
        evidence: Iterable[Evidence] = (),
        pardon: Pardon | None = None,
    ) -> None:
        self.settings = settings
        self.public = public_bytes(settings.key)
        self.newest: Accepted | None = None
        self.heard = 0.0  # seconds since 1970, on our clock
        self.steady = -float("inf")  # the same on a clock that never jumps
        self.counts: Counter[str] = Counter(record.counts if record else {})
        self.evidence = list(evidence)
        self.pardoned: Version = (pardon.epoch, pardon.seq) if pardon else NEVER  # up to here
        self.seen: Accepted | None = None  # the newest report that came, also while the neighbour was expelled
        self.expelled = False
        self.touched = False  # since it was last stored
        self.inbox: deque[tuple[bytes, Body | Refused]] = deque()  # filled by the transport's thread
        self.bytes = 0  # of all frames that came; written by the transport's thread alone
        self.overflow = 0  # frames that found the inbox full; written by the transport's thread alone
        self._overflow_counted = 0
        self._spoke = -float("inf")  # when an expelled neighbour was last listened to; the transport's thread alone
        self.history = History()
        self.budget = Budget()
        self.served = 0  # when a frame of it was last handled, in turns of the host
        self.pauses = Pauses()
        self.claims: dict[Version, dict[str, bytes]] = {}  # version → witness → digest

    def refuse(self, reason: Refusal, frames: int = 1) -> None:
        """Count frames that were not accepted."""
        self.counts[REFUSED] += frames
        self.counts[f"{REFUSED}: {reason}"] += frames
        self.touched = True

    def may_speak(self, steady: float) -> bool:
        """Whether to look at a frame of an expelled neighbour; it may not keep us busy. For the transport's thread."""
        if steady < self._spoke + SPEAK_AGAIN:
            return False
        self._spoke = steady
        return True

    def count_overflow(self) -> None:
        """Count as refused the frames that found the inbox full since the last call."""
        more = self.overflow - self._overflow_counted
        if more:
            self._overflow_counted += more
            self.refuse(Refusal.EXPELLED if self.expelled else Refusal.FLOOD, more)

    def keep(self, accepted: Accepted) -> None:
        """Keep a report as the newest."""
        self.newest = accepted
        self.history.tell(accepted)
        self.counts[ACCEPTED] += 1
        self.touched = True

    def record(self) -> NeighbourRecord:
        """What is stored of this neighbour."""
        return NeighbourRecord(self.settings.key, self.newest and self.newest.frame, self.heard, dict(self.counts))

    @property
    def proof(self) -> Evidence | None:
        """The first proof of a lie that is not forgiven."""
        return next(
            (item for item in self.evidence if item.kind.proves and (item.epoch, item.seq) > self.pardoned), None
        )

    def see(self, accepted: Accepted) -> None:
        """Remember a report in due form as the newest that came, whether it counts or not."""
        if self.seen is None or self.seen.signed.version < accepted.signed.version:
            self.seen = accepted

    @property
    def latest(self) -> Version:
        """The version above which a report is newer: above the last one accepted, and above all that is forgiven."""
        return max(self.pardoned, self.newest.signed.version if self.newest is not None else NEVER)

    def pardon(self) -> Pardon:
        """Forgive all lies so far. What is forgiven is void: reports count again from the next version on.

        So a pardon is no immunity for versions still to be signed. The newest report seen is marked from now on, so
        that its sender learns where to begin.
        """
        lies = [(item.epoch, item.seq) for item in self.evidence]
        self.pardoned = max(self.latest, *lies, NEVER)
        if self.seen is not None and self.seen.signed.version > self.pardoned:
            self.newest, self.pardoned, self.touched = self.seen, self.seen.signed.version, True
        self.history.clear()
        self.expelled = False
        return Pardon(self.settings.key, *self.pardoned)


Shown = tuple[NeighbourState, Accepted]  # a report that a witness shows, and whose it is


class Neighbourhood:
    """All neighbours of a node, by name; what they say of each other is compared here."""

    def __init__(self, network: str, expels: bool, own: OwnKey) -> None:
        self._network, self._expels, self._own = network, expels, own
        self.neighbours: dict[str, NeighbourState] = {}
        self.arms: frozenset[str] = frozenset()  # those in use here: only they are audited
        self.requests = Requests()
        self.marks = Marks()
        self.found: list[Evidence] = []  # since it was last taken
        self._by_key: dict[bytes, NeighbourState] = {}  # those that handed over to another key, too

    def add(self, neighbour: NeighbourState, former: Iterable[NeighbourState] = ()) -> None:
        """Add a neighbour with the keys it had before; it replaces one with the same name."""
        self.remove(neighbour.settings.name)
        for state in (*former, neighbour):
            self._by_key[state.public] = state
        self.neighbours[neighbour.settings.name] = neighbour
        self._judge(neighbour)

    def set_expels(self, expels: bool) -> None:
        """Set whether an agent that is proven to lie is expelled, including those already proven."""
        self._expels = expels
        for neighbour in self.neighbours.values():
            self._judge(neighbour)

    def _judge(self, neighbour: NeighbourState) -> None:
        """Expel a neighbour that is proven to lie under any of its keys, if that is what is done."""
        states = self.states(neighbour.settings.name)
        neighbour.expelled = self._expels and any(state.proof is not None for state in states)

    def remove(self, name: str) -> None:
        """Forget a neighbour; the store keeps its record."""
        self.neighbours.pop(name, None)
        for public, neighbour in list(self._by_key.items()):
            if neighbour.settings.name == name:
                del self._by_key[public]
                self.marks.forget(public)

    def of_key(self, public: bytes) -> NeighbourState | None:
        """The neighbour that has a key, or had it."""
        return self._by_key.get(public)

    def states(self, name: str) -> list[NeighbourState]:
        """A neighbour under all its keys, the present one last."""
        return [neighbour for neighbour in self._by_key.values() if neighbour.settings.name == name]

    def take_marks(self) -> list[Mark]:
        """Witness marks for one's next report."""
        present = [neighbour for neighbour in self.neighbours.values() if not neighbour.expelled]
        return self.marks.take(neighbour.newest.mark for neighbour in present if neighbour.newest is not None)

    def hear(self, neighbour: NeighbourState, accepted: Accepted, now: float, steady: float) -> Disclosures:
        """Accept a report, or raise Refused; return which frames to send to which neighbours."""
        signed, newest = accepted.signed, neighbour.newest
        settled = neighbour.proof is not None or signed.version <= neighbour.pardoned  # there is nothing more to find
        found = None if settled else neighbour.history.audit(accepted, self.arms)
        disclosures = self.convict(neighbour, found, now) if found is not None else []
        if signed.version <= neighbour.latest:
            neighbour.history.show(accepted)
            neighbour.refuse(Refusal.OLD)
            return disclosures
        if neighbour.expelled:
            neighbour.refuse(Refusal.EXPELLED)
            return disclosures
        if found is not None:
            neighbour.counts[IMPOSSIBLE] += 1
        elif newest is not None and newest.signed.epoch < signed.epoch:
            self._suspect(neighbour, newest, accepted, now)
        neighbour.keep(accepted)
        neighbour.heard, neighbour.steady = now, steady
        self.marks.add(accepted.mark)
        disclosures += self._compare_claims(neighbour, accepted, steady)
        return disclosures + self._compare_marks(neighbour, signed, steady)

    def consider(
        self, witness: NeighbourState, message: EvidenceMessage, now: float, steady: float, limit: int
    ) -> Disclosures:
        """Compare a message's frames with each other and the node's own; return the frames to send to each neighbour.

        Frames of epochs above `limit` are ignored. Frames that were asked for are at the expense of their signer.
        """
        shown: list[Shown] = []
        disclosures: Disclosures = []
        for frame in message.frames[:FRAMES]:
            neighbour = self._by_key.get(sender_of(frame))
            if neighbour is None or neighbour.proof is not None:
                continue
            began = time.thread_time()
            version, more = self._examine(neighbour, frame, shown, now, limit)
            disclosures += more
            if self.requests.is_answer(witness.settings.name, Wanted(neighbour.public, version)):
                spent = time.thread_time() - began
                neighbour.budget.charge(spent, steady)
                witness.budget.charge(-spent, steady)
        return disclosures

    def _examine(
        self, neighbour: NeighbourState, frame: bytes, shown: list[Shown], now: float, limit: int
    ) -> tuple[Version, Disclosures]:
        """Judge a frame that a witness shows; return its version, and which frames to send to which neighbours."""
        disclosures: Disclosures = []
        try:
            accepted = Accepted(unseal_report(frame, neighbour.public, self._network), frame)
        except ImpossibleReport as proof:
            version = proof.signed.version
            if version[0] <= limit:
                disclosures = self.convict(neighbour, Contradiction.of_one(proof.signed, frame), now)
            return version, disclosures
        version = accepted.signed.version
        if version[0] <= limit and version > neighbour.pardoned:
            pairs = [contradiction(other, accepted, self.arms) for whose, other in shown if whose is neighbour]
            for found in (*pairs, neighbour.history.audit(accepted, self.arms)):
                disclosures += self.convict(neighbour, found, now) if found is not None else []
            shown.append((neighbour, accepted))
            neighbour.history.show(accepted)
        return version, disclosures

    def answer(self, asker: NeighbourState, request: Request, steady: float) -> Disclosures:
        """The frames that a neighbour asks for; about its own key it is answered even if there are none."""
        if not asker.pauses.may("answer", steady, ANSWER_AGAIN):
            return []
        name = asker.settings.name
        if request.about == asker.public:
            return [(name, (asker.newest.frame,) if asker.newest is not None else ())]
        about = self._by_key.get(request.about)
        kept = [about.history.get(version) for version in request.versions] if about is not None else []
        frames = [accepted.frame for accepted in kept if accepted is not None]
        return [(name, tuple(frames[start : start + FRAMES])) for start in range(0, len(frames), FRAMES)]

    def count_fates(self, fates: Mapping[Any, Mapping[Any, Fate]], arms: int) -> None:
        """Count what became of each neighbour's report on each arm."""
        for name, neighbour in self.neighbours.items():
            if name in fates:
                neighbour.counts.update(fates[name].values())
            elif neighbour.settings.hears:
                neighbour.counts[Fate.SILENT] += arms
            neighbour.touched = True

    def _compare_claims(self, neighbour: NeighbourState, accepted: Accepted, steady: float) -> Disclosures:
        """Compare a new report with what others marked before; ask for the earlier ones that never came."""
        version = accepted.signed.version
        witnesses = neighbour.claims.pop(version, {})
        for other in [claimed for claimed in neighbour.claims if claimed < version]:
            for name in neighbour.claims.pop(other):
                self.requests.want(name, Wanted(neighbour.public, other), steady)
        return [(name, (accepted.frame,)) for name, digest in witnesses.items() if digest != accepted.digest]

    def _compare_marks(self, witness: NeighbourState, signed: AnyReport, steady: float) -> Disclosures:
        """Compare a witness's marks with what was heard; return the frames that the witness should see."""
        name, disclosures = witness.settings.name, Disclosures()
        for mark in signed.marks:
            version, neighbour = (mark.epoch, mark.seq), self._by_key.get(mark.sender)
            if mark.sender == self._own.public:
                if self._own.doubt(mark) is not None:
                    self.requests.want(name, Wanted(mark.sender, version), steady)
                continue
            if neighbour is None or neighbour is witness:
                continue
            mine = neighbour.history.get(version)
            if neighbour.proof is not None:  # the witness still hears it: it was away when the proof was sent to all
                if neighbour.pauses.may(name, steady, PROOF_AGAIN):
                    disclosures.append((name, neighbour.proof.raw()))
            elif mine is not None:
                if mine.digest != mark.digest and neighbour.pauses.may(name, steady, COPY_AGAIN):
                    disclosures.append((name, (mine.frame,)))
            elif neighbour.newest is not None and version < neighbour.newest.signed.version:
                self.requests.want(name, Wanted(mark.sender, version), steady)
            else:
                neighbour.claims.setdefault(version, {})[name] = mark.digest
                if len(neighbour.claims) > CLAIMS:
                    del neighbour.claims[next(iter(neighbour.claims))]
        return disclosures

    def convict(self, neighbour: NeighbourState, found: Contradiction, now: float) -> Disclosures:
        """Keep the first proof against a neighbour; return it for all neighbours, the accused included."""
        if neighbour.proof is not None or found.before.signed.version <= neighbour.pardoned:
            return []
        piece = self._keep(neighbour, found, now)
        present = self.neighbours[neighbour.settings.name]
        if present is not neighbour:  # it has another key meanwhile
            present.evidence.append(piece)
        present.expelled = self._expels
        told = [name for name, each in self.neighbours.items() if each is present or not each.expelled]
        return [(name, piece.raw()) for name in told]

    def _suspect(self, neighbour: NeighbourState, before: Accepted, after: Accepted, now: float) -> None:
        """Count an impossible history from one epoch to the next, and keep the first few."""
        if impossible_arm(before.signed, after.signed, self.arms) is None:
            return
        neighbour.counts[IMPOSSIBLE] += 1
        if sum(piece.kind is Lie.IMPOSSIBLE for piece in neighbour.evidence) < SUSPICIONS:
            self._keep(neighbour, Contradiction(Lie.IMPOSSIBLE, before, after), now)

    def _keep(self, neighbour: NeighbourState, found: Contradiction, now: float) -> Evidence:
        key, version = neighbour.settings.key, found.after.signed.version
        piece = Evidence.of(found.kind, self._network, key, found.frames, version, now)
        neighbour.evidence.append(piece)
        self.found.append(piece)
        return piece
