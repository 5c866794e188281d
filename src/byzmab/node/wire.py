"""What goes over the wire: signed frames, and the checks that a frame must pass before anything believes it.

A frame is signature(64) ‖ body. The signature is of DOMAIN ‖ body, the body exactly as received. A body is msgpack,
an array that begins with its kind: a *word*, one agent's report with its place in time, or an *exhibit*, frames of a
third agent that two neighbours compare.
"""

import hashlib
import math
from enum import StrEnum
from typing import NamedTuple

import msgspec
import numpy as np

from byzmab.core.report import Report
from byzmab.node.identity import KEY_BYTES, SIGNATURE_BYTES, Key, verify
from byzmab.node.transport.base import MOST_BYTES

VERSION = 1
DOMAIN = b"byzmab frame 1\n"
MOST_ARMS = 1_000
MOST_LETTERS = 128  # of an arm's or a network's name
MOST_MARKS = 64  # of one word
MOST_PULLS = 2**53  # beyond it floats skip whole numbers
MOST_COUNT = 2**63 - 1  # of an epoch or a sequence number
DIGEST_BYTES = 32


class Refusal(StrEnum):
    """Why a frame was not accepted."""

    OVERSIZED = "oversized"
    MALFORMED = "malformed"
    SIGNATURE = "bad signature"
    VERSION = "other version"
    NETWORK = "other network"
    SENDER = "forged sender"
    ARMS = "bad arms"
    NUMBERS = "bad numbers"
    OLD = "not newer"
    STRANGER = "not a neighbour"
    EXPELLED = "expelled"
    FLOOD = "flood"


class Refused(Exception):
    """A frame that was not accepted; it changes nothing but a counter."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Mark(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """Which word of another agent one has lately accepted: a witness of what that agent said."""

    sender: bytes
    epoch: int
    seq: int
    digest: bytes  # of the word's body


class Word(msgspec.Struct, array_like=True, frozen=True, tag="word", forbid_unknown_fields=True):
    """One agent's report, and its place in time."""

    version: int
    network: str
    sender: bytes
    epoch: int  # raised at every start, and stored before the first signature
    seq: int  # raised with every report
    time: float  # of the sender's clock, in seconds since 1970; nothing relies on it
    reset: int  # the epoch in which the tallies last began anew, 0 for never
    arms: list[str]
    pulls: list[int]
    means: list[float]
    marks: list[Mark]

    @property
    def place(self) -> tuple[int, int]:
        """What must rise from word to word: (epoch, seq)."""
        return self.epoch, self.seq

    @property
    def report(self) -> Report:
        """The report alone."""
        return Report(np.array(self.pulls, np.float64), np.array(self.means, np.float64), tuple(self.arms))


class Exhibit(msgspec.Struct, array_like=True, frozen=True, tag="exhibit", forbid_unknown_fields=True):
    """Frames of a third agent: each is its own proof, whoever passes it on."""

    version: int
    network: str
    sender: bytes  # who passes them on
    frames: list[bytes]


class Accepted(NamedTuple):
    """A word as it came: checked, with the frame that proves it."""

    word: Word
    frame: bytes

    @property
    def digest(self) -> bytes:
        """The hash of the body."""
        return digest_of(self.frame)

    @property
    def mark(self) -> Mark:
        """The witness mark of this word."""
        return Mark(self.word.sender, self.word.epoch, self.word.seq, self.digest)


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Word | Exhibit] = msgspec.msgpack.Decoder(Word | Exhibit)


def seal(key: Key, body: Word | Exhibit) -> bytes:
    """The frame of a body."""
    encoded = _encoder.encode(body)
    return key.sign(DOMAIN + encoded) + encoded


def digest_of(frame: bytes) -> bytes:
    """The hash of a frame's body, by which two neighbours see whether they were told the same."""
    return hashlib.sha256(memoryview(frame)[SIGNATURE_BYTES:]).digest()


def unseal(frame: bytes, public: bytes, network: str) -> Word | Exhibit:
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
    if isinstance(body, Word):
        _check_word(body)
    return body


def unseal_word(frame: bytes, public: bytes, network: str) -> Word:
    """The same where nothing but a word will do."""
    body = unseal(frame, public, network)
    if not isinstance(body, Word):
        raise Refused(Refusal.MALFORMED)
    return body


def sender_of(frame: bytes) -> bytes:
    """Whom a frame says it is from, before that is checked: for frames that a third party shows."""
    try:
        return _decoder.decode(frame[SIGNATURE_BYTES:]).sender
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Refused(Refusal.MALFORMED) from None


def _check_origin(body: Word | Exhibit, public: bytes, network: str) -> None:
    if body.version != VERSION:
        raise Refused(Refusal.VERSION)
    if body.network != network:
        raise Refused(Refusal.NETWORK)
    if body.sender != public:
        raise Refused(Refusal.SENDER)


def _check_word(word: Word) -> None:
    arms = word.arms
    if not len(arms) == len(word.pulls) == len(word.means) == len(set(arms)) or len(arms) > MOST_ARMS:
        raise Refused(Refusal.ARMS)
    if not all(0 < len(arm) <= MOST_LETTERS for arm in arms):
        raise Refused(Refusal.ARMS)
    # a mean that is no number fails every comparison
    if not all(0.0 <= mean <= 1.0 for mean in word.means) or not all(0 <= count <= MOST_PULLS for count in word.pulls):
        raise Refused(Refusal.NUMBERS)
    counts = (word.epoch, word.seq, word.reset, *(number for mark in word.marks for number in (mark.epoch, mark.seq)))
    if not all(0 <= count <= MOST_COUNT for count in counts) or not abs(word.time) < MOST_PULLS:
        raise Refused(Refusal.NUMBERS)
    if len(word.marks) > MOST_MARKS or not all(
        len(mark.sender) == KEY_BYTES and len(mark.digest) == DIGEST_BYTES for mark in word.marks
    ):
        raise Refused(Refusal.MALFORMED)


class Place(NamedTuple):
    """What a word says of itself besides its report."""

    network: str
    sender: bytes
    epoch: int
    seq: int
    time: float
    reset: int


def word_of(place: Place, report: Report, marks: list[Mark]) -> Word:
    """A report as a word; an arm on which a liar says no finite number is left out, which is silence on it."""
    rows = [
        (arm, int(min(max(count, 0.0), MOST_PULLS)), mean)
        for arm, count, mean in zip(report.arms, report.pulls.tolist(), report.means.tolist(), strict=True)
        if math.isfinite(count) and math.isfinite(mean)
    ]
    return Word(VERSION, *place, [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], marks)
