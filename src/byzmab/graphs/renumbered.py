"""Renumbered graphs: drawn by the agents' own numbers, told by the engine's rows, where Byzantine agents come first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from byzmab.core.compiler import specialize
from byzmab.core.mistakes import Contract
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph
from byzmab.graphs.regular import everyone as neighbours  # `specialize` puts the graph's own in its place

NOT_KNOWN = -1  # a number of neighbours that there cannot be


def rows_heard(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """The neighbours of a row, ascending; `params` are the numbers by row, the rows by number, and the graph's own."""
    count = neighbours(int(params[receiver]), agents, byzantine, params[2 * agents :], rng, out)
    if not 0 <= count < agents:
        return NOT_KNOWN
    for entry in range(count):
        if not 0 <= out[entry] < agents:
            return NOT_KNOWN
        row, before = int(params[agents + out[entry]]), entry - 1
        while before >= 0 and out[before] > row:  # only Byzantine agents have to move, past those who came before
            out[before + 1] = out[before]
            before -= 1
        out[before + 1] = row
    return count


@dataclass(frozen=True)
class Renumbered(Graph):
    """A graph whose agents stand in another order."""

    base: ClassVar[type[Graph]]
    graph: Graph
    order: tuple[int, ...]  # by row: the number of the agent that stands there, from 0

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Those of the graph itself first, so that a mistake is told where it is."""
        yield from cls.base.functions()
        yield from super().functions()

    @property
    def params(self) -> tuple[float, ...]:
        """The number of each row, the row of each number, and the parameters of the graph."""
        return *map(float, (*self.order, *np.argsort(self.order))), *self.graph.params

    def degrees(self, agents: int, byzantine: int) -> Floats:
        """Each row's number of neighbours."""
        return np.asarray(self.graph.degrees(agents, byzantine)[list(self.order)])


@cache
def _renumbered(base: Any) -> type[Renumbered]:
    """The class of renumbered graphs of a kind."""
    own = {"neighbours": staticmethod(specialize(rows_heard, neighbours=base.neighbours)), "random": base.random}
    return type(f"Renumbered{base.__name__}", (Renumbered,), {**own, "base": base})


def renumbered(graph: Graph, order: Sequence[int]) -> Graph:
    """The graph for agents in another order; itself where that makes no difference."""
    if not graph.numbered or isinstance(order, range) or list(order) == sorted(order):
        return graph
    base: Any = type(graph)
    return _renumbered(base)(graph, tuple(order))
