"""What a node knows of its neighbours: their newest words, what became of all of them, and evidence of lies.

A receiver alone sees only its own copy of what a neighbour says. So every word carries witness marks, the hashes of
words lately accepted from others. Where a mark does not match one's own copy, the two frames are exchanged: who signed
both has equivocated, and all neighbours are shown the proof.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from byzmab.core.filters.fates import Fate
from byzmab.node.config import Neighbour
from byzmab.node.evidence import Evidence, Lie, contradict, impossible_arm
from byzmab.node.identity import public_bytes
from byzmab.node.records import Hearing
from byzmab.node.wire import MOST_MARKS, Accepted, Exhibit, Mark, Refusal, Refused, Word, sender_of, unseal_word

RECENT = 256  # words of a neighbour at hand, to compare with witness marks
CLAIMS = 256  # marks on words of a neighbour that were not heard yet
SUSPICIONS = 8  # kept for a neighbour; further ones are only counted
FRAMES = 2  # of an exhibit
COPY_AGAIN, PROOF_AGAIN = 1.0, 30.0  # seconds after which a witness is shown one's copy, or a proof, again
ACCEPTED, REFUSED, IMPOSSIBLE = "accepted", "refused", "impossible"  # counts, beside those of fates and refusals

Letters = list[tuple[str, tuple[bytes, ...]]]  # frames to show, and to whom


class Ledger:
    """One neighbour, as long as it has this key."""

    def __init__(self, neighbour: Neighbour, hearing: Hearing | None, evidence: Iterable[Evidence]) -> None:
        self.neighbour = neighbour
        self.public = public_bytes(neighbour.key)
        self.newest: Accepted | None = None
        self.heard = 0.0  # seconds since 1970, on our clock
        self.steady = -float("inf")  # the same on a clock that never jumps
        self.counts: Counter[str] = Counter(hearing.counts if hearing else {})
        self.evidence = list(evidence)
        self.expelled = False
        self.touched = False  # since it was last stored
        self.inbox: deque[tuple[bytes, Word | Exhibit | Refusal]] = deque()  # filled by the transport's thread
        self.overflow = 0  # frames that found it full; written by that thread alone
        self._overflow_counted = 0
        self.recent: dict[tuple[int, int], Accepted] = {}
        self._shown: dict[str, float] = {}  # witness → when it was last shown something, on the steady clock
        self.claims: dict[tuple[int, int], dict[str, bytes]] = {}  # place → witness → digest

    def refuse(self, reason: Refusal, frames: int = 1) -> None:
        """Count frames that were not accepted."""
        self.counts[REFUSED] += frames
        self.counts[f"{REFUSED}: {reason}"] += frames
        self.touched = True

    def count_overflow(self) -> None:
        """Count the frames that found the inbox full since this was last done."""
        more = self.overflow - self._overflow_counted
        if more:
            self._overflow_counted += more
            self.refuse(Refusal.FLOOD, more)

    def keep(self, accepted: Accepted) -> None:
        """Keep a word as the newest."""
        self.newest = accepted
        self.recent[accepted.word.place] = accepted
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]
        self.counts[ACCEPTED] += 1
        self.touched = True

    def hearing(self) -> Hearing:
        """What is stored of it."""
        return Hearing(self.neighbour.key, self.newest and self.newest.frame, self.heard, dict(self.counts))

    @property
    def equivocated(self) -> bool:
        """Whether there is proof that it told different things at once."""
        return any(piece.kind is Lie.EQUIVOCATION for piece in self.evidence)

    def proof(self) -> tuple[bytes, bytes]:
        """The two frames of that proof."""
        return next(piece.raw() for piece in self.evidence if piece.kind is Lie.EQUIVOCATION)

    def may_show(self, witness: str, steady: float, pause: float) -> bool:
        """Whether a witness may be shown frames of this neighbour now: false witnesses must not keep us busy."""
        if steady < self._shown.get(witness, -float("inf")) + pause:
            return False
        self._shown[witness] = steady
        return True


class Neighbourhood:
    """All neighbours of a node, by name; what they tell of each other is compared here."""

    def __init__(self, network: str, expels: bool) -> None:
        self._network, self._expels = network, expels
        self.ledgers: dict[str, Ledger] = {}
        self._by_key: dict[bytes, Ledger] = {}
        self._marks: dict[bytes, Mark] = {}  # of what was accepted since one's own last word
        self.found: list[Evidence] = []  # since it was last taken

    def add(self, ledger: Ledger) -> None:
        """Know a neighbour, in place of one with the same name."""
        self.remove(ledger.neighbour.name)
        ledger.expelled = self._expels and ledger.equivocated
        self.ledgers[ledger.neighbour.name] = self._by_key[ledger.public] = ledger

    def remove(self, name: str) -> None:
        """Forget a neighbour; the store does not."""
        ledger = self.ledgers.pop(name, None)
        if ledger is not None:
            self._by_key.pop(ledger.public, None)
            self._marks.pop(ledger.public, None)

    def take_marks(self) -> list[Mark]:
        """Witness marks for one's next word."""
        marks = list(self._marks.values())[-MOST_MARKS:]
        self._marks.clear()
        return marks

    def hear(self, ledger: Ledger, accepted: Accepted, now: float, steady: float) -> Letters:
        """Accept a word, or raise Refused; which frames to show to whom."""
        word, newest = accepted.word, ledger.newest
        if ledger.expelled:
            raise Refused(Refusal.EXPELLED)
        if newest is not None and word.place <= newest.word.place:
            told = ledger.recent.get(word.place)
            letters = [] if told is None else self._compare(ledger, told, accepted, now)
            if not letters:
                raise Refused(Refusal.OLD)
            ledger.refuse(Refusal.OLD)
            return letters
        if newest is not None and impossible_arm(newest.word, word) is not None:
            self._suspect(ledger, newest, accepted, now)
        ledger.keep(accepted)
        ledger.heard, ledger.steady = now, steady
        self._marks.pop(ledger.public, None)
        self._marks[ledger.public] = accepted.mark
        witnesses = ledger.claims.pop(word.place, {})
        letters = [(name, (accepted.frame,)) for name, digest in witnesses.items() if digest != accepted.digest]
        return letters + self._compare_marks(ledger, word, steady)

    def consider(self, exhibit: Exhibit, now: float) -> Letters:
        """Look at frames that a neighbour shows; which frames to show to whom then."""
        shown: list[tuple[Ledger, Accepted]] = []
        for frame in exhibit.frames[:FRAMES]:
            ledger = self._by_key.get(sender_of(frame))
            if ledger is not None and not ledger.equivocated:
                shown.append((ledger, Accepted(unseal_word(frame, ledger.public, self._network), frame)))
        letters: Letters = []
        for number, (ledger, accepted) in enumerate(shown):
            others = [other for whose, other in shown[:number] if whose is ledger]
            mine = ledger.recent.get(accepted.word.place)
            for other in [*others, *([] if mine is None else [mine])]:
                letters += self._compare(ledger, other, accepted, now)
        return letters

    def count_fates(self, fates: Mapping[Any, Mapping[Any, Fate]], arms: int) -> None:
        """Count what became of each neighbour's report on each arm."""
        for name, ledger in self.ledgers.items():
            if name in fates:
                ledger.counts.update(fates[name].values())
            elif ledger.neighbour.hears:
                ledger.counts[Fate.SILENT] += arms
            ledger.touched = True

    def _compare_marks(self, witness: Ledger, word: Word, steady: float) -> Letters:
        letters: Letters = []
        for mark in word.marks:
            ledger = self._by_key.get(mark.sender)
            if ledger is None or ledger is witness:
                continue
            place, name = (mark.epoch, mark.seq), witness.neighbour.name
            mine = ledger.recent.get(place)
            if ledger.equivocated:  # the witness still hears it: it was away when all were shown the proof
                if ledger.may_show(name, steady, PROOF_AGAIN):
                    letters.append((name, ledger.proof()))
            elif mine is not None:
                if mine.digest != mark.digest and ledger.may_show(name, steady, COPY_AGAIN):
                    letters.append((name, (mine.frame,)))
            elif ledger.newest is None or place > ledger.newest.word.place:
                ledger.claims.setdefault(place, {})[name] = mark.digest
                if len(ledger.claims) > CLAIMS:
                    del ledger.claims[next(iter(ledger.claims))]
        return letters

    def _compare(self, ledger: Ledger, one: Accepted, other: Accepted, now: float) -> Letters:
        """Keep the proof if two words contradict each other, the first time, and show it to everyone."""
        if ledger.equivocated or not contradict(one.frame, other.frame, one.word, other.word):
            return []
        self._keep(ledger, Lie.EQUIVOCATION, one, other, now)
        ledger.expelled = self._expels
        return [(name, (one.frame, other.frame)) for name in self.ledgers if self.ledgers[name] is not ledger]

    def _suspect(self, ledger: Ledger, before: Accepted, after: Accepted, now: float) -> None:
        ledger.counts[IMPOSSIBLE] += 1
        if sum(piece.kind is Lie.IMPOSSIBLE for piece in ledger.evidence) < SUSPICIONS:
            self._keep(ledger, Lie.IMPOSSIBLE, before, after, now)

    def _keep(self, ledger: Ledger, kind: Lie, one: Accepted, other: Accepted, now: float) -> None:
        key, frames = ledger.neighbour.key, (one.frame, other.frame)
        piece = Evidence.of(kind, self._network, key, frames, other.word.place, now)
        ledger.evidence.append(piece)
        self.found.append(piece)
