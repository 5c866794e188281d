"""Proof that an agent lied: two frames that it signed, and that no honest agent signs both of, or one that none signs.

*Equivocation*: one (epoch, seq) with two bodies. An honest node signs each version once, so this is proof.
*Sequence*: two reports of one epoch that no tally has one after the other, such as pulls that fall. At contexts, G and
b that move by more than the new pulls bring are another case. Within an epoch tallies only grow, and contexts keep
their dimensions. So this is proof, too, whichever agents received the reports.
*Numbers*: one report that no honest agent signs, such as a mean above 1; its frame alone is proof.
*Impossible*: a sequence that no tally has, from one epoch to the next. Only a suspicion: a restored backup
looks like one.
"""

import base64
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from byzmab.core.errors import BadInput
from byzmab.node.identity import public_bytes
from byzmab.node.wire import Accepted, AnyReport, ImpossibleReport, Refused, unseal_report


class Lie(StrEnum):
    """What the frames of a piece of evidence show."""

    EQUIVOCATION = "equivocation"
    SEQUENCE = "sequence"
    NUMBERS = "numbers"
    IMPOSSIBLE = "impossible"

    @property
    def proves(self) -> bool:
        """Whether no honest agent can have signed the frames."""
        return self is not Lie.IMPOSSIBLE


class Contradiction(NamedTuple):
    """Two reports of one agent that no honest agent signs both of; or one that none signs, in both places."""

    kind: Lie
    before: Accepted
    after: Accepted

    @classmethod
    def of_one(cls, signed: AnyReport, frame: bytes) -> Self:
        """A report that is impossible by itself."""
        return cls(Lie.NUMBERS, Accepted(signed, frame), Accepted(signed, frame))

    @property
    def frames(self) -> tuple[bytes, ...]:
        """The frames that show it."""
        return (self.after.frame,) if self.kind is Lie.NUMBERS else (self.before.frame, self.after.frame)


class Evidence(msgspec.Struct, frozen=True):
    """Frames of one agent that prove a lie, as a third party can check them."""

    kind: Lie
    network: str
    key: str  # the Byzantine agent's public key
    epoch: int  # of the later frame
    seq: int
    found: float  # seconds since 1970, on the finder's clock
    frames: tuple[str, ...]  # base64: two, or one that is proof by itself

    @classmethod
    def of(
        cls, kind: Lie, network: str, key: str, frames: tuple[bytes, ...], version: tuple[int, int], found: float
    ) -> Self:
        """Evidence from frames; `version` is the later one's (epoch, seq)."""
        return cls(kind, network, key, *version, found, tuple(base64.b64encode(frame).decode() for frame in frames))

    def raw(self) -> tuple[bytes, ...]:
        """The frames, or BadInput."""
        if len(self.frames) != (1 if self.kind is Lie.NUMBERS else 2):
            raise BadInput(f"evidence of kind {self.kind.value!r} is not allowed with {len(self.frames)} frames")
        try:
            return tuple(base64.b64decode(frame, validate=True) for frame in self.frames)
        except ValueError:
            raise BadInput("evidence is not allowed: its frames are not base64") from None


def contradiction(one: Accepted, other: Accepted, arms: Collection[str] | None = None) -> Contradiction | None:
    """What two reports of one agent prove against it, on some arms or all; None if an honest agent can sign both."""
    before, after = (one, other) if one.signed.version <= other.signed.version else (other, one)
    if before.signed.version == after.signed.version:
        return None if before.digest == after.digest else Contradiction(Lie.EQUIVOCATION, before, after)
    if before.signed.epoch != after.signed.epoch or impossible_arm(before.signed, after.signed, arms) is None:
        return None
    return Contradiction(Lie.SEQUENCE, before, after)


