"""Witness marks for one's next report: every report accepted since the last one, and the newest of each neighbour.

Each accepted report is marked once, so that nothing hides what was told before it. The newest one is marked again in
every report, so that its sender sees what is heard under its key, after a restart too.
"""

import random
from collections.abc import Iterable

from byzmab.node.wire import MOST_MARKS, Mark

WAITING = 64  # marks of one sender; of more, a random one is left out, so that nobody can choose which


class Marks:
    """The marks that wait for one's next report, by sender."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, list[Mark]] = {}
        self._random = random.SystemRandom()

    def add(self, mark: Mark) -> None:
        """Mark a report that was accepted."""
        waiting = self._waiting.setdefault(mark.sender, [])
        waiting.append(mark)
        if len(waiting) > WAITING:
            del waiting[self._random.randrange(len(waiting))]

    def forget(self, sender: bytes) -> None:
        """Drop the marks of a sender."""
        self._waiting.pop(sender, None)

    def take(self, newest: Iterable[Mark]) -> list[Mark]:
        """The marks of one report: those that wait, senders taking turns, then the newest as far as there is room."""
        taken: dict[Mark, None] = {}
        while len(taken) < MOST_MARKS and (waiting := [marks for marks in self._waiting.values() if marks]):
            for marks in waiting[: MOST_MARKS - len(taken)]:
                taken[marks.pop(0)] = None
        for mark in newest:
            if len(taken) < MOST_MARKS:
                taken[mark] = None
        return list(taken)
