"""Directed Erdős–Rényi graphs: every edge is there with probability q, independently."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import fold, uniform, unit
from byzmab.core.errors import BadInput
from byzmab.core.plugins import numbers
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph

SPARSE = 0.15  # below this, one logarithm per edge is cheaper than one draw per pair


@compiled
def some(receiver: int, agents: int, byzantine: int, knobs: Floats, rng: Words, out: Integers) -> int:
    """Each other agent with probability q; sparse graphs skip from edge to edge, O(edges)."""
    q = knobs[0]
    count = 0
    if q >= SPARSE:
        key = rng[0]
        for other in range(agents):
            out[count] = other
            count += (unit(fold(key, other)) < q) & (other != receiver)
    elif q > 0.0:
        scale = 1.0 / math.log1p(-q)
        place = int(math.log(1.0 - uniform(rng)) * scale)  # geometric: absent edges before the next one
        while place < agents - 1:
            out[count] = place if place < receiver else place + 1
            count += 1
            place += 1 + int(math.log(1.0 - uniform(rng)) * scale)
    return count


@dataclass(frozen=True)
class ErdosRenyi(Graph):
    """Every directed edge is there with probability q, independently."""

    parameters = "erdos-renyi:0.8, the probability of an edge, 0 to 1"
    neighbours = staticmethod(some)
    random = True
    q: float = 0.5

    @classmethod
    def from_text(cls, text: str) -> Self:
        values = numbers("graph erdos-renyi", text, cls.parameters)
        if len(values) != 1:
            raise BadInput(f"graph erdos-renyi parameters {text!r} are not understood; allowed: {cls.parameters}")
        return cls(values[0])

    def check(self, agents: int, byzantine: int) -> None:
        if not 0.0 <= self.q <= 1.0:
            raise BadInput(f"graph erdos-renyi probability {self.q} is not understood; allowed: {self.parameters}")

    def degrees(self, agents: int, byzantine: int) -> Floats:
        return np.full(agents, self.q * (agents - 1))
