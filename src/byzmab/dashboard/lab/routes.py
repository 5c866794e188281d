"""The lab's routes: the page, what it offers, and set-ups checked, played and stepped through."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody
from litestar.response import File, ServerSentEvent, ServerSentEventMessage

from byzmab.core.errors import BadInput
from byzmab.dashboard.lab.examples import examples
from byzmab.dashboard.lab.playing import Playing, announce
from byzmab.dashboard.lab.round_view import step
from byzmab.dashboard.lab.setup import describe, first_view, read_setup, usual
from byzmab.dashboard.pages import make_site, page
from byzmab.simulation.catalogue import catalogue
from byzmab.simulation.experiment import PLUGINS
from byzmab.simulation.settings import ABOUT

AT_ONCE = 3  # experiments played at the same time


class Setup(msgspec.Struct, forbid_unknown_fields=True):
    """A set-up as the page sends it: the settings that are given, as text."""

    settings: dict[str, str]


class Step(Setup, forbid_unknown_fields=True):
    """Which round of which agent to look into, all numbered from 1."""

    run: int
    round: int
    agent: int


class SetupProblem(msgspec.Struct):
    """What was wrong, and with which setting, if it was one."""

    detail: str
    setting: str | None = None


class Busy(Exception):
    """Too much is being played already."""


def _problem(error: BadInput) -> SetupProblem:
    first = str(error).partition(" ")[0]
    return SetupProblem(str(error), first if first in ABOUT else None)


def _refusal(_: Request[Any, Any, Any], error: BadInput) -> Response[SetupProblem]:
    return Response(_problem(error), status_code=400)


def _busy(_: Request[Any, Any, Any], error: Busy) -> Response[SetupProblem]:
    return Response(SetupProblem(str(error)), status_code=429)


def _wrong(_: Request[Any, Any, Any], error: HTTPException) -> Response[SetupProblem]:
    return Response(SetupProblem(error.detail), status_code=error.status_code)


@cache
def _menu() -> bytes:
    """All that can be chosen, as JSON."""
    kinds = {kind: entries for kind, entries in catalogue().items() if kind != "graph"}
    kinds["graph"] = {name: entry for name, entry in catalogue()["graph"].items() if name in PLUGINS["graph"].entries}
    return json.dumps(
        {"about": ABOUT, "usual": usual(), "first": first_view(), "kinds": kinds, "examples": examples()}
    ).encode()


def make_app() -> Litestar:
    """The lab's application."""
    playing: set[Playing] = set()

    @get("/")
    async def lab_page() -> File:
        return page("lab.html")

    @get("/lab/menu", media_type="application/json")
    async def menu() -> bytes:
        """Settings, what they mean, what they are if not given, names and examples."""
        return await asyncio.to_thread(_menu)

    @post("/lab/check", status_code=200)
    async def check(data: JSONBody[Setup]) -> dict[str, Any]:
        """Describe a set-up before it is played, or say what is wrong with it; the status is 200 in both cases."""
        try:
            return await asyncio.to_thread(lambda: describe(read_setup(data.settings)))
        except BadInput as error:
            return {"problem": _problem(error)}

    @post("/lab/run", status_code=200)
    async def run(data: JSONBody[Setup]) -> ServerSentEvent:
        """Server-sent events: `begin`, a `frame` per block of rounds, `end`; whoever hangs up, cancels."""
        experiment = await asyncio.to_thread(read_setup, data.settings)
        if len(playing) >= AT_ONCE:
            raise Busy(f"{AT_ONCE} experiments are being played already; wait for one to end, or cancel it")
        return ServerSentEvent(_messages(Playing(experiment), playing))

    @post("/lab/step", status_code=200)
    async def look_into(data: JSONBody[Step]) -> dict[str, Any]:
        """One round of one agent."""
        return await asyncio.to_thread(lambda: step(read_setup(data.settings), data.run, data.round, data.agent))

    handlers = {BadInput: _refusal, Busy: _busy, HTTPException: _wrong}
    return make_site([lab_page, menu, check, run, look_into], handlers)


async def _messages(game: Playing, playing: set[Playing]) -> AsyncIterator[ServerSentEventMessage]:
    """Yield the events of an experiment while it is played; closing the stream stops it."""
    playing.add(game)
    try:
        yield _message("begin", await asyncio.to_thread(announce, game.experiment))
        updates = game.updates()
        while (update := await asyncio.to_thread(next, updates, None)) is not None:
            yield _message("frame", update)
        yield _message("end", {})
    except BadInput as error:
        yield _message("trouble", {"detail": str(error)})
    finally:
        game.stop()
        playing.discard(game)


def _message(name: str, data: Mapping[str, Any]) -> ServerSentEventMessage:
    return ServerSentEventMessage(data=json.dumps(data), event=name)
