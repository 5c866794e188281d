"""The overview of a network on this machine: who lies, what it costs, and levers to hurt and mend it."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody
from litestar.response import File, ServerSentEvent, ServerSentEventMessage

from byzmab.attacks import ATTACKS
from byzmab.core.errors import BadInput
from byzmab.dashboard.pages import make_site, page
from byzmab.testbed.network import Network
from byzmab.testbed.traffic import Traffic

REFRESH = 1.0  # seconds between two looks at the nodes


class Action(StrEnum):
    """What can be done to one agent; each names a method of Network."""

    KILL = "kill"
    RESTART = "restart"
    PARTITION = "partition"
    HEAL = "heal"
    FREEZE = "freeze"
    THAW = "thaw"


class ActionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Do something to an agent, numbered from 1."""

    action: Action = msgspec.field(name="deed")
    agent: int


class AttackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """How the liars are to lie from now on."""

    attack: str


class Watch:
    """A network and its traffic for the page; the nodes are asked once, however many pages are open."""

    def __init__(self, network: Network, traffic: Traffic) -> None:
        self._network, self._traffic = network, traffic
        self._looking, self._acting = threading.Lock(), threading.Lock()
        self._seen, self._summary = float("-inf"), b""
        self._attacks = sorted({*ATTACKS.entries, network.attack})

    def about(self) -> bytes:
        """What does not change: the agents, who hears whom, and how they decide."""
        plan, members = self._network.deployment.plan, self._network.members
        edges = [[sender + 1, i + 1] for i, senders in enumerate(plan.graph) for sender in senders]
        agents = [{"agent": one.number, "name": one.name, "url": one.url, "lies": one.lies} for one in members]
        policy = self._network.deployment.policy
        rules = {"f": plan.f, "kappa": plan.kappa, "filter": plan.filter, "policy": policy}
        return json.dumps({"agents": agents, "edges": edges, "attacks": self._attacks, **rules}).encode()

    def summary(self) -> bytes:
        """Regret per node and what the nodes say of each other, at most REFRESH old."""
        with self._looking:
            if time.monotonic() - self._seen >= REFRESH:
                self._summary = json.dumps(self._traffic.summary()).encode()
                self._seen = time.monotonic()
            return self._summary

    def do(self, action: Action, agent: int) -> None:
        """Do something to an agent; returns when it is done."""
        with self._acting:
            getattr(self._network, action)(agent)
        self._seen = float("-inf")

    def set_attack(self, attack: str) -> None:
        """Change the attack; only listed ones, so that no page makes us load a file."""
        if attack not in self._attacks:
            raise BadInput(f"attack {attack!r} is not known here; allowed: {', '.join(self._attacks)}")
        with self._acting:
            self._network.set_attack(attack)
        self._seen = float("-inf")


def _refusal(_: Request[Any, Any, Any], error: BadInput) -> Response[dict[str, str]]:
    return Response({"detail": str(error)}, status_code=400)


def _wrong(_: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, str]]:
    return Response({"detail": error.detail}, status_code=error.status_code)


def make_overview(network: Network, traffic: Traffic) -> Litestar:
    """The application of the page."""
    watch = Watch(network, traffic)

    @get("/")
    async def overview_page() -> File:
        return page("overview.html")

    @get("/network/stream")
    async def stream() -> ServerSentEvent:
        """Server-sent events: `about` once, then `summary` every second."""
        return ServerSentEvent(_messages(watch))

    @post("/network/deeds", status_code=204)
    async def act(data: JSONBody[ActionRequest]) -> None:
        """Hurt or mend an agent."""
        await asyncio.to_thread(watch.do, data.action, data.agent)

    @post("/network/attack", status_code=204)
    async def attack(data: JSONBody[AttackRequest]) -> None:
        """Switch the attack."""
        await asyncio.to_thread(watch.set_attack, data.attack)

    handlers = {BadInput: _refusal, HTTPException: _wrong}
    return make_site([overview_page, stream, act, attack], handlers)


async def _messages(watch: Watch) -> AsyncIterator[ServerSentEventMessage]:
    yield ServerSentEventMessage(data=watch.about().decode(), event="about")
    while True:
        summary = await asyncio.to_thread(watch.summary)
        yield ServerSentEventMessage(data=summary.decode(), event="summary")
        await asyncio.sleep(REFRESH)
