"""What a node knows of its neighbours: their newest reports, what became of all of them, and evidence of lies.

A receiver sees only its own copy of what a neighbour reports. So every report carries witness marks: the hashes of
reports lately accepted from others. Where a mark does not match one's own copy, the two frames are exchanged: whoever
signed both has equivocated, and the proof is sent to all neighbours.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from byzmab.core.filters.fates import Fate
from byzmab.node.config import Neighbour
from byzmab.node.evidence import Evidence, Lie, contradict, impossible_arm
from byzmab.node.identity import public_bytes
from byzmab.node.records import NeighbourRecord
from byzmab.node.wire import (
    MOST_MARKS,
    Accepted,
    Body,
    EvidenceMessage,
    Mark,
    Refusal,
    Refused,
    SignedReport,
    sender_of,
    unseal_report,
)

RECENT = 256  # reports of a neighbour at hand, to compare with witness marks
CLAIMS = 256  # versions of a neighbour that others marked before we heard them
SUSPICIONS = 8  # kept for a neighbour; further ones are only counted
FRAMES = 2  # of an evidence message
COPY_AGAIN, PROOF_AGAIN = 1.0, 30.0  # seconds after which a witness is sent one's copy, or a proof, again
ACCEPTED, REFUSED, IMPOSSIBLE = "accepted", "refused", "impossible"  # counts, beside those of fates and refusals

Disclosures = list[tuple[str, tuple[bytes, ...]]]  # a neighbour's name, and frames of others to send to it


class NeighbourState:
    """One neighbour, as long as it has this key."""

    def __init__(self, settings: Neighbour, record: NeighbourRecord | None, evidence: Iterable[Evidence]) -> None:
        self.settings = settings
        self.public = public_bytes(settings.key)
        self.newest: Accepted | None = None
        self.heard = 0.0  # seconds since 1970, on our clock
        self.steady = -float("inf")  # the same on a clock that never jumps
        self.counts: Counter[str] = Counter(record.counts if record else {})
        self.evidence = list(evidence)
        self.expelled = False
        self.touched = False  # since it was last stored
        self.inbox: deque[tuple[bytes, Body | Refusal]] = deque()  # filled by the transport's thread
        self.overflow = 0  # frames that found the inbox full; written by the transport's thread alone
        self._overflow_counted = 0
        self.recent: dict[tuple[int, int], Accepted] = {}  # by version
        self._disclosed: dict[str, float] = {}  # witness → when it was last sent frames, on the steady clock
        self.claims: dict[tuple[int, int], dict[str, bytes]] = {}  # version → witness → digest

    def refuse(self, reason: Refusal, frames: int = 1) -> None:
        """Count frames that were not accepted."""
        self.counts[REFUSED] += frames
        self.counts[f"{REFUSED}: {reason}"] += frames
        self.touched = True

    def count_overflow(self) -> None:
        """Count as refused the frames that found the inbox full since the last call."""
        more = self.overflow - self._overflow_counted
        if more:
            self._overflow_counted += more
            self.refuse(Refusal.FLOOD, more)

    def keep(self, accepted: Accepted) -> None:
        """Keep a report as the newest."""
        self.newest = accepted
        self.recent[accepted.signed.version] = accepted
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]
        self.counts[ACCEPTED] += 1
        self.touched = True

    def record(self) -> NeighbourRecord:
        """What is stored of this neighbour."""
        return NeighbourRecord(self.settings.key, self.newest and self.newest.frame, self.heard, dict(self.counts))

    @property
    def equivocated(self) -> bool:
        """Whether there is proof that it signed two reports of one version."""
        return any(piece.kind is Lie.EQUIVOCATION for piece in self.evidence)

    def proof(self) -> tuple[bytes, bytes]:
        """The two frames of that proof."""
        return next(piece.raw() for piece in self.evidence if piece.kind is Lie.EQUIVOCATION)

    def may_disclose(self, witness: str, steady: float, pause: float) -> bool:
        """Whether a witness may be sent frames of this neighbour now; false witnesses must not keep us busy."""
        if steady < self._disclosed.get(witness, -float("inf")) + pause:
            return False
        self._disclosed[witness] = steady
        return True


class Neighbourhood:
    """All neighbours of a node, by name; what they say of each other is compared here."""

    def __init__(self, network: str, expels: bool) -> None:
        self._network, self._expels = network, expels
        self.neighbours: dict[str, NeighbourState] = {}
        self._by_key: dict[bytes, NeighbourState] = {}
        self._marks: dict[bytes, Mark] = {}  # of what was accepted since one's own last report
        self.found: list[Evidence] = []  # since it was last taken

    def add(self, neighbour: NeighbourState) -> None:
        """Add a neighbour; it replaces one with the same name."""
        self.remove(neighbour.settings.name)
        neighbour.expelled = self._expels and neighbour.equivocated
        self.neighbours[neighbour.settings.name] = self._by_key[neighbour.public] = neighbour

    def remove(self, name: str) -> None:
        """Forget a neighbour; the store keeps its record."""
        neighbour = self.neighbours.pop(name, None)
        if neighbour is not None:
            self._by_key.pop(neighbour.public, None)
            self._marks.pop(neighbour.public, None)

    def take_marks(self) -> list[Mark]:
        """Witness marks for one's next report; each is given once."""
        marks = list(self._marks.values())[-MOST_MARKS:]
        self._marks.clear()
        return marks

    def hear(self, neighbour: NeighbourState, accepted: Accepted, now: float, steady: float) -> Disclosures:
        """Accept a report, or raise Refused; return which frames to send to whom."""
        signed, newest = accepted.signed, neighbour.newest
        if neighbour.expelled:
            raise Refused(Refusal.EXPELLED)
        if newest is not None and signed.version <= newest.signed.version:
            known = neighbour.recent.get(signed.version)
            disclosures = [] if known is None else self._compare(neighbour, known, accepted, now)
            if not disclosures:
                raise Refused(Refusal.OLD)
            neighbour.refuse(Refusal.OLD)
            return disclosures
        if newest is not None and impossible_arm(newest.signed, signed) is not None:
            self._suspect(neighbour, newest, accepted, now)
        neighbour.keep(accepted)
        neighbour.heard, neighbour.steady = now, steady
        self._marks.pop(neighbour.public, None)
        self._marks[neighbour.public] = accepted.mark
        witnesses = neighbour.claims.pop(signed.version, {})
        disclosures = [(name, (accepted.frame,)) for name, digest in witnesses.items() if digest != accepted.digest]
        return disclosures + self._compare_marks(neighbour, signed, steady)

    def consider(self, message: EvidenceMessage, now: float) -> Disclosures:
        """Compare the frames in a message with each other and with one's own; return which frames to send to whom."""
        shown: list[tuple[NeighbourState, Accepted]] = []
        for frame in message.frames[:FRAMES]:
            neighbour = self._by_key.get(sender_of(frame))
            if neighbour is not None and not neighbour.equivocated:
                shown.append((neighbour, Accepted(unseal_report(frame, neighbour.public, self._network), frame)))
        disclosures: Disclosures = []
        for number, (neighbour, accepted) in enumerate(shown):
            others = [other for whose, other in shown[:number] if whose is neighbour]
            mine = neighbour.recent.get(accepted.signed.version)
            for other in [*others, *([] if mine is None else [mine])]:
                disclosures += self._compare(neighbour, other, accepted, now)
        return disclosures

    def count_fates(self, fates: Mapping[Any, Mapping[Any, Fate]], arms: int) -> None:
        """Count what became of each neighbour's report on each arm."""
        for name, neighbour in self.neighbours.items():
            if name in fates:
                neighbour.counts.update(fates[name].values())
            elif neighbour.settings.hears:
                neighbour.counts[Fate.SILENT] += arms
            neighbour.touched = True

    def _compare_marks(self, witness: NeighbourState, signed: SignedReport, steady: float) -> Disclosures:
        """Compare a witness's marks with what was heard; return the frames that the witness should see."""
        name, disclosures = witness.settings.name, Disclosures()
        for mark in signed.marks:
            neighbour = self._by_key.get(mark.sender)
            if neighbour is None or neighbour is witness:
                continue
            version = (mark.epoch, mark.seq)
            mine = neighbour.recent.get(version)
            if neighbour.equivocated:  # the witness still hears it: it was away when the proof was sent to all
                if neighbour.may_disclose(name, steady, PROOF_AGAIN):
                    disclosures.append((name, neighbour.proof()))
            elif mine is not None:
                if mine.digest != mark.digest and neighbour.may_disclose(name, steady, COPY_AGAIN):
                    disclosures.append((name, (mine.frame,)))
            elif neighbour.newest is None or version > neighbour.newest.signed.version:
                neighbour.claims.setdefault(version, {})[name] = mark.digest
                if len(neighbour.claims) > CLAIMS:
                    del neighbour.claims[next(iter(neighbour.claims))]
        return disclosures

    def _compare(self, neighbour: NeighbourState, one: Accepted, other: Accepted, now: float) -> Disclosures:
        """Keep the first proof that two reports contradict each other; return it for all other neighbours."""
        if neighbour.equivocated or not contradict(one.frame, other.frame, one.signed, other.signed):
            return []
        self._keep(neighbour, Lie.EQUIVOCATION, one, other, now)
        neighbour.expelled = self._expels
        return [(name, (one.frame, other.frame)) for name, each in self.neighbours.items() if each is not neighbour]

    def _suspect(self, neighbour: NeighbourState, before: Accepted, after: Accepted, now: float) -> None:
        neighbour.counts[IMPOSSIBLE] += 1
        if sum(piece.kind is Lie.IMPOSSIBLE for piece in neighbour.evidence) < SUSPICIONS:
            self._keep(neighbour, Lie.IMPOSSIBLE, before, after, now)

    def _keep(self, neighbour: NeighbourState, kind: Lie, one: Accepted, other: Accepted, now: float) -> None:
        key, frames = neighbour.settings.key, (one.frame, other.frame)
        piece = Evidence.of(kind, self._network, key, frames, other.signed.version, now)
        neighbour.evidence.append(piece)
        self.found.append(piece)
