"""What goes over the wire: signed frames, and the checks that a frame must pass before anything believes it.

A frame is signature(64) ‖ body. The signature is of DOMAIN ‖ body, the body exactly as received. A body is msgpack,
an array that begins with its kind: "word", one agent's report with its header; "contexts", the same where rewards
depend on contexts; "exhibit", frames of a third agent that two neighbours compare; "ask", which asks for such frames;
"handover", by which a key names its successor; "refused", by which a neighbour learns why its reports do not count.
The header's (epoch, seq) is the report's version.
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from byzmab.core.contexts.model import ContextModel
from byzmab.core.contexts.reports import MOST_DIMENSIONS, ContextReport, check_all
from byzmab.core.model import ReportModel
from byzmab.core.report import Floats, Report
from byzmab.core.tallies import TALLIES
from byzmab.node.identity import KEY_BYTES, SIGNATURE_BYTES, Key, public_bytes, verify
from byzmab.node.packing import bytes_per_arm, pack, unpack
from byzmab.node.transport.base import MOST_BYTES, OVERHEAD

PROTOCOL = 1
DOMAIN = b"byzmab frame 1\n"
CONSENT = b"byzmab handover 1\n"  # before what a successor signs
MOST_ARMS = 1_000
MOST_LETTERS = 128  # of an arm's or a network's name
MOST_MARKS = 256  # of one report
MOST_ASKED = 8  # frames that one request asks for
MOST_PULLS = 2**53  # beyond it floats skip whole numbers
MOST_COUNT = 2**63 - 1  # of an epoch or a sequence number
MOST_REPORT = MOST_BYTES - OVERHEAD  # bytes of a report's frame: one that is accepted can be shown to others
DIGEST_BYTES = 32


class Refusal(StrEnum):
    """Why a frame was not accepted."""

    OVERSIZED = "oversized"
    MALFORMED = "malformed"
    SIGNATURE = "bad signature"
    PROTOCOL = "other version"
    NETWORK = "other network"
    SENDER = "forged sender"
    ARMS = "bad arms"
    NUMBERS = "bad numbers"
    CONTEXT = "other contexts"
    OLD = "not newer"
    AHEAD = "epoch ahead"
    STRANGER = "not a neighbour"
    EXPELLED = "expelled"
    FLOOD = "flood"


class Refused(Exception):
    """A frame that was not accepted; it changes nothing but a counter."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


class ImpossibleReport(Refused):
    """A report that proves by itself that its signer lied: its numbers are none that an honest agent signs."""

    def __init__(self, signed: "AnyReport") -> None:
        super().__init__(Refusal.NUMBERS)
        self.signed = signed


