"""What a graph is: the contract of the function that names an agent's neighbours."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.mistakes import Contract, a_whole_number
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats, Integers

NEIGHBOURS = Contract(
    {
        "receiver": 0,
        "agents": 0,
        "byzantine": 0,
        "params": np.empty(0),
        "rng": np.zeros(1, np.uint64),
        "out": np.empty(0, np.int64),
    },
    "how many neighbours there are, a whole number",
    a_whole_number,
)


@dataclass(frozen=True)
class Graph(Plugin):
    """Says which agents hear which.

    A graph provides one compiled function that writes the neighbours of one agent, ascending and
    without itself, and returns how many there are. Agents are numbered from 0 here:

        neighbours(receiver, agents, byzantine, params, rng, out) -> count

    `params` are the numbers of the graph's own fields, and `out` has room for every other agent.
    """

    kind: ClassVar[str] = "graph"
    function: ClassVar[str] = "neighbours"
    neighbours: ClassVar[Any]
    random: ClassVar[bool] = False  # whether two draws can differ
    # Whether agents differ by their numbers. If not, they are all alike but that those below `byzantine` lie: only such
    # a graph may look at `byzantine`.
    numbered: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        """A graph derived from one whose agents are alike may number them, unless it denies it."""
        if "neighbours" in vars(cls) and "numbered" not in vars(cls):
            cls.numbered = True

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "neighbours", cls.neighbours, NEIGHBOURS

    def check(self, agents: int, byzantine: int) -> None:
        """Raise BadInput if there is no such graph on so many agents.

        Parameters
        ----------
        agents
            Number of agents.
        byzantine
            Number of Byzantine agents.
        """

    def size(self) -> int | None:
        """The number of agents, where the graph itself fixes it."""
        return None

    def degrees(self, agents: int, byzantine: int) -> Floats:
        """Each agent's number of neighbours; where it is random, what to expect, or one draw of it.

        Parameters
        ----------
        agents
            Number of agents.
        byzantine
            Number of Byzantine agents.
        """
        out, rng, params = np.empty(agents, np.int64), np.zeros(1, np.uint64), np.array(self.params)
        neighbours = type(self).neighbours
        return np.array([neighbours(agent, agents, byzantine, params, rng, out) for agent in range(agents)], np.float64)

    def most_byzantine(self, agents: int, byzantine: int) -> Integers:
        """The most Byzantine neighbours each agent can have: counted on a fixed graph, all of them on a random one.

        Parameters
        ----------
        agents
            Number of agents.
        byzantine
            Number of Byzantine agents.
        """
        if self.random:
            return np.array([byzantine - (agent < byzantine) for agent in range(agents)])
        out, rng, params = np.empty(agents, np.int64), np.zeros(1, np.uint64), np.array(self.params)
        neighbours, counts = type(self).neighbours, np.empty(agents, np.int64)
        for agent in range(agents):
            heard = out[: neighbours(agent, agents, byzantine, params, rng, out)]
            counts[agent] = (heard < byzantine).sum()
        return counts
