"""Which reports to ask neighbours for, how often, and how often to answer: nobody can keep a node busy with either."""

from collections import deque
from collections.abc import Callable, Hashable
from typing import NamedTuple

from byzmab.node.history import Version
from byzmab.node.wire import MOST_ASKED

WAITING = 64  # reports to be asked of one neighbour
REMEMBERED = 1024  # reports that were asked for, so that they are not asked for again at once
PAUSE = 0.2  # seconds between two requests to one neighbour
AGAIN = 10.0  # seconds after which a neighbour is asked for a report again


class Wanted(NamedTuple):
    """A report of an agent that a neighbour has marked."""

    about: bytes  # the agent's key
    version: Version


class Pauses:
    """When something was last done, so that it is not done again too soon."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._last: dict[Hashable, float] = {}

    def may(self, what: Hashable, now: float, pause: float) -> bool:
        """Whether something may be done now; if so, it is taken for done."""
        if now < self._last.get(what, -float("inf")) + pause:
            return False
        self._last.pop(what, None)
        self._last[what] = now
        if len(self._last) > self._most:
            del self._last[next(iter(self._last))]
        return True


class Requests:
    """The reports to ask for, by neighbour."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Wanted]] = {}
        self._asked, self._sent = Pauses(), Pauses()
        self._open: dict[tuple[str, Wanted], None] = {}  # asked and not answered

    def want(self, neighbour: str, wanted: Wanted, now: float) -> None:
        """Ask a neighbour for a report, soon and once."""
        if self._asked.may((neighbour, wanted), now, AGAIN):
            self._waiting.setdefault(neighbour, deque(maxlen=WAITING)).append(wanted)

    def is_answer(self, neighbour: str, wanted: Wanted) -> bool:
        """Whether a neighbour was asked for a report and has not shown it yet."""
        if (neighbour, wanted) not in self._open:
            return False
        del self._open[neighbour, wanted]
        return True

    def due(self, now: float, may_ask: Callable[[bytes], bool]) -> list[tuple[str, bytes, list[Version]]]:
        """The requests to send now: neighbour, agent asked about, versions; only about agents that `may_ask` allows."""
        requests = []
        for neighbour, waiting in self._waiting.items():
            about = next((wanted.about for wanted in waiting if may_ask(wanted.about)), None)
            if about is None or not self._sent.may(neighbour, now, PAUSE):
                continue
            asked = [wanted for wanted in waiting if wanted.about == about][:MOST_ASKED]
            for wanted in asked:
                waiting.remove(wanted)
                self._open[neighbour, wanted] = None
                if len(self._open) > REMEMBERED:
                    del self._open[next(iter(self._open))]
            requests.append((neighbour, about, [wanted.version for wanted in asked]))
        return requests
