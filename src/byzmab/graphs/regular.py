"""Graphs without chance: complete, ring lattice and star."""

from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph


@compiled
def everyone(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """All other agents."""
    for other in range(agents - 1):
        out[other] = other if other < receiver else other + 1
    return agents - 1


@compiled
def on_both_sides(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """The agents at most half the degree away on the ring."""
    reach = int(params[0]) // 2
    # agents within reach, those that wrap around first or last so that the list ascends
    first, last = receiver - reach, receiver + reach
    count = 0
    for other in range(last - agents + 1):
        out[count] = other
        count += 1
    for other in range(max(first, 0), min(last, agents - 1) + 1):
        if other != receiver:
            out[count] = other
            count += 1
    for other in range(agents + first, agents):
        out[count] = other
        count += 1
    return count


@compiled
def around_the_hub(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """The hub hears everyone, everyone hears the hub."""
    hub = int(params[0]) - 1 if params[0] > 0 else agents - 1
    if receiver == hub:
        return everyone(receiver, agents, byzantine, params, rng, out)
    out[0] = hub
    return 1


@dataclass(frozen=True)
class Complete(Graph):
    """Everyone hears everyone."""

    neighbours = staticmethod(everyone)
    numbered = False

    def degrees(self, agents: int, byzantine: int) -> Floats:
        return np.full(agents, agents - 1.0)


@dataclass(frozen=True)
class Ring(Graph):
    """A ring lattice: everyone hears the nearest agents, half on each side."""

    parameters = "ring:4, an even number of neighbours below the number of agents; 2 if not given"
    neighbours = staticmethod(on_both_sides)
    degree: int = 2

    def check(self, agents: int, byzantine: int) -> None:
        if self.degree % 2 or not 2 <= self.degree < agents:
            raise BadInput(f"graph 'ring:{self.degree}' does not exist on {agents} agents; allowed: {self.parameters}")


@dataclass(frozen=True)
class Star(Graph):
    """One hub hears everyone and is heard by everyone."""

    parameters = "star:3, the agent in the middle; the last, a normal one, if not given"
    neighbours = staticmethod(around_the_hub)
    hub: int = 0  # the last

    def check(self, agents: int, byzantine: int) -> None:
        if not 0 <= self.hub <= agents:
            raise BadInput(f"graph 'star:{self.hub}' names agent {self.hub}, but the agents are 1 to {agents}")
