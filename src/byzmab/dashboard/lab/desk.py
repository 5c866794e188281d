"""The lab's desk: every question of the page, answered by the simulator.

Importing it takes a second, so the server does so from a thread, and the page is there before. It imports no compiled
loop: what can be chosen, and a set-up with its graph, are told before anything is compiled.
"""

import json
from collections.abc import AsyncGenerator, Container
from contextlib import aclosing
from functools import cache
from typing import Any

from byzmab.attacks import ATTACKS, CONTEXT_ATTACKS
from byzmab.baselines import BASELINES
from byzmab.baselines.contexts import CONTEXT_BASELINES
from byzmab.core.errors import BadInput
from byzmab.dashboard.lab.events import Event, Game, played
from byzmab.dashboard.lab.examples import examples
from byzmab.dashboard.lab.playing import Playing, announce
from byzmab.dashboard.lab.regions import Regions, announcement
from byzmab.dashboard.lab.seats import Seats
from byzmab.dashboard.lab.setup import Texts, at_contexts, describe, first_view, read_setup, usual
from byzmab.dashboard.lab.story import story
from byzmab.experiment.absent import REGISTRIES
from byzmab.experiment.catalogue import Entry, catalogue
from byzmab.experiment.parts import RESILIENT
from byzmab.experiment.settings import ABOUT
from byzmab.graphs import GRAPHS


@cache
def menu() -> bytes:
    """All that can be chosen, as JSON: settings, what they mean, what they are if not given, names and examples."""
    kinds = {
        kind: {
            name: {
                **entry,
                **_shown(kind, name, entry),
                "without": name in WITHOUT_CONTEXT.get(kind, (name,)),
                "with": name in WITH_CONTEXT.get(kind, (name,)),
            }
            for name, entry in entries.items()
            if _offered(kind, name)
        }
        for kind, entries in catalogue().items()
    }
    parts = {"about": ABOUT, "usual": usual(), "first": first_view(), "at_contexts": at_contexts(), "kinds": kinds}
    return json.dumps({**parts, "story": story(), "examples": examples()}).encode()


# of these some need a context, and some go without one only; resilient and the graphs go with both
WITHOUT_CONTEXT: dict[str, Container[str]] = {"attack": ATTACKS.entries, "algorithm": (RESILIENT, *BASELINES.entries)}
WITH_CONTEXT: dict[str, Container[str]] = {
    "attack": CONTEXT_ATTACKS.entries,
    "algorithm": (RESILIENT, *CONTEXT_BASELINES.entries),
}


def _offered(kind: str, name: str) -> bool:
    return kind != "graph" or name in GRAPHS.entries  # files are not read for a page


def _shown(kind: str, name: str, entry: Entry) -> dict[str, Any]:
    """Parameters to show when a name is chosen, and whether the name alone means the same."""
    example = entry["parameters"].removeprefix(f"{name}:").partition(" ")[0].rstrip(",;")
    registry = REGISTRIES.get(kind)
    if registry is None or name not in registry.entries or not entry["parameters"].startswith(f"{name}:"):
        return {"example": "", "is_default": False}
    try:
        meant = registry.resolve(f"{name}:{example}")
    except BadInput:  # words instead of numbers
        return {"example": "", "is_default": False}
    try:
        return {"example": example, "is_default": registry.resolve(name) == meant}
    except BadInput:  # it cannot do without
        return {"example": example, "is_default": False}


class Desk:
    """Answers the page's questions."""

    def __init__(self) -> None:
        self._seats = Seats()

    def check(self, texts: Texts) -> dict[str, Any]:
        """Describe a set-up before it is played, or BadInput."""
        return describe(read_setup(texts))

    def read(self, texts: Texts, quick: bool = False) -> Playing:
        """The game of a set-up, not yet begun."""
        return Playing(read_setup(texts), quick)

    def play(self, game: Playing) -> AsyncGenerator[Event]:
        """The events of a game, whose seat is taken now; Busy if there is none."""
        self._seats.take(game)
        return self._play(game, announce(game.experiment))

    def play_regions(self, liars: int, attack: str) -> AsyncGenerator[Event]:
        """The events of the page of contexts; its seat is taken now. BadInput or Busy where that cannot be."""
        game = Regions(liars, attack)
        self._seats.take(game)
        return self._play(game, announcement())

    async def _play(self, game: Game, about: dict[str, Any]) -> AsyncGenerator[Event]:
        with self._seats.leaving(game):
            try:
                async with aclosing(played(game, about)) as events:
                    async for event in events:
                        yield event
            finally:
                game.stop()

    def look_into(self, texts: Texts, run: int, round: int, agent: int) -> dict[str, Any]:
        """One round of one agent."""
        from byzmab.dashboard.lab.round_view import step  # compiles

        return step(read_setup(texts), run, round, agent)
