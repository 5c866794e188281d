"""The paper's two-case graphs: random neighbours, at most one of them Byzantine.

Paper: appendix, additional simulations, first figure. Case 1 has 4 or 5 neighbours with equal chance, case 2
a Binomial(N − 1, ½) number. Given the number, an agent's neighbours are uniform over the sets with at most
one Byzantine member; a number for which there is no such set becomes the largest for which there is.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import below, keep_some, uniform
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph


@compiled
def at_most_one_liar(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """Draw the number of neighbours, then whether one of them lies, then who they are."""
    low, high = int(params[0]), int(params[1])
    if high > 0:
        degree = low + below(rng, high - low + 1)
    else:
        degree = 0
        for _ in range(agents - 1):
            degree += uniform(rng) < 0.5
    liars = byzantine - (receiver < byzantine)
    honest = agents - 1 - liars
    degree = min(degree, honest + (liars > 0))
    # of the sets with one liar there are liars · C(honest, degree − 1), of those with none C(honest, degree)
    with_liar = liars * degree
    lied_to = uniform(rng) * (with_liar + honest - degree + 1) < with_liar
    if lied_to:
        liar = below(rng, liars)
        out[0] = liar + (receiver < byzantine and liar >= receiver)
    count = int(lied_to)
    for other in range(byzantine, agents):
        if other != receiver:
            out[count] = other
            count += 1
    keep_some(rng, out[int(lied_to) : count], degree - lied_to)
    return degree


@dataclass(frozen=True)
class TwoCase(Graph):
    """Random neighbours, at most one of them Byzantine: 4 or 5 of them, or a binomial number."""

    parameters = "two-case:4-5, the least and the most neighbours, or two-case:binomial"
    neighbours = staticmethod(at_most_one_liar)
    random = True
    numbered = False
    low: int = 0
    high: int = 0  # 0: binomial

    @classmethod
    def from_text(cls, text: str) -> Self:
        if text == "binomial":
            return cls()
        low, dash, high = text.partition("-")
        if not (dash and low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
            raise cls.misunderstood(text)
        return cls(int(low), int(high))

    def to_text(self) -> str:
        return f"{self.low}-{self.high}" if self.high else "binomial"

    def check(self, agents: int, byzantine: int) -> None:
        most = agents - byzantine - 1 + (byzantine > 0)
        if self.high > most:
            raise BadInput(
                f"graph 'two-case:{self.low}-{self.high}' does not exist on {agents} agents of which {byzantine} lie; "
                f"the most neighbours with at most one liar are {most}"
            )

    def degrees(self, agents: int, byzantine: int) -> Floats:
        mean = (self.low + self.high) / 2 if self.high else (agents - 1) / 2
        return np.full(agents, min(mean, agents - byzantine - 1 + (byzantine > 0)))

    def most_byzantine(self, agents: int, byzantine: int) -> Integers:
        return super().most_byzantine(agents, byzantine).clip(max=1)
