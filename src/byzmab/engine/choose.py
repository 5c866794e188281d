"""Choose: which arm every agent pulls next."""

from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled, specialize
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.policies.base import Policy
from byzmab.core.policies.ucb import ucb as choose  # `specialize` puts the policy's own in its place
from byzmab.core.report import Belief
from byzmab.engine.recent import clock_of, recent_clock_of
from byzmab.engine.state import BAD_CHOICE, BAD_DECISION, State, StateType


def choose_all(state: State) -> None:
    """Let every agent choose the arm it pulls next."""
    agents, arms, time = state.agents, state.arms, state.time
    estimates = state.estimates
    weights = state.weights
    doubts = state.doubts
    own_estimates, own_weights = state.own_estimates, state.own_weights
    params = state.policy_params
    keys = state.policy_keys
    choices = state.choices
    rng = state.rng
    clock = clock_of(state)
    for agent in range(agents):
        rng[0] = fold(keys[agent], time)
        belief = Belief(estimates[agent], weights[agent], doubts[agent], own_estimates[agent], own_weights[agent])
        choices[agent] = choose(belief, clock, params, rng)
        if not 0 <= choices[agent] < arms:
            state.fault = state.fault or BAD_CHOICE  # the first fault is told
            choices[agent] = 0


@compiled
def check_choices(state: State) -> None:
    """Find the fault where an algorithm, which chooses for everyone by itself, chose an arm that does not exist."""
    choices = state.choices
    for agent in range(state.agents):
        if not 0 <= choices[agent] < state.arms:
            state.fault = BAD_DECISION
            choices[agent] = 0


def choosing(policy: Policy, forgets: bool) -> Any:
    """`choose_all` with a policy's own function in it, for tallies that forget or do not; BadInput at a mistake."""
    check_functions(policy.kind, policy.functions_if(forgets))
    return _choosing(type(policy).choose, forgets)


@cache
def _choosing(choose: Any, forgets: bool) -> Any:
    clock: dict[str, Any] = {"clock_of": recent_clock_of} if forgets else {}
    return specialize(choose_all, types.void(StateType), choose=choose, **clock)
