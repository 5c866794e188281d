"""What a baseline is: an algorithm of its own on the same state, graphs and attacks.

A baseline keeps its numbers in `estimates`, `weights` and `doubts` of the state, which mean something else to each, and
in `baseline_floats` and `baseline_integers`. It tells what stands in the first rows of `told_pulls` and `told_means`.
Where it trims, it is by f; f = 0 is without.
"""

from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from byzmab.core.compiler import compiled, compiled_as, compiled_noinline, is_ours
from byzmab.core.errors import BadInput
from byzmab.core.filters.trimmed import sum_without_extremes
from byzmab.core.mistakes import Contract, check_functions, nothing
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats
from byzmab.engine.state import NetworkState, StateType, table
from byzmab.graphs import Graph

NUMBER_BYTES = 8  # of a count, a mean or a sum as told


class Network(NamedTuple):
    """Where a baseline is to be played."""

    graph: Graph
    name: str  # of the graph, as it was given
    redrawn: bool  # drawn anew in every round
    subset: int | None  # how many neighbours are heard in a round, drawn at random; None: all
    agents: int
    byzantine: int
    arms: int
    f: int


def tell_tally(state: Any) -> None:
    """Tell one's own tally."""
    agents, arms = state.agents, state.arms
    pulls, means = table(state.pulls, agents, arms), table(state.means, agents, arms)
    told_pulls, told_means = table(state.told_pulls, agents, arms), table(state.told_means, agents, arms)
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
    decide: ClassVar[Any]  # from what was heard to choices
    update: ClassVar[Any] = staticmethod(tell_tally)  # from the reward to what is told next
    trims: ClassVar[bool] = True  # whether f matters
    knows: ClassVar[str] = "f"  # what an agent must know besides the arms, in a few words
    assumes: ClassVar[str] = ""  # what must hold for its guarantee, in a few words

    def check(self, network: Network) -> None:
        """Raise BadInput where the algorithm makes no sense on a network."""

    def message_bytes(self, arms: int) -> int:
        """The bytes of one message: a count and a mean, or a sum, of every arm."""
        return 2 * NUMBER_BYTES * arms

    def begin(self, state: NetworkState) -> None:
        """Set the numbers after the first pulls: everyone tells its own tally. The graph is drawn already."""
        agents = int(state.record["agents"])
        state["told_pulls"][:agents] = state["weights"][:] = state["pulls"]
        state["told_means"][:agents] = state["estimates"][:] = state["means"]
        state["doubts"][:] = state["means"]
        state.record["talks"] = state.record["phase"] = 1
        keep(state, "baseline_params", self.params)


def keep(state: NetworkState, name: str, array: Any) -> None:
    """Set `baseline_params`, `baseline_floats` or `baseline_integers`, and its length."""
    state.set(name, array)
    state.record[f"{name}_size"] = state[name].size


LOOP = Contract({"state": NetworkState().record}, "nothing", nothing)


@cache
def compiled_loop(name: str, function: Any) -> Any:
    """A loop of a baseline, compiled; BadInput where one of a user's own is none, or has a mistake."""
    if isinstance(function, FunctionType) and is_ours(function):
        return compiled_as(types.void(StateType))(function)
    loop = compiled_noinline(function) if isinstance(function, FunctionType) else function
    check_functions(Baseline.kind, [(name, loop, LOOP)])
    return loop


@compiled
def trimmed_sum(values: Floats, f: int) -> tuple[float, int]:
    """The sum of what is left without the f largest and f smallest, and how many those are; none of 2f or fewer."""
    if values.size <= 2 * f:
        return 0.0, 0
    return sum_without_extremes(values, f), values.size - 2 * f


@compiled
def count_instead(state: Any, messages: int, arms: int) -> None:
    """Count so many messages, on so many arms each, for this round, where not everyone told everyone who hears it."""
    state.messages += messages - state.edges
    state.arms_told += messages * arms - state.edges * state.arms


def adjacency(state: NetworkState) -> Floats:
    """Who hears whom in the first round, as a matrix of 0 and 1: row i has a 1 for each whom i hears."""
    agents = int(state.record["agents"])
    starts, graph = state["graph_starts"], state["graph"]
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
    """Who hears whom on a graph without chance, as a matrix of 0 and 1."""
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
