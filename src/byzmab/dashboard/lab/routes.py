"""The lab's routes: the page, what it offers, and set-ups checked, played and stepped through; the page of contexts.

The page is served before the simulator is imported: when it first asks something, a thread imports the lab's desk, and
questions wait for it. What compiles, some ten seconds the first time, is imported when something is played.
"""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import JSONBody
from litestar.response import File, ServerSentEvent, ServerSentEventMessage

from byzmab.core.errors import BadInput
from byzmab.dashboard.lab.seats import Busy
from byzmab.dashboard.pages import make_site, page
from byzmab.experiment.settings import ABOUT

if TYPE_CHECKING:
    from byzmab.dashboard.lab.desk import Desk

LOOK = 0.05  # seconds between two looks whether the desk is open
Answer = TypeVar("Answer")


class Setup(msgspec.Struct, forbid_unknown_fields=True):
    """A set-up as the page sends it: the settings that are given, as text."""

    settings: dict[str, str]


class Game(Setup, forbid_unknown_fields=True):
    """A set-up to play; a quick game has fewer updates, without fates and bound."""

    quick: bool = False


class Step(Setup, forbid_unknown_fields=True):
    """Which round of which agent to look into, all numbered from 1."""

    run: int
    round: int
    agent: int


class Lies(msgspec.Struct, forbid_unknown_fields=True):
    """How many agents lie on the page of contexts, and how."""

    liars: int
    attack: str


class SetupProblem(msgspec.Struct):
    """What was wrong, and with which setting, if it was one."""

    detail: str
    setting: str | None = None


def _problem(error: BadInput) -> SetupProblem:
    first = str(error).partition(" ")[0].rstrip(":")
    return SetupProblem(str(error), first if first in ABOUT else None)


def _refusal(_: Request[Any, Any, Any], error: BadInput) -> Response[SetupProblem]:
    return Response(_problem(error), status_code=400)


def _busy(_: Request[Any, Any, Any], error: Busy) -> Response[SetupProblem]:
    return Response(SetupProblem(str(error)), status_code=429)


def _wrong(_: Request[Any, Any, Any], error: HTTPException) -> Response[SetupProblem]:
    return Response(SetupProblem(error.detail), status_code=error.status_code)


class Opening:
    """The desk, imported by a thread when the page first asks something."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self._desk: Desk | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._open, name="opening the lab", daemon=True)

    def _open(self) -> None:
        try:
            from byzmab.dashboard.lab.desk import Desk, menu

            menu()
            self._desk = Desk()
        except BaseException as error:
            self._failure = error
        finally:
            self._opened.set()

    async def desk(self) -> "Desk":
        """The desk, opened by the first who asks. No thread waits for it, which would keep the server from ending."""
        if self._thread.ident is None:
            self._thread.start()
        while not self._opened.is_set():
            await asyncio.sleep(LOOK)
        if self._desk is None:
            raise RuntimeError("the lab could not be opened") from self._failure
        return self._desk

    async def ask(self, question: "Callable[[Desk], Answer]") -> Answer:
        """The answer to a question, from a thread."""
        return await asyncio.to_thread(question, await self.desk())


def _menu(_: "Desk") -> bytes:
    from byzmab.dashboard.lab.desk import menu

    return menu()


def make_app() -> Litestar:
    """The lab's application."""
    opening, looking = Opening(), asyncio.Lock()

    @get("/")
    async def lab_page() -> File:
        return page("lab.html")

    @get("/lab/menu", media_type="application/json")
    async def menu() -> bytes:
        """Settings, what they mean, what they are if not given, names, examples and the story."""
        return await opening.ask(_menu)

    @post("/lab/check", status_code=200)
    async def check(data: JSONBody[Setup]) -> dict[str, Any]:
        """Describe a set-up before it is played, or say what is wrong with it; the status is 200 in both cases."""
        try:
            return await opening.ask(lambda desk: desk.check(data.settings))
        except BadInput as error:
            return {"problem": _problem(error)}

    @post("/lab/run", status_code=200)
    async def run(data: JSONBody[Game]) -> ServerSentEvent:
        """Server-sent events: `begin`, `compiling`, a `frame` per block of rounds, `end`; who hangs up, cancels."""
        game = await opening.ask(lambda desk: desk.read(data.settings, data.quick))
        return ServerSentEvent(_messages((await opening.desk()).play(game)))

    @post("/lab/step", status_code=200)
    async def look_into(data: JSONBody[Step]) -> dict[str, Any]:
        """One round of one agent."""
        async with looking:  # one at a time, as a late round takes a whole run
            return await opening.ask(lambda desk: desk.look_into(data.settings, data.run, data.round, data.agent))

    @get("/contexts")
    async def contexts_page() -> File:
        return page("contexts.html")

    @post("/contexts/run", status_code=200)
    async def run_contexts(data: JSONBody[Lies]) -> ServerSentEvent:
        """Server-sent events, as of `/lab/run`: a `frame` holds the decision regions of three ways."""
        return ServerSentEvent(_messages((await opening.desk()).play_regions(data.liars, data.attack)))

    handlers = {BadInput: _refusal, Busy: _busy, HTTPException: _wrong}
    routes = [lab_page, menu, check, run, look_into, contexts_page, run_contexts]
    return make_site(routes, handlers)


async def _messages(events: AsyncGenerator[tuple[str, Mapping[str, Any]]]) -> AsyncIterator[ServerSentEventMessage]:
    """The events as the browser reads them; a browser that hangs up ends them."""
    async with aclosing(events):
        async for name, data in events:
            yield ServerSentEventMessage(data=json.dumps(data), event=name)
