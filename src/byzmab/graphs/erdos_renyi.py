"""Directed Erdős–Rényi graphs: every edge is there with probability q, independently."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import fold, uniform, unit
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph

SPARSE = 0.15  # below this, one logarithm per edge is cheaper than one draw per pair


@compiled
def some(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """Each other agent with probability q; sparse graphs skip from edge to edge, O(edges)."""
    q = params[0]
    count = 0
    if q >= SPARSE:
        key = rng[0]
        for other in range(agents):
            out[count] = other
            count += (unit(fold(key, other)) < q) & (other != receiver)
    elif q > 0.0:
        scale = 1.0 / math.log1p(-q)
        position = 0.0  # a float, which no tiny q can make overflow
        while True:
            position += np.floor(math.log(1.0 - uniform(rng)) * scale)  # geometric: absent edges before the next one
            if position >= agents - 1:
                break
            out[count] = int(position) if position < receiver else int(position) + 1
            count += 1
            position += 1.0
    return count


@dataclass(frozen=True)
class ErdosRenyi(Graph):
    """Every directed edge is there with probability q, independently."""

    parameters = "erdos-renyi:0.8, the probability of an edge, 0 to 1"
    neighbours = staticmethod(some)
    random = True
    numbered = False
    q: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.q <= 1.0:
            raise self.misunderstood(self.q)

    def degrees(self, agents: int, byzantine: int) -> Floats:
        return np.full(agents, self.q * (agents - 1))

    def most_byzantine(self, agents: int, byzantine: int) -> Integers:
        return super().most_byzantine(agents, byzantine if self.q > 0.0 else 0)
