"""What a client asks of a node: each request, and the type of its answer."""

import base64
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import msgspec

from byzmab.core.confidence import checked_confidence
from byzmab.core.errors import BadInput
from byzmab.node.api import (
    MOST_SELECTS,
    ArmsAnswer,
    ArmsRequest,
    BestAnswer,
    Decision,
    HandoverRequest,
    NeighboursAnswer,
    NodeState,
    PardonRequest,
    PeersAnswer,
    ResetRequest,
    Reward,
    RewardRequest,
    RewardsAnswer,
    RewardsRequest,
    SelectRequest,
    SelectsAnswer,
    SelectsRequest,
)
from byzmab.node.records import new_event_id

Answer = TypeVar("Answer")


class Call(NamedTuple, Generic[Answer]):
    """What is asked, and what kind of answer is expected."""

    method: str
    path: str
    answer: type[Answer]
    body: msgspec.Struct | None = None


Context = Iterable[float] | None  # numbers of any kind; None where there are no contexts


def select(event_id: str | None, context: Context) -> Call[Decision]:
    """Ask for the arm of an event, at a context where there are any; a new one if it has no name."""
    return Call("POST", "/v1/select", Decision, _select(event_id or new_event_id(), context))


def _select(event_id: str, context: Context) -> SelectRequest:
    try:
        return SelectRequest(event_id, None if context is None else [float(number) for number in context])
    except (TypeError, ValueError):
        raise BadInput(f"context {str(context)[:80]!r} is not allowed; allowed: numbers") from None


def selects(events: int | Iterable[str], contexts: Iterable[Context] | None) -> Call[SelectsAnswer]:
    """Ask for the arms of so many new events, or of those of these names, each at its context where there are any."""
    if isinstance(events, int):
        if isinstance(events, bool) or not 0 <= events <= MOST_SELECTS:
            raise BadInput(f"events {events!r} is not allowed; allowed: their names, or up to {MOST_SELECTS} new ones")
        events = [new_event_id() for _ in range(events)]
    names = list(events)
    seen = [None] * len(names) if contexts is None else list(contexts)
    if len(seen) != len(names):
        raise BadInput(f"{len(seen)} contexts for {len(names)} events are not allowed; allowed: one for each")
    asked = [_select(event, context) for event, context in zip(names, seen, strict=True)]
    return Call("POST", "/v1/selects", SelectsAnswer, SelectsRequest(asked))


def reward(event_id: str, value: float) -> Call[None]:
    """Tell the reward of an event."""
    return Call("POST", f"/v1/events/{event_id}/reward", type(None), RewardRequest(value))


def rewards(rewards: Iterable[tuple[str, float]]) -> Call[RewardsAnswer]:
    """Tell many rewards, as (event_id, value)."""
    items = [Reward(event_id, value) for event_id, value in rewards]
    return Call("POST", "/v1/rewards", RewardsAnswer, RewardsRequest(items))


def set_arms(arms: Iterable[str]) -> Call[ArmsAnswer]:
    """Use these arms from now on."""
    return Call("PUT", "/v1/arms", ArmsAnswer, ArmsRequest(list(arms)))


def reset(arm: str) -> Call[ArmsAnswer]:
    """Forget the rewards of an arm."""
    return Call("POST", "/v1/reset", ArmsAnswer, ResetRequest(arm))


def best(confidence: float) -> Call[BestAnswer]:
    """Ask for the best arm."""
    return Call("GET", f"/v1/best?confidence={checked_confidence(confidence)}", BestAnswer)


def pardon(who: str) -> Call[PeersAnswer]:
    """Hear a neighbour again, by its name or key."""
    return Call("POST", "/v1/pardon", PeersAnswer, PardonRequest(who))


def hand_over(frame: bytes) -> Call[None]:
    """Tell the neighbours that another key takes the node's place."""
    return Call("POST", "/v1/handover", type(None), HandoverRequest(base64.b64encode(frame).decode()))


ARMS = Call("GET", "/v1/arms", ArmsAnswer)
NEIGHBOURS = Call("GET", "/v1/neighbours", NeighboursAnswer)
STATE = Call("GET", "/v1/state", NodeState)
