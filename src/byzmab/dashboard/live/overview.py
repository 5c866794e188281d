"""The overview of a network on this machine: which agents lie, what it costs, and levers to hurt and mend it."""

import asyncio
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any, Literal

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody
from litestar.response import File, ServerSentEvent, ServerSentEventMessage

from byzmab.core.errors import BadInput
from byzmab.dashboard.live.watch import REFRESH, Watch
from byzmab.dashboard.pages import make_site, page


class Action(StrEnum):
    """What can be done to one agent; each names a method of Network. To turn is to lie, or to be honest again."""

    KILL = "kill"
    RESTART = "restart"
    PARTITION = "partition"
    HEAL = "heal"
    FREEZE = "freeze"
    THAW = "thaw"
    TURN = "turn"


class ActionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Do something to an agent, numbered from 1."""

    action: Action = msgspec.field(name="deed")
    agent: int


class AttackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """How the Byzantine agents are to lie from now on."""

    attack: str


class EquivocatorsRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What honest nodes do from now on with an agent that is proven to lie."""

    equivocators: Literal["expel", "keep"]


def _refusal(_: Request[Any, Any, Any], error: BadInput) -> Response[dict[str, str]]:
    return Response({"detail": str(error)}, status_code=400)


def _wrong(_: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, str]]:
    return Response({"detail": error.detail}, status_code=error.status_code)


def make_overview(watch: Watch) -> Litestar:
    """The application of the page."""

    @get("/")
    async def overview_page() -> File:
        return page("overview.html")

    @get("/network/stream")
    async def stream() -> ServerSentEvent:
        """Server-sent events: `about` and `past` once, then `summary` every second."""
        return ServerSentEvent(_messages(watch))

    @post("/network/deeds", status_code=204)
    async def act(data: JSONBody[ActionRequest]) -> None:
        """Hurt or mend an agent."""
        if data.action is Action.TURN:
            await asyncio.to_thread(watch.turn, data.agent)
        else:
            await asyncio.to_thread(watch.do, data.action, data.agent)

    @post("/network/attack", status_code=204)
    async def attack(data: JSONBody[AttackRequest]) -> None:
        """Switch the attack."""
        await asyncio.to_thread(watch.set_attack, data.attack)

    @post("/network/equivocators", status_code=204)
    async def equivocators(data: JSONBody[EquivocatorsRequest]) -> None:
        """Expel proven Byzantine agents, or take them back."""
        await asyncio.to_thread(watch.set_equivocators, data.equivocators)

    handlers = {BadInput: _refusal, HTTPException: _wrong}
    return make_site([overview_page, stream, act, attack, equivocators], handlers)


async def _messages(watch: Watch) -> AsyncIterator[ServerSentEventMessage]:
    yield ServerSentEventMessage(data=watch.about().decode(), event="about")
    past = await asyncio.to_thread(watch.past)
    yield ServerSentEventMessage(data=past.decode(), event="past")
    while True:
        summary = await asyncio.to_thread(watch.summary)
        yield ServerSentEventMessage(data=summary.decode(), event="summary")
        await asyncio.sleep(REFRESH)
