"""Recording g = n / w, of which the paper's upper bound is made, while a run advances."""

from typing import Any

import numpy as np
from numba import types

from byzmab.core.compiler import compiled_as
from byzmab.core.report import Floats
from byzmab.engine.deliver import ENOUGH
from byzmab.engine.round import DRAWING_LOOP, LOOP, advance
from byzmab.engine.state import StateType, table
from byzmab.theory.bounds import record_width

F1, F2 = (types.Array(types.float64, dimensions, "C") for dimensions in (1, 2))


@compiled_as(types.int64(StateType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, F1, F2, F1))
def advance_recording(
    state: Any,
    until: int,
    draw: Any,
    tell: Any,
    lie: Any,
    believe: Any,
    choose: Any,
    pull: Any,
    move: Any,
    gaps: Floats,  # these three as in a WidthRecord of all agents
    largest: Floats,
    tightest: Floats,
) -> int:
    """Advance to round `until`, recording g; return as `advance` does."""
    agents, arms = state.agents, state.arms
    g = np.empty((agents, arms))
    while state.time < until:
        pulls = table(state.pulls, agents, arms)
        for agent in range(agents):
            for arm in range(arms):
                g[agent, arm] = pulls[agent, arm]
        shortage = advance(state, state.time + 1, draw, tell, lie, believe, choose, pull, move)
        if shortage != ENOUGH:
            return shortage
        # weights are of the round's beginning, pulls already of its end
        weights = table(state.weights, agents, arms)
        for agent in range(agents):
            for arm in range(arms):
                g[agent, arm] /= weights[agent, arm]
            record_width(g[agent], state.time, gaps, largest, tightest, agent)
    return ENOUGH