class Mark(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """Witness mark: which report of another agent was accepted lately."""

    sender: bytes
    epoch: int
    seq: int
    digest: bytes  # of the report's body


class Signed(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True, dict=True):
    """One agent's report with its header, of either kind; what it says of the arms, and witness marks, follow."""

    protocol: int
    network: str
    sender: bytes
    epoch: int  # raised at every start, and stored before the first signature
    seq: int  # raised with every report
    time: float  # of the sender's clock, in seconds since 1970; nothing relies on it
    reset: int  # the epoch in which the tallies last began anew, 0 for never
    arms: list[str]
    pulls: list[int]

    @property
    def version(self) -> tuple[int, int]:
        """(epoch, seq), which rises from report to report."""
        return self.epoch, self.seq

    @property
    def dimensions(self) -> int:
        """d of the contexts; 0 where there are none."""
        return 0

    @property
    def model(self) -> ReportModel:
        """What such a report is."""
        return ContextModel(self.dimensions) if self.dimensions else TALLIES

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each arm in the report."""
        return {arm: place for place, arm in enumerate(self.arms)}


class SignedReport(Signed, tag="word", frozen=True):
    """A report of means."""

    means: list[float]
    marks: list[Mark]

    @classmethod
    def content(cls, means: Floats) -> tuple[Any, ...]:
        """What stands between pulls and marks."""
        return (means.tolist(),)

    def is_possible(self) -> bool:
        """Whether an honest agent may have these means."""
        return all(0.0 <= mean <= 1.0 for mean in self.means)  # a mean that is no number fails every comparison

    @property
    def report(self) -> Report:
        """The report alone."""
        return Report(np.array(self.pulls, np.float64), np.array(self.means, np.float64), tuple(self.arms))

    def report_on(self, arms: Sequence[str]) -> Report:
        """The report on some of its arms, in the given order."""
        rows = [self.places[arm] for arm in arms]
        pulls, means = ([column[row] for row in rows] for column in (self.pulls, self.means))
        return Report(np.array(pulls, np.float64), np.array(means, np.float64), tuple(arms))


class SignedContextReport(Signed, tag="contexts", frozen=True):
    """A report of statistics at contexts."""

    dimensions: int
    statistics: bytes  # see node/packing.py
    marks: list[Mark]

    @classmethod
    def content(cls, moments: Floats, grams: Floats) -> tuple[Any, ...]:
        """What stands between pulls and marks."""
        return moments.shape[1], pack(moments, grams)

    def is_possible(self) -> bool:
        """Whether an honest agent may have these statistics; G is symmetric as it is told."""
        d = self.dimensions
        if not 1 <= d <= MOST_DIMENSIONS or len(self.statistics) != len(self.arms) * bytes_per_arm(d):
            return False
        pulls, moments, grams, _ = self.report
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                check_all(pulls, grams, moments)
        except ValueError:  # LinAlgError is one, too
            return False
        return True

    @property
    def report(self) -> ContextReport:
        """The report alone."""
        return ContextReport(
            np.array(self.pulls, np.float64), *unpack(self.statistics, self.dimensions), tuple(self.arms)
        )

    def report_on(self, arms: Sequence[str]) -> ContextReport:
        """The report on some of its arms, in the given order; nothing else is unpacked."""
        places, size = self.places, bytes_per_arm(self.dimensions)
        rows = [places[arm] for arm in arms]
        packed = b"".join(self.statistics[row * size : (row + 1) * size] for row in rows)
        pulls = np.array([self.pulls[row] for row in rows], np.float64)
        return ContextReport(pulls, *unpack(packed, self.dimensions), tuple(arms))


class EvidenceMessage(msgspec.Struct, array_like=True, frozen=True, tag="exhibit", forbid_unknown_fields=True):
    """Frames of a third agent; each proves itself by its signature, whichever agent passes it on."""

    protocol: int
    network: str
    sender: bytes  # who passes them on
    frames: list[bytes]


class Request(msgspec.Struct, array_like=True, frozen=True, tag="ask", forbid_unknown_fields=True):
    """Asks a neighbour for reports of an agent; it answers with evidence messages."""

    protocol: int
    network: str
    sender: bytes
    about: bytes  # the agent's key; the sender's own after a start
    versions: list[tuple[int, int]]  # none: the newest


class Handover(msgspec.Struct, array_like=True, frozen=True, tag="handover", forbid_unknown_fields=True):
    """Names the key that takes the sender's place."""

    protocol: int
    network: str
    sender: bytes
    successor: bytes
    epoch: int  # the successor's reports begin here or later
    consent: bytes  # the successor's signature


class RefusalNotice(msgspec.Struct, array_like=True, frozen=True, tag="refused", forbid_unknown_fields=True):
    """Tells a neighbour why its reports are not accepted, where that may be an accident of its own."""

    protocol: int
    network: str
    sender: bytes
    reason: Refusal


AnyReport = SignedReport | SignedContextReport
Body = AnyReport | EvidenceMessage | Request | Handover | RefusalNotice
KINDS: dict[type[Any], Any] = {Report: SignedReport, ContextReport: SignedContextReport}  # by what is signed


class Accepted(NamedTuple):
    """A checked report, with the frame that proves who signed it."""

    signed: AnyReport
    frame: bytes

    @property
    def digest(self) -> bytes:
        """The hash of the body."""
        return digest_of(self.frame)

    @property
    def mark(self) -> Mark:
        """The witness mark of this report."""
        return Mark(self.signed.sender, self.signed.epoch, self.signed.seq, self.digest)


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Body] = msgspec.msgpack.Decoder(Body)


def seal(key: Key, body: Body) -> bytes:
    """The frame of a body."""
    encoded = _encoder.encode(body)
    return key.sign(DOMAIN + encoded) + encoded


def digest_of(frame: bytes) -> bytes:
    """The hash of a frame's body, by which two neighbours see whether they were told the same."""
    return hashlib.sha256(memoryview(frame)[SIGNATURE_BYTES:]).digest()