def impossible_arm(before: AnyReport, after: AnyReport, arms: Collection[str] | None = None) -> str | None:
    """An arm on which no honest agent sends `after` when it has sent `before`; None if there is none.

    Only some `arms` are looked at, if they are given. The work is in proportion to the arms that are.
    """
    if after.reset > before.epoch:  # announced: the tallies began anew in between
        return None
    places = before.places.keys() & after.places.keys()
    shared = sorted(places if arms is None else places.intersection(arms))
    if before.dimensions != after.dimensions or not shared:
        return next(iter(shared), None)
    arm = after.model.audit(before.report_on(shared), after.report_on(shared))
    return None if arm is None else str(arm)


def explain(evidence: Evidence) -> str:
    """What the evidence proves, in one sentence, from its frames and the key alone; BadInput if it proves nothing."""
    frames, public = evidence.raw(), public_bytes(evidence.key)
    reports = []
    for number, frame in enumerate(frames, 1):
        try:
            reports.append(unseal_report(frame, public, evidence.network))
        except ImpossibleReport as proof:
            if evidence.kind is Lie.NUMBERS:
                epoch, seq = proof.signed.version
                return f"{evidence.key} signed epoch {epoch}, number {seq}, with numbers that no honest agent has"
            raise BadInput(f"evidence proves nothing: frame {number} is refused: {proof.reason.value}") from None
        except Refused as refused:
            raise BadInput(f"evidence proves nothing: frame {number} is refused: {refused.reason.value}") from None
    if evidence.kind is Lie.NUMBERS:
        raise BadInput("evidence proves nothing: an honest agent can have these numbers")
    return _explain_proof(evidence, frames, reports) if evidence.kind.proves else _explain_suspicion(evidence, reports)


def _explain_proof(evidence: Evidence, frames: tuple[bytes, ...], reports: list[AnyReport]) -> str:
    one, other = (Accepted(report, frame) for report, frame in zip(reports, frames, strict=True))
    found = contradiction(one, other)
    if found is None or found.kind is not evidence.kind:
        wanted = {
            Lie.EQUIVOCATION: "two bodies for one epoch and sequence number",
            Lie.SEQUENCE: "reports of one epoch that no tally has one after the other",
        }[evidence.kind]
        raise BadInput(f"evidence proves nothing: the frames are not {wanted}")
    before, after = found.before.signed, found.after.signed
    if found.kind is Lie.EQUIVOCATION:
        return f"{evidence.key} signed two different reports as epoch {before.epoch}, number {before.seq}"
    arm = impossible_arm(before, after)
    numbers = f"numbers {before.seq} and {after.seq} of epoch {before.epoch}"
    return f"{evidence.key} signed {numbers}, which no tally of arm {arm!r} has one after the other"


def _explain_suspicion(evidence: Evidence, reports: list[AnyReport]) -> str:
    arm = impossible_arm(reports[0], reports[1]) if reports[0].version < reports[1].version else None
    if arm is None:
        raise BadInput("evidence proves nothing: an honest agent can have told the one report after the other")
    first, second = (f"epoch {report.epoch}, number {report.seq}" for report in reports)
    return f"{evidence.key} told an impossible history of arm {arm!r} from {first} to {second}: a suspicion, no proof"


def read_evidence(path: str | Path) -> list[Evidence]:
    """The evidence in a file: one piece, a list of them, or what GET /v1/neighbours answered."""
    try:
        data = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise BadInput(f"evidence file {str(path)!r} cannot be read: {error.strerror}") from None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise BadInput(f"evidence file {str(path)!r} is not JSON") from None
    pieces = list(_pieces(data))
    if not pieces:
        raise BadInput(f"evidence file {str(path)!r} holds no evidence")
    try:
        return msgspec.convert(pieces, list[Evidence])
    except msgspec.ValidationError as error:
        raise BadInput(f"evidence file {str(path)!r} is not understood: {error}") from None


def _pieces(data: Any) -> list[Any]:
    if isinstance(data, list):
        return [piece for item in data for piece in _pieces(item)]
    if isinstance(data, dict) and "frames" not in data:
        return [piece for key in ("neighbours", "peers", "evidence") if key in data for piece in _pieces(data[key])]
    return [data] if isinstance(data, dict) else []
