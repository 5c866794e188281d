"""Move: what the mean of each agent and arm is in the coming round, where means change.

The mean of (agent, arm, round) is

    given(arm, round) or given(agent, arm, round)    from the schedule: the table in force in that round
    + offset(agent, arm)                             by which agents differ: drawn once a run
    + shift(arm, round)                              the drift

clipped to [0, 1]. Where nothing changes it is written once, and this loop is not called.
"""

from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled, specialize
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.engine.state import State, StateType
from byzmab.worlds.drifts import Drift
from byzmab.worlds.drifts import move_by_steps as move  # `specialize` puts the drift's own in its place


@compiled
def clipped(mean: float) -> float:
    """A mean within [0, 1]; no number at all is 0."""
    return min(mean, 1.0) if mean > 0.0 else 0.0


def move_all(state: State) -> None:
    """Set everybody's means for the coming round."""
    agents, arms, time = state.agents, state.arms, state.time + 1
    rounds = state.schedule_rounds
    while state.entry + 1 < rounds.size and rounds[state.entry + 1] <= time:
        state.entry += 1
    given = state.schedule[state.entry]
    common = state.schedule_common[state.entry]
    shifts, offsets = state.shifts, state.offsets
    rng = state.rng
    rng[0] = fold(state.drift_key, time)
    move(common, time, state.drift_params, rng, shifts)
    true_means, own_means = state.true_means, state.own_means
    bests = state.bests
    for arm in range(arms):
        true_means[arm] = clipped(common[arm] + shifts[arm])
    for agent in range(agents):
        row, best = agent if given.shape[0] > 1 else 0, 0
        for arm in range(arms):
            own_means[agent, arm] = clipped(given[row, arm] + offsets[agent, arm] + shifts[arm])
            best = arm if own_means[agent, arm] > own_means[agent, best] else best
        bests[agent] = best
    state.moved = time


def moving(drift: Drift) -> Any:
    """`move_all` with a drift's own function in it; BadInput where that has a mistake."""
    check_functions(drift.kind, drift.functions())
    return _moving(type(drift).move)


@cache
def _moving(move: Any) -> Any:
    return specialize(move_all, types.void(StateType), move=move)
