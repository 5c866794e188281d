"""Replay: rewards drawn from a log of real events, whose means are then those of the arms."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import below
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Words
from byzmab.worlds.event_log import Event, arms_of, read_events
from byzmab.worlds.rewards import Pull, Rewards

NAME, IN_ORDER = "replay", ":in-order"
GOLDEN_SHARE = 0.6180339887498949  # multiples of it, modulo 1, are spread evenly
HEAD = 2  # parameters before the starts of the groups: arms, and agents or 0 where they are not told


@compiled
def group_of(pull: Pull, params: Floats) -> tuple[int, int]:
    """Where in `params` the logged rewards of this arm, and agent where told, begin and end."""
    arms, agents = int(params[0]), int(params[1])
    group = HEAD + pull.arm + (pull.agent * arms if agents > 0 else 0)
    first_value = HEAD + arms * max(agents, 1) + 1
    return first_value + int(params[group]), first_value + int(params[group + 1])


@compiled
def draw_event(pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of any of the events, with replacement."""
    first, end = group_of(pull, params)
    return float(params[first + below(rng, end - first)])


@compiled
def next_event(pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of the next event, from the first again after the last; agents not told begin at different ones."""
    first, end = group_of(pull, params)
    start = 0 if params[1] > 0.0 else int((pull.agent * GOLDEN_SHARE) % 1.0 * (end - first))
    return float(params[first + (start + pull.number) % (end - first)])


@dataclass(frozen=True)
class Replay(Rewards):
    """Rewards of a log: `replay:FILE.csv`; each pull is worth what a logged one was, drawn with replacement."""

    parameters = "replay:events.csv, with replacement, or replay:events.csv:in-order"
    reward = staticmethod(draw_event)
    source: str
    names: tuple[str, ...] = field(repr=False)  # of the arms
    agents: int = field(repr=False)  # how many the log tells of; 0: none
    groups: tuple[tuple[float, ...], ...] = field(repr=False)  # rewards by agent, where told, and arm

    @classmethod
    def from_text(cls, text: str) -> Self:
        """From the name of a file, and `:in-order` behind it if wanted."""
        kind = ReplayInOrder if text.endswith(IN_ORDER) else cls
        path = text.removesuffix(IN_ORDER)
        return kind.from_events(read_events(path), path)  # type: ignore[return-value]

    @classmethod
    def from_events(cls, events: Sequence[Event], source: str) -> Self:
        """From events; BadInput where an arm has none, of some agent where agents are told."""
        names, agents = arms_of(events), max(event.agent for event in events)
        rows: dict[tuple[int, str], list[float]] = {
            (agent, name): [] for agent in range(1 if agents else 0, agents + 1) for name in names
        }
        for event in events:
            rows[event.agent, event.arm].append(event.reward)
        empty = next(((agent, name) for (agent, name), rewards in rows.items() if not rewards), None)
        if len(names) < 2 or empty:
            what = f"no event of arm {empty[1]!r} and agent {empty[0]}" if empty else "events of one arm only"
            raise BadInput(
                f"log {source!r} has {what}; allowed: two or more arms, each with events of every agent told"
            )
        return cls(source, names, agents, tuple(map(tuple, rows.values())))

    def to_text(self) -> str:
        """The name of the file."""
        return self.source

    @property
    def params(self) -> tuple[float, ...]:
        """Arms, agents, where each group begins, and all rewards."""
        starts = np.cumsum([0, *map(len, self.groups)])
        return len(self.names), self.agents, *map(float, starts), *(value for group in self.groups for value in group)

    @property
    def means(self) -> list[list[float]]:
        """The mean of every arm in the log: one row, or one for each agent."""
        means = [float(np.mean(group)) for group in self.groups]
        return [means[first : first + len(self.names)] for first in range(0, len(means), len(self.names))]


@dataclass(frozen=True)
class ReplayInOrder(Replay):
    """Rewards of a log, each arm's events one after the other."""

    reward = staticmethod(next_event)

    def to_text(self) -> str:
        """The name of the file, and in which order."""
        return self.source + IN_ORDER
