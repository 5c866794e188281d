"""The fast path: `select`, `reward` and their batches, the frequent requests, answered without Litestar.

Litestar takes longer for each of them than the node itself, and takes texts for numbers. Here bodies are decoded
strictly, and what does not decode is refused before any part of it counts; all other requests go to Litestar.
"""

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from byzmab.node.api import (
    EVENT_ID,
    EVENT_ID_RULE,
    Problem,
    RewardRequest,
    RewardsRequest,
    SelectRequest,
    SelectsRequest,
)
from byzmab.node.problems import PROBLEMS, problem_of
from byzmab.node.runtime import NodeRuntime


class FastAnswer(NamedTuple):
    """A status with a body in JSON, which may be empty."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


FastPath = Callable[[str, bytes], Awaitable[FastAnswer | None]]  # path, body → answer; None: ask Litestar

_REWARD = re.compile(r"/v1/events/([^/]+)/reward\Z")
_EVENT = re.compile(EVENT_ID)
_select_request = msgspec.json.Decoder(SelectRequest)
_selects_request = msgspec.json.Decoder(SelectsRequest)
_reward_request = msgspec.json.Decoder(RewardRequest)
_rewards_request = msgspec.json.Decoder(RewardsRequest)
_encode = msgspec.json.Encoder().encode


def _sentence(message: str) -> str:
    """What is wrong with a body, and where, in one sentence."""
    said, _, path = message.partition(" - at `$")
    said = said.replace(f"`str` matching regex {EVENT_ID!r}", f"an event id: {EVENT_ID_RULE}")
    return f"{path.strip('.`') or 'the body'}: {said[:1].lower()}{said[1:]}"


async def no_fast_path(path: str, body: bytes) -> FastAnswer | None:
    """Answer nothing: every request goes to Litestar."""
    return None


def make_fast_path(node: NodeRuntime) -> FastPath:
    """A function that answers a POST by its path and body, or returns None where Litestar is to answer."""

    async def answer(path: str, body: bytes) -> FastAnswer | None:
        rewarded = _REWARD.match(path) if path.startswith("/v1/events/") else None
        try:
            if path == "/v1/select":
                return FastAnswer(200, _encode(await node.select(_select_request.decode(body))))
            if path == "/v1/selects":
                return FastAnswer(200, _encode(await node.selects(_selects_request.decode(body).selects)))
            if path == "/v1/rewards":
                return FastAnswer(200, _encode(await node.rewards(_rewards_request.decode(body).rewards)))
            if rewarded is not None and _EVENT.match(rewarded[1]):
                await node.reward(rewarded[1], _reward_request.decode(body).value)
                return FastAnswer(204)
        except PROBLEMS as error:
            problem, headers = problem_of(error)
            raw = tuple((name.encode(), value.encode()) for name, value in headers.items())
            return FastAnswer(problem.status_code, _encode(problem), raw)
        except msgspec.MsgspecError as error:
            return FastAnswer(400, _encode(Problem(400, _sentence(str(error)))))
        return None

    return answer
