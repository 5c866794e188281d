"""Recording g = n / w, of which the paper's upper bound is made, while a run advances."""

from typing import Any

import numpy as np
from numba import types

from byzmab.core.compiler import compiled_as
from byzmab.core.report import Floats
from byzmab.engine.deliver import ENOUGH
from byzmab.engine.round import DRAWING_LOOP, LOOP, advance
from byzmab.engine.state import State, StateType
from byzmab.theory.bounds import record_width

F1, F2 = (types.Array(types.float64, dimensions, "C") for dimensions in (1, 2))
KEPT = types.Tuple((F1, F2, F1))


@compiled_as(types.int64(StateType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, KEPT))
def advance_recording(
    state: State,
    until: int,
    draw: Any,
    tell: Any,
    lie: Any,
    believe: Any,
    choose: Any,
    pull: Any,
    move: Any,
    kept: tuple[Floats, Floats, Floats],  # gaps, largest and tightest of the WidthRecord of all agents
) -> int:
    """Advance to round `until`, recording g; return as `advance` does."""
    gaps, largest, tightest = kept
    agents, arms = state.agents, state.arms
    g = np.empty((agents, arms))
    while state.time < until:
        pulls = state.pulls
        for agent in range(agents):
            for arm in range(arms):
                g[agent, arm] = pulls[agent, arm]
        shortage = advance(state, state.time + 1, draw, tell, lie, believe, choose, pull, move)
        if shortage != ENOUGH:
            return shortage
        # weights are of the round's beginning, pulls already of its end
        weights = state.weights
        for agent in range(agents):
            for arm in range(arms):
                g[agent, arm] /= weights[agent, arm]
            record_width(g[agent], state.time, gaps, largest, tightest, agent)
    return ENOUGH
