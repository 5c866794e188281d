"""The events of a game, as its page follows them: compiling, begin, a frame per block of rounds, end, or trouble."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from typing import Any, Protocol

from byzmab.core.compiler import watching_compilation
from byzmab.core.errors import BadInput

LOOK = 0.25  # seconds between two looks at what is compiled
Event = tuple[str, dict[str, Any]]


class Game(Protocol):
    """What a page can follow."""

    def prepare(self) -> None:
        """Set it up; what was never used on this machine is compiled here."""

    def updates(self) -> Iterator[dict[str, Any]]:
        """Play; yield what is new now and then."""

    def stop(self) -> None:
        """Have `updates` end soon."""


async def played(game: Game, about: dict[str, Any]) -> AsyncGenerator[Event]:
    """Play a game in a thread; yield its events."""
    try:
        yield "begin", about
        async for event in _prepared(game):
            yield event
        updates = game.updates()
        while (update := await asyncio.to_thread(next, updates, None)) is not None:
            yield "frame", update
        yield "end", {}
    except BadInput as error:
        yield "trouble", {"detail": str(error)}


async def _prepared(game: Game) -> AsyncGenerator[Event]:
    """Prepare a game; say so whenever something was compiled meanwhile.

    In a thread that nobody waits for when the server ends: compiling cannot be interrupted.
    """
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    compiled: list[str] = []
    failures: list[BaseException] = []

    def prepare() -> None:
        try:
            game.prepare()
        except BaseException as error:
            failures.append(error)
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(ready.set)

    told = 0
    with watching_compilation(compiled.append):
        threading.Thread(target=prepare, name="preparing a game", daemon=True).start()
        while not ready.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(ready.wait(), LOOK)
            if len(compiled) > told:
                told = len(compiled)
                yield "compiling", {"functions": told}
    if failures:
        raise failures[0]
