"""What an algorithm is: an algorithm of its own on the same state, graphs and attacks.

An algorithm keeps its numbers in `estimates`, `weights` and `doubts` of the state, which mean something else to each.
What else it keeps it declares in a state of its own, a subclass of `State`. It sends what stands in the first rows of
`told_pulls` and `told_means`. Where it trims, it is by f; f = 0 is without.
"""

from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from byzmab.core.compiler import compiled, compiled_noinline, specialize
from byzmab.core.errors import BadInput
from byzmab.core.filters.trimmed import sum_without_extremes
from byzmab.core.mistakes import Contract, check_functions, nothing
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats
from byzmab.engine.state import State, StateType
from byzmab.engine.typed import as_schema
from byzmab.graphs import Graph

NUMBER_BYTES = 8  # of a count, a mean or a sum as told


class Network(NamedTuple):
    """Where an algorithm is to be played."""

    graph: Graph
    name: str  # of the graph, as it was given
    redrawn: bool  # drawn anew in every round
    subset: int | None  # how many neighbours are heard in a round, drawn at random; None: all
    agents: int
    byzantine: int
    arms: int
    f: int


def tell_tally(state: State) -> None:
    """Tell one's own tally.

    Parameters
    ----------
    state
        The state of the network.
    """
    agents, arms = state.agents, state.arms
    pulls, means = state.pulls, state.means
    told_pulls, told_means = state.told_pulls, state.told_means
    for agent in range(agents):
        for arm in range(arms):
            told_pulls[agent, arm], told_means[agent, arm] = pulls[agent, arm], means[agent, arm]


@dataclass(frozen=True)
class Baseline(Plugin):
    """An algorithm in two loops over a network's state, compiled when it is first played.

    Every agent has pulled every arm once before the first `decide`, and pulls its choice between the two. What is no
    report, by its count or its mean, is told as a count and a mean of 0. `state.talks` says whether reports are
    exchanged before `decide`.
    """

    kind: ClassVar[str] = "algorithm"
    function: ClassVar[str] = "decide"
    state: ClassVar[type[State]] = State  # what the two loops read and write
    decide: ClassVar[Any]  # from what was heard to choices
    update: ClassVar[Any] = staticmethod(tell_tally)  # from the reward to what is told next
    trims: ClassVar[bool] = True  # whether f matters
    knows: ClassVar[str] = "f"  # what an agent must know besides the arms, in a few words
    assumes: ClassVar[str] = ""  # what must hold for its guarantee, in a few words

    def check(self, network: Network) -> None:
        """Raise BadInput where the algorithm makes no sense on a network.

        Parameters
        ----------
        network
            The network on which it would be played.
        """

    def message_bytes(self, arms: int) -> int:
        """The bytes of one message: a count and a mean, or a sum, of every arm.

        Parameters
        ----------
        arms
            Number of arms.
        """
        return 2 * NUMBER_BYTES * arms

    def begin(self, state: State) -> None:
        """Set the numbers after the first pulls: everyone tells its own tally. The graph is drawn already.

        Parameters
        ----------
        state
            The state of the network.
        """
        agents = state.agents
        state.told_pulls[:agents] = state.weights[:] = state.pulls
        state.told_means[:agents] = state.estimates[:] = state.means
        state.doubts[:] = state.means
        state.talks = state.phase = 1
        state.algorithm_params = np.array(self.params)


def loop(state: State) -> None:
    """Stand for a loop of an algorithm, which `specialize` puts in its place."""


SCHEMA = State.numba_type.name


def play(state: State) -> None:
    """Call a loop of an algorithm with the fields of its own state."""
    loop(as_schema(state, SCHEMA))


def compiled_loops(baseline: Baseline) -> tuple[Any, Any]:
    """Return `decide` and `update` of an algorithm, compiled; BadInput where one of a user's own has a mistake."""
    kind: Any = baseline.state
    decide, update = (_compiled_loop(name, getattr(baseline, name), kind) for name in ("decide", "update"))
    return decide, update


@cache
def _compiled_loop(name: str, function: Any, state: type[State]) -> Any:
    inner = compiled_noinline(function) if isinstance(function, FunctionType) else function
    check_functions(Baseline.kind, [(name, inner, Contract({"state": state().whole()}, "nothing", nothing))])
    layout = ("SCHEMA", state.numba_type.name), ("LAYOUT", state.layout)
    return specialize(play, types.void(StateType), numbers=layout, loop=inner)


@compiled
def trimmed_sum(values: Floats, f: int) -> tuple[float, int]:
    """The sum of what is left without the f largest and f smallest, and how many those are; none of 2f or fewer."""
    if values.size <= 2 * f:
        return 0.0, 0
    return sum_without_extremes(values, f), values.size - 2 * f


@compiled
def count_instead(state: State, messages: int, arms: int) -> None:
    """Count so many messages, on so many arms each, for this round, where not every agent sent to all that hear it."""
    state.messages += messages - state.edges
    state.arms_told += messages * arms - state.edges * state.arms


def adjacency(state: State) -> Floats:
    """Which agents hear which in the first round, as a matrix of 0 and 1: row i has a 1 for each agent that i hears."""
    agents = state.agents
    starts, graph = state.graph_starts, state.graph
    heard = np.zeros((agents, agents))
    for agent in range(agents):
        heard[agent, graph[starts[agent] : starts[agent + 1]]] = 1.0
    return heard


def check_hears_all(name: str, network: Network) -> None:
    """Raise BadInput where agents hear only some of their neighbours in a round."""
    if network.subset is not None:
        raise BadInput(
            f"subset {network.subset} does not go with algorithm {name!r}, which has to hear every neighbour; "
            "allowed: no subset"
        )


def check_undirected(name: str, network: Network) -> None:
    """Raise BadInput unless the graph is always the same, undirected and connected, and every neighbour is heard."""
    check_hears_all(name, network)
    if not network.graph.random and not network.redrawn:
        heard = neighbours_of(network)
        if np.array_equal(heard, heard.T) and is_connected(heard):
            return
    raise BadInput(
        f"graph {network.name!r} does not go with algorithm {name!r}, whose weights need to be the same both ways; "
        "allowed: fixed graphs without chance, undirected and connected: complete, ring, star, firms, edges, FILE.json"
    )


def neighbours_of(network: Network) -> Floats:
    """Which agents hear which on a graph without chance, as a matrix of 0 and 1."""
    agents, graph = network.agents, network.graph
    out, rng, params = np.empty(agents, np.int64), np.zeros(1, np.uint64), np.array(graph.params, np.float64)
    heard = np.zeros((agents, agents))
    for agent in range(agents):
        count = type(graph).neighbours(agent, agents, network.byzantine, params, rng, out)
        heard[agent, out[:count]] = 1.0
    return heard


def is_connected(heard: Floats) -> bool:
    """Whether every agent is reached from the first along edges."""
    reached = np.zeros(len(heard), bool)
    reached[0] = True
    for _ in range(len(heard)):
        reached |= heard[:, reached].any(axis=1)
    return bool(reached.all())


def mixing_matrix(heard: Floats) -> Floats:
    """P = I − L / (d_max + 1): a neighbour weighs 1 / (d_max + 1), and an agent itself the rest."""
    degrees = heard.sum(axis=1)
    return np.asarray(np.eye(len(heard)) - (np.diag(degrees) - heard) / (degrees.max() + 1.0))
