"""Seats: how many games may be played at once. A seat is taken at once, and free when its game ends or is forgotten."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

AT_ONCE = 3


class Busy(Exception):
    """All seats are taken."""


class Seats:
    """The games that are being played."""

    def __init__(self) -> None:
        self._games: WeakSet[Any] = WeakSet()  # a stream that nobody began to read takes its game along

    def take(self, game: object) -> None:
        """Take a seat for a game, or raise Busy."""
        if len(self._games) >= AT_ONCE:
            raise Busy(f"{AT_ONCE} experiments are being played already; wait for one to end, or cancel it")
        self._games.add(game)

    @contextmanager
    def leaving(self, game: object) -> Iterator[None]:
        """Free the seat of a game after the block."""
        try:
            yield
        finally:
            self._games.discard(game)
