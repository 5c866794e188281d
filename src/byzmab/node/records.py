"""The state of a node as data: what its store keeps, and what `byzmab node export` writes."""

import secrets
import time
from collections import deque
from collections.abc import Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec

from byzmab.core.errors import BadInput
from byzmab.core.traffic import Forced
from byzmab.node.evidence import Evidence
from byzmab.node.packing import NUMBER

FORMAT = 2  # of an export: raised with every change, so that older programs refuse it
NO_EVENTS = b'"events": []'  # within an export; within a text the marks would have strokes before them
RANDOM_BYTES, DRAWN = 10, 256  # of an event's id, and ids whose random bytes are drawn at once


class EventState(IntEnum):
    """How far a decision has come."""

    PENDING = 0
    REWARDED = 1
    EXPIRED = 2  # its reward did not come within `reward_wait`


class Event(msgspec.Struct):
    """One decision: the arm that was chosen, and the reward that came of it."""

    event_id: str
    arm: str
    round: int  # t when it was chosen
    chosen: float  # seconds since 1970
    state: EventState = EventState.PENDING
    value: float | None = None
    settled: float | None = None  # seconds since 1970
    forced: Forced | None = None  # by a floor or a cap of traffic
    context: bytes | None = None  # at which it was chosen, as numbers of 8 bytes


class Arm(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tally of one arm, and whether it is in use."""

    arm: str
    index: int = msgspec.field(name="place")  # arms are in this order
    in_use: bool
    pulls: int
    total: float
    pending: int
    statistics: bytes | None = None  # b and G at contexts: see node/packing.py


class NeighbourRecord(msgspec.Struct, frozen=True):
    """The newest report accepted from a key, and what became of all its reports."""

    key: str
    frame: bytes | None
    heard: float  # seconds since 1970, on our clock
    counts: dict[str, int]


class Pardon(msgspec.Struct, frozen=True):
    """Lies of a key that are forgiven: those in reports up to a version."""

    key: str
    epoch: int
    seq: int


class HandoverRecord(msgspec.Struct, frozen=True):
    """A key that was handed over to another, with the signed frame."""

    key: str  # the old one
    frame: bytes


class State(msgspec.Struct):
    """All that a node must not forget."""

    facts: dict[str, Any]  # network, key, epoch, reset, round; context, if any; boot, offset: of the deadlines' clock
    arms: list[Arm]
    events: list[Event]
    neighbours: list[NeighbourRecord] = msgspec.field(name="hearings")
    evidence: list[Evidence]
    format: int = FORMAT
    pardons: list[Pardon] = []
    handovers: list[HandoverRecord] = []


_random: deque[bytes] = deque()  # drawn in advance: one call for many ids takes as long as for one


def new_event_id() -> str:
    """A new unique id for an event; ids of one time sort near each other, which is quick on the disk."""
    try:
        random = _random.popleft()
    except IndexError:
        drawn = secrets.token_bytes(DRAWN * RANDOM_BYTES)
        _random.extend(drawn[first : first + RANDOM_BYTES] for first in range(RANDOM_BYTES, len(drawn), RANDOM_BYTES))
        random = drawn[:RANDOM_BYTES]
    return f"{time.time_ns() // 1_000_000:012x}{random.hex()}"


def new_state(network: str, public: str, epoch: int = 0, reset: int = 0) -> State:
    """The state of a node that has done nothing yet."""
    return State({"network": network, "key": public, "epoch": epoch, "reset": reset, "round": 0}, [], [], [], [])


def to_json(state: State, events: Iterable[Event]) -> Iterator[bytes]:
    """Yield one JSON object in pieces: a state that holds no events, and its events, each on a line of its own."""
    head, _, tail = msgspec.json.format(msgspec.json.encode(state), indent=1).partition(NO_EVENTS)
    yield head + NO_EVENTS[:-1]
    between = b"\n  "
    for event in events:
        yield between + msgspec.json.encode(event)
        between = b",\n  "
    yield b"]" + tail


def read_state(path: str | Path) -> State:
    """The state in a file that `byzmab node export` wrote, or BadInput."""
    try:
        return from_json(Path(path).read_bytes())
    except OSError as error:
        raise BadInput(f"state file {str(path)!r} cannot be read: {error.strerror}") from None


def from_json(text: bytes) -> State:
    """The state that `to_json` wrote, or BadInput."""
    try:
        state = msgspec.json.decode(text, type=State)
        facts = state.facts
        for name in ("epoch", "reset", "round"):
            msgspec.convert(facts[name], int)
        for name in ("network", "key"):
            msgspec.convert(facts[name], str)
        size = NUMBER.itemsize * msgspec.convert(facts.get("context", 0), int)
        if any(len(event.context or b"") != size for event in state.events):
            raise ValueError("a context that is no numbers, or not as many as others")
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as error:
        raise BadInput(f"node state is not understood: {error}") from None
    if not 1 <= state.format <= FORMAT:
        raise BadInput(f"node state of format {state.format} is not understood; allowed: up to {FORMAT}")
    return msgspec.structs.replace(state, format=FORMAT)
