"""What a graph is, and the loop that draws the neighbours of every agent of a board."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numba import types

from byzmab.core.board import BAD_NEIGHBOUR, BoardType, floats, integers, words
from byzmab.core.compiler import compiled, weave
from byzmab.core.crowd import list_unheard
from byzmab.core.draws import fold
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats, Integers, Words


@dataclass(frozen=True)
class Graph(Plugin):
    """Says who hears whom.

    A graph provides one compiled function that writes the neighbours of one agent, ascending and
    without itself, and returns how many there are. Agents are numbered from 0 here:

        neighbours(receiver, agents, byzantine, knobs, rng, out) -> count

    `knobs` are the numbers of the graph's own `knobs`, and `out` has room for every other agent.
    """

    kind: ClassVar[str] = "graph"
    function: ClassVar[str] = "neighbours"
    neighbours: ClassVar[Any]
    random: ClassVar[bool] = False  # whether two draws can differ

    def check(self, agents: int, byzantine: int) -> None:
        """Raise BadInput if there is no such graph on so many agents."""

    def size(self) -> int | None:
        """The number of agents, where the graph itself fixes it."""
        return None

    def degrees(self, agents: int, byzantine: int) -> Floats:
        """Each agent's number of neighbours; where it is random, what to expect, or one draw of it."""
        out, rng, knobs = np.empty(agents, np.int64), np.zeros(1, np.uint64), np.array(self.knobs)
        neighbours = type(self).neighbours
        return np.array([neighbours(agent, agents, byzantine, knobs, rng, out) for agent in range(agents)], np.float64)

    def most_byzantine(self, agents: int, byzantine: int) -> Integers:
        """The most Byzantine neighbours each agent can have: counted on a fixed graph, all of them on a random one."""
        if self.random:
            return np.array([byzantine - (agent < byzantine) for agent in range(agents)])
        out, rng, knobs = np.empty(agents, np.int64), np.zeros(1, np.uint64), np.array(self.knobs)
        neighbours, counts = type(self).neighbours, np.empty(agents, np.int64)
        for agent in range(agents):
            heard = out[: neighbours(agent, agents, byzantine, knobs, rng, out)]
            counts[agent] = (heard < byzantine).sum()
        return counts

    def loop(self) -> Any:
        """The compiled loop over all agents of a board."""
        return _loop(type(self).neighbours)


@cache
def _loop(function: Any) -> Any:
    return weave(draw_all, types.boolean(BoardType), neighbours=function)


def neighbours(receiver: int, agents: int, byzantine: int, knobs: Floats, rng: Words, out: Integers) -> int:
    """Stands for the graph's own function in the loop below."""
    raise NotImplementedError


@compiled
def ascends(names: Integers, count: int, receiver: int) -> bool:
    """Whether the neighbours exist, ascend, and leave out the agent itself; ours do, by their tests."""
    if not 0 <= count < names.size:
        return False
    before = -1
    for place in range(count):
        if not before < names[place] < names.size or names[place] == receiver:
            return False
        before = names[place]
    return True


def draw_all(board: Any) -> bool:
    """Draw every agent's neighbours for the time of sending; False where there is too little room."""
    agents = board.agents
    starts = integers(board.graph_starts, agents + 1)
    graph = integers(board.graph, board.edge_room)
    knobs = floats(board.graph_knobs, board.graph_knobs_size)
    rng = words(board.rng, 1)
    key = fold(board.graph_key, board.sent if board.time_varying == 1 else 0)
    edges, board.edges, board.most_unheard = 0, 0, 0
    for receiver in range(agents):
        if edges + agents > board.edge_room:
            return False
        starts[receiver] = edges
        rng[0] = fold(key, receiver)
        count = neighbours(receiver, agents, board.byzantine, knobs, rng, graph[edges : edges + agents])
        if board.graph_is_ours == 0 and not ascends(graph[edges : edges + agents], count, receiver):
            board.fault = BAD_NEIGHBOUR
            return True
        board.edges += count
        if board.dense == 1:
            if integers(board.unheard_starts, agents + 1)[receiver] + agents > board.edge_room:
                return False
            count = list_unheard(board, receiver, graph[edges : edges + agents], count)
        edges += count
    starts[agents] = edges
    return True
