"""The two requests that an application makes all the time, answered without a framework.

A select and a reward each cost Litestar more than the node itself takes for them. Here they are decoded by the same
types and made of the same calls; whatever is not plainly one of them, a mistake included, goes the usual way.
"""

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from byzmab.node.api import EVENT_ID, RewardRequest, SelectRequest
from byzmab.node.problems import PROBLEMS, problem_of
from byzmab.node.running import RunningNode


class Answer(NamedTuple):
    """An answer in JSON, or none."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


Express = Callable[[str, bytes], Awaitable[Answer | None]]

_REWARD = re.compile(rf"/v1/events/({EVENT_ID[1:-1]})/reward\Z")
_select_request = msgspec.json.Decoder(SelectRequest)
_reward_request = msgspec.json.Decoder(RewardRequest)
_encode = msgspec.json.Encoder().encode


async def never(path: str, body: bytes) -> Answer | None:
    """No request is express."""
    return None


def make_express(node: RunningNode) -> Express:
    """Answers a POST by its path and body, or None where Litestar is to do it."""

    async def answer(path: str, body: bytes) -> Answer | None:
        rewarded = None if path == "/v1/select" else _REWARD.match(path)
        try:
            if path == "/v1/select":
                return Answer(200, _encode(await node.select(_select_request.decode(body).event_id)))
            if rewarded is not None:
                await node.reward(rewarded[1], _reward_request.decode(body).value)
                return Answer(204)
        except PROBLEMS as error:
            problem, headers = problem_of(error)
            raw = tuple((name.encode(), value.encode()) for name, value in headers.items())
            return Answer(problem.status_code, _encode(problem), raw)
        except (msgspec.MsgspecError, ValueError):  # ValueError: text that is not UTF-8
            return None
        return None

    return answer
