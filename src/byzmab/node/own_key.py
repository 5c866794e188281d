"""What is signed with one's own key: here, and, as neighbours show it, anywhere else.

Neighbours mark what they hear under this key, and show the frame when asked: its signature is the proof, so that
nobody can raise a false alarm. A report that was not signed here is the word of a thief or of a twin; one of an
epoch that the data file does not know was signed after that file was copied. Either way the node says so, and goes on
in an epoch above it.
"""

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

from byzmab.node.evidence import Contradiction, Evidence, contradiction
from byzmab.node.identity import public_bytes
from byzmab.node.records import Pardon, State
from byzmab.node.store import JITTER, epoch_above
from byzmab.node.wire import MOST_COUNT, Accepted, ImpossibleReport, Mark, Refusal, unseal_report

SIGNED = 4096  # versions at hand that were signed here
REFUSED_FOR = 90.0  # seconds for which a neighbour's notice that it refuses one's reports counts


class Alarm(StrEnum):
    """What is wrong with one's own key."""

    FOREIGN = "foreign"
    LOST = "lost"
    ACCUSED = "accused"
    REFUSED = "refused"


MEANING = {
    Alarm.FOREIGN: "a report under this node's key was not signed by it: another process has the key",
    Alarm.LOST: "neighbours have heard this key in an epoch that the data file does not know: "
    "it was brought back from a copy, or another process has the key",
    Alarm.ACCUSED: "others hold proof of lying against this node's key, and may have expelled it",
    Alarm.REFUSED: "neighbours refuse this node's reports",
}


class Sighting(NamedTuple):
    """A report under one's own key that its data file knows nothing of."""

    alarm: Alarm
    epoch: int
    seq: int


class OwnKey:
    """One's own key, as it is used here and as others see it used."""

    def __init__(self, key: str, state: State) -> None:
        self._key, self._network = key, str(state.facts["network"])
        self.public = public_bytes(key)
        self.epoch = self.seq = self.reset = 0
        self._pardoned = next(((item.epoch, item.seq) for item in state.pardons if item.key == key), (-1, -1))
        self.accusations = [
            piece for piece in state.evidence if piece.key == key and (piece.epoch, piece.seq) > self._pardoned
        ]
        self.alarms: Counter[Alarm] = Counter({Alarm.ACCUSED: len(self.accusations)})  # how often each was raised
        self._known = int(
            state.facts["epoch"]
        )  # the newest epoch that was used before this start, or seen elsewhere since
        self._refusals: dict[str, tuple[Refusal, float]] = {}  # by neighbour: why it refuses one's reports, and when
        self._abandoned = int(state.facts.get("abandoned", 0))  # an epoch far above the clock, which is left behind
        self._signed: dict[tuple[int, int], set[bytes]] = {}
        self._epochs: dict[int, int] = {}  # begun here, each with its last seq
        self.overtaken = False  # the key was seen elsewhere since this epoch began: begin another

    def begin(self, epoch: int, reset: int) -> None:
        """Begin an epoch; `reset` is the one in which the tallies last began anew."""
        self.epoch, self.seq, self.reset = epoch, 0, reset
        self._epochs[epoch] = 0
        self.overtaken = False

    def next_epoch(self, wall: float) -> int:
        """An epoch above all that were used here or seen elsewhere."""
        return epoch_above(max(self.epoch, self._known), wall)

    def sign(self, version: tuple[int, int], digest: bytes) -> None:
        """Remember a report that is signed here."""
        self._signed.setdefault(version, set()).add(digest)
        self._epochs[version[0]] = version[1]
        if len(self._signed) > SIGNED:
            del self._signed[next(iter(self._signed))]

    def doubt(self, mark: Mark) -> Sighting | None:
        """What a mark under one's own key means if it is true; None if it is one's own, or too old to say."""
        epoch, seq = mark.epoch, mark.seq
        if epoch in self._epochs:
            mine = self._signed.get((epoch, seq))
            foreign = seq > self._epochs[epoch] if mine is None else mark.digest not in mine
            return Sighting(Alarm.FOREIGN, epoch, seq) if foreign else None
        if epoch <= self._known or epoch < self.reset or epoch == self._abandoned:
            return None
        later = epoch >= self.epoch + JITTER  # one begun before this one, by the same clock, is less far above it
        return Sighting(Alarm.FOREIGN if later else Alarm.LOST, epoch, seq)

    def see(self, frames: list[bytes], limit: int) -> tuple[list[Sighting], Contradiction | None]:
        """Judge frames under one's own key, or raise Refused; return what raises an alarm, and proof of a lie.

        Epochs above `limit`, which no neighbour accepts, are not followed.
        """
        found, shown = None, []
        for frame in frames:
            try:
                shown.append(Accepted(unseal_report(frame, self.public, self._network), frame))
            except ImpossibleReport as proof:
                found = Contradiction.of_one(proof.signed, frame)
                shown.append(found.after)
        sightings = [sighting for accepted in shown if (sighting := self.doubt(accepted.mark)) is not None]
        for sighting in sightings:
            self.alarms[sighting.alarm] += 1
            if sighting.epoch <= limit:
                self._known = max(self._known, sighting.epoch)
                self.overtaken |= sighting.alarm is Alarm.LOST or sighting.epoch >= self.epoch
        return sightings, found or (contradiction(shown[0], shown[1]) if len(shown) > 1 else None)

    def accuse(self, found: Contradiction, now: float) -> Evidence | None:
        """Keep proof of a lie under one's own key; None if it is known already, or forgiven."""
        version = found.after.signed.version
        known = any((piece.epoch, piece.seq) == version for piece in self.accusations)
        if known or found.before.signed.version <= self._pardoned:
            return None
        self.accusations.append(Evidence.of(found.kind, self._network, self._key, found.frames, version, now))
        self.alarms[Alarm.ACCUSED] += 1
        return self.accusations[-1]

    def pardon(self) -> Pardon:
        """End all alarms; proof of what was signed up to now raises none again."""
        self.alarms.clear()
        self.accusations.clear()
        self._pardoned = max((self.epoch, self.seq), (self._known, MOST_COUNT if self._known > self.epoch else 0))
        return Pardon(self._key, *self._pardoned)

    def note_refusal(self, name: str, reason: Refusal, steady: float, needed: int) -> bool:
        """Note that a neighbour refuses one's reports; whether that raises an alarm, which needs so many of them.

        With more than f neighbours one of them is honest: nobody can raise a false alarm.
        """
        self._refusals[name] = (reason, steady)
        before = self.alarms[Alarm.REFUSED]
        self.forget_refusals(steady, needed)
        return not before and bool(self.alarms[Alarm.REFUSED])

    def forget_refusals(self, steady: float, needed: int) -> None:
        """Forget notices that were not repeated; the alarm ends with them."""
        self._refusals = {name: item for name, item in self._refusals.items() if steady < item[1] + REFUSED_FOR}
        self.alarms[Alarm.REFUSED] = len(self._refusals) if len(self._refusals) >= needed else 0

    def warnings(self) -> list[str]:
        """The alarms in sentences."""
        said = {alarm: MEANING[alarm] for alarm, count in self.alarms.items() if count}
        if Alarm.REFUSED in said:
            reasons = sorted({reason.value for reason, _ in self._refusals.values()})
            said[Alarm.REFUSED] += f" ({', '.join(reasons)}): {', '.join(sorted(self._refusals))}"
        return list(said.values())
