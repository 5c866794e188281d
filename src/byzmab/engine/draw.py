"""Draw: which agents hear which in this round."""

from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled, specialize
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Integers
from byzmab.engine.dense import list_missing
from byzmab.engine.state import BAD_NEIGHBOUR, State, StateType
from byzmab.graphs.base import Graph
from byzmab.graphs.regular import everyone as neighbours  # `specialize` puts the graph's own in its place


@compiled
def ascends(names: Integers, count: int, receiver: int) -> bool:
    """Whether the neighbours exist, ascend, and leave out the agent itself; ours do, by their tests."""
    if not 0 <= count < names.size:
        return False
    before = -1
    for name in names[:count]:
        if not before < name < names.size or name == receiver:
            return False
        before = name
    return True


def draw_all(state: State) -> bool:
    """Draw every agent's neighbours for the time of sending; return False where `graph` must grow first."""
    agents = state.agents
    starts = state.graph_starts
    graph = state.graph
    may_hear = state.may_hear
    params = state.graph_params
    rng = state.rng
    key = fold(state.graph_key, state.sent if state.time_varying == 1 else 0)
    edges, state.edges, state.most_missing = 0, 0, 0
    for receiver in range(agents):
        if edges + agents > state.edge_capacity:
            return False
        starts[receiver] = edges
        rng[0] = fold(key, receiver)
        count = neighbours(receiver, agents, state.byzantine, params, rng, graph[edges : edges + agents])
        if state.graph_is_ours == 0 and not ascends(graph[edges : edges + agents], count, receiver):
            state.fault = BAD_NEIGHBOUR
            return True
        state.edges += count
        may_hear[receiver] = agents - 1 if state.time_varying == 1 else count
        if state.dense == 1:
            if state.missing_starts[receiver] + agents > state.edge_capacity:
                return False
            count = list_missing(state, receiver, graph[edges : edges + agents], count)
        edges += count
    starts[agents] = edges
    return True


def drawing(graph: Graph) -> Any:
    """`draw_all` with a graph's own function in it; BadInput where that has a mistake."""
    check_functions(graph.kind, graph.functions())
    return _drawing(type(graph).neighbours)


@cache
def _drawing(neighbours: Any) -> Any:
    return specialize(draw_all, types.boolean(StateType), neighbours=neighbours)
