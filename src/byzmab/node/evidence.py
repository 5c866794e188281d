"""Proof that an agent lied: two frames that it signed, and that no honest agent signs both of.

*Equivocation*: one (epoch, seq) with two bodies. An honest node signs each version once, so this is proof.
*Sequence*: two reports of one epoch that no tally has one after the other, such as pulls that fall, or, at contexts, G
and b that move by more than the new pulls bring. Within an epoch tallies only grow, and contexts keep their dimensions,
so this is proof, too, whoever received them.
*Impossible*: the same from one epoch to the next. Only a suspicion: a restored backup looks like one.
"""

import base64
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from byzmab.core.errors import BadInput
from byzmab.node.identity import public_bytes
from byzmab.node.wire import Accepted, AnyReport, Refused, unseal_report


class Lie(StrEnum):
    """What two frames show."""

    EQUIVOCATION = "equivocation"
    SEQUENCE = "sequence"
    IMPOSSIBLE = "impossible"

    @property
    def proves(self) -> bool:
        """Whether no honest agent can have signed both frames."""
        return self is not Lie.IMPOSSIBLE


class Contradiction(NamedTuple):
    """Two reports of one agent that no honest agent signs both of."""

    kind: Lie
    before: Accepted
    after: Accepted


class Evidence(msgspec.Struct, frozen=True):
    """Two frames of one agent that contradict each other, as a third party can check them."""

    kind: Lie
    network: str
    key: str  # the liar's public key
    epoch: int  # of the later frame
    seq: int
    found: float  # seconds since 1970, on the finder's clock
    frames: tuple[str, str]  # base64

    @classmethod
    def of(
        cls, kind: Lie, network: str, key: str, frames: tuple[bytes, bytes], version: tuple[int, int], found: float
    ) -> Self:
        """Evidence from two frames; `version` is the later one's (epoch, seq)."""
        first, second = (base64.b64encode(frame).decode() for frame in frames)
        return cls(kind, network, key, *version, found, (first, second))

    def raw(self) -> tuple[bytes, bytes]:
        """The two frames, or BadInput."""
        try:
            first, second = (base64.b64decode(frame, validate=True) for frame in self.frames)
        except ValueError:
            raise BadInput("evidence is not allowed: its frames are not base64") from None
        return first, second


def contradiction(one: Accepted, other: Accepted) -> Contradiction | None:
    """What two reports of one agent prove against it; None if an honest agent can have signed both."""
    before, after = (one, other) if one.signed.version <= other.signed.version else (other, one)
    if before.signed.version == after.signed.version:
        return None if before.digest == after.digest else Contradiction(Lie.EQUIVOCATION, before, after)
    if before.signed.epoch != after.signed.epoch or impossible_arm(before.signed, after.signed) is None:
        return None
    return Contradiction(Lie.SEQUENCE, before, after)


def impossible_arm(before: AnyReport, after: AnyReport) -> str | None:
    """The first arm on which no honest agent sends `after` when it has sent `before`; None if there is none."""
    if after.reset > before.epoch:  # announced: the tallies began anew in between
        return None
    if before.dimensions != after.dimensions:
        return next((arm for arm in after.arms if arm in before.arms), None)
    arm = after.model.audit(before.report, after.report)
    return None if arm is None else str(arm)


def explain(evidence: Evidence) -> str:
    """What the evidence proves, in one sentence, from its frames and the key alone; BadInput if it proves nothing."""
    frames, public = evidence.raw(), public_bytes(evidence.key)
    reports = []
    for number, frame in enumerate(frames, 1):
        try:
            reports.append(unseal_report(frame, public, evidence.network))
        except Refused as refused:
            raise BadInput(f"evidence proves nothing: frame {number} is refused: {refused.reason.value}") from None
    return _explain_proof(evidence, frames, reports) if evidence.kind.proves else _explain_suspicion(evidence, reports)


def _explain_proof(evidence: Evidence, frames: tuple[bytes, bytes], reports: list[AnyReport]) -> str:
    found = contradiction(*(Accepted(report, frame) for report, frame in zip(reports, frames, strict=True)))
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
    arm = impossible_arm(*reports) if reports[0].version < reports[1].version else None
    if arm is None:
        raise BadInput("evidence proves nothing: an honest agent can have told the one report after the other")
    first, second = (f"epoch {report.epoch}, number {report.seq}" for report in reports)
    return f"{evidence.key} told an impossible history of arm {arm!r} from {first} to {second}: a suspicion, no proof"


def read_evidence(path: str | Path) -> list[Evidence]:
    """The evidence in a file: one piece, a list of them, or what GET /v1/peers answered."""
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
        return [piece for key in ("peers", "evidence") if key in data for piece in _pieces(data[key])]
    return [data] if isinstance(data, dict) else []