def unseal(frame: bytes, public: bytes, network: str) -> Body:
    """The body of a frame that the holder of a public key signed for a network, or Refused."""
    if len(frame) > MOST_BYTES:
        raise Refused(Refusal.OVERSIZED)
    if len(frame) <= SIGNATURE_BYTES:
        raise Refused(Refusal.MALFORMED)
    encoded = frame[SIGNATURE_BYTES:]
    if not verify(public, frame[:SIGNATURE_BYTES], DOMAIN + encoded):
        raise Refused(Refusal.SIGNATURE)
    try:
        body = _decoder.decode(encoded)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # ValueError: text that is not UTF-8
        raise Refused(Refusal.MALFORMED) from None
    _check_origin(body, public, network)
    if isinstance(body, Signed):
        if len(frame) > MOST_REPORT:
            raise Refused(Refusal.OVERSIZED)
        _check_report(body)
    elif isinstance(body, Handover):
        _check_handover(body)
    elif isinstance(body, Request) and (len(body.about) != KEY_BYTES or len(body.versions) > MOST_ASKED):
        raise Refused(Refusal.MALFORMED)
    return body


def unseal_report(frame: bytes, public: bytes, network: str) -> AnyReport:
    """The report in a frame, or Refused; any other kind of body is malformed, and `ImpossibleReport` is proof."""
    body = unseal(frame, public, network)
    if not isinstance(body, Signed):
        raise Refused(Refusal.MALFORMED)
    return body


def sender_of(frame: bytes) -> bytes:
    """The sender that a frame names, before that is checked: for frames that a third party shows."""
    try:
        return _decoder.decode(frame[SIGNATURE_BYTES:]).sender
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Refused(Refusal.MALFORMED) from None


def _check_origin(body: Body, public: bytes, network: str) -> None:
    if body.protocol != PROTOCOL:
        raise Refused(Refusal.PROTOCOL)
    if body.network != network:
        raise Refused(Refusal.NETWORK)
    if body.sender != public:
        raise Refused(Refusal.SENDER)


def _check_report(report: AnyReport) -> None:
    arms = report.arms
    if not len(arms) == len(report.pulls) == len(set(arms)) or len(arms) > MOST_ARMS:
        raise Refused(Refusal.ARMS)
    if not all(0 < len(arm) <= MOST_LETTERS for arm in arms):
        raise Refused(Refusal.ARMS)
    if len(report.marks) > MOST_MARKS or not all(
        len(mark.sender) == KEY_BYTES and len(mark.digest) == DIGEST_BYTES for mark in report.marks
    ):
        raise Refused(Refusal.MALFORMED)
    if not 0 <= min(report.version) <= max(report.version) <= MOST_COUNT:  # proof has a version that can be stored
        raise Refused(Refusal.NUMBERS)
    if not _has_possible_header(report) or not report.is_possible():
        raise ImpossibleReport(report)


def _has_possible_header(report: AnyReport) -> bool:
    """Whether an honest agent may sign these counts; no epoch announces a reset that is still to come."""
    counts = [number for mark in report.marks for number in (mark.epoch, mark.seq)]
    if not all(0 <= count <= MOST_COUNT for count in counts) or not abs(report.time) < MOST_PULLS:
        return False
    return 0 <= report.reset <= report.epoch and all(0 <= count <= MOST_PULLS for count in report.pulls)


def _check_handover(body: Handover) -> None:
    if len(body.successor) != KEY_BYTES or body.successor == body.sender or not 0 <= body.epoch <= MOST_COUNT:
        raise Refused(Refusal.MALFORMED)
    if not verify(body.successor, body.consent, _consent(body.network, body.sender, body.successor, body.epoch)):
        raise Refused(Refusal.SIGNATURE)


def _consent(network: str, sender: bytes, successor: bytes, epoch: int) -> bytes:
    return CONSENT + _encoder.encode((network, sender, successor, epoch))


def seal_handover(key: Key, successor: Key, network: str, epoch: int) -> bytes:
    """The frame by which a key hands over to another; both sign."""
    old, new = public_bytes(key.public), public_bytes(successor.public)
    consent = successor.sign(_consent(network, old, new, epoch))
    return seal(key, Handover(PROTOCOL, network, old, new, epoch, consent))


def unseal_handover(frame: bytes, public: bytes, network: str) -> Handover:
    """The hand-over in a frame, or Refused; any other kind of body is malformed."""
    body = unseal(frame, public, network)
    if not isinstance(body, Handover):
        raise Refused(Refusal.MALFORMED)
    return body
