"""One live agent decides: believe of every arm, then choose one, in a single compiled call over plain arrays.

`believe_agent` and `choose` below are the paper's; `specialize` puts those of the chosen filter and policy in their
places. The simulator's loops (byzmab.engine) inline the same two functions for every agent of a network.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.core.believe import ALL_ARMS, Inbox, Own, Reading, believe_agent, is_sound
from byzmab.core.compiler import specialize
from byzmab.core.differences import AUTO, limit_others, measure_difference, measure_neighbour
from byzmab.core.draws import fold
from byzmab.core.filters.base import Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.policies.base import Policy
from byzmab.core.policies.ucb import ucb as choose  # `specialize` puts the policy's own in its place
from byzmab.core.report import Belief, Floats, Words

NEUTRAL = 0.5  # the estimate of an arm whose first reward is still to come
# rows of an agent's own table: its tally, then its belief, in the order of `Belief`
PULLS, MEANS, PENDING, ESTIMATES, WEIGHTS, DOUBTS, OWN_ESTIMATES, OWN_WEIGHTS = range(8)
ROWS = OWN_WEIGHTS + 1
UNSOUND, NO_ARM = -1, -2  # instead of a choice

F1, F2, F3 = (types.Array(types.float64, dimensions, "C") for dimensions in (1, 2, 3))
W1 = types.Array(types.uint64, 1, "C")
PARAMS = types.UniTuple(F1, 2)


def _signature(clock: Any) -> Any:
    setting = types.Tuple((types.boolean, types.int64, types.float64, types.int64, clock, types.float64, types.boolean))
    return types.int64(F2, F3, F2, W1, F1, PARAMS, W1, setting, types.boolean)


DECIDE, DECIDE_RECENT = map(_signature, (types.int64, types.float64))  # what is left of time is no whole number


def decide(
    own: Floats,  # rows as above × arms
    told: Floats,  # 2 × capacity × arms: pulls and means of the reports heard
    work: Floats,  # 2 × capacity
    rows: Words,  # 0, 1, … up to the number of reports
    differences: Floats,  # τ² of every row, then one's own; see core/differences.py
    params: tuple[Floats, Floats],  # of the filter and of the policy
    rng: Words,  # 2: the state of the stream, and the agent's key
    setting: tuple[bool, int, float, int, float, float, bool],  # consistency, f, kappa, time, clock, spread and due
    pick: bool,  # whether to choose, or to believe only
) -> int:
    """Fill in the agent's beliefs; return the arm it chooses, UNSOUND or NO_ARM, or 0 where it is not to pick.

    Where it is due, differences between agents are measured anew. The clock is t as filter and policy see it: time, or
    what is left of it where tallies forget. Tuples given by Python are plain: numba takes two microseconds to recognize
    a NamedTuple at every call, and 0.1 for a plain tuple.
    """
    filter_params, policy_params = params
    consistency, f, kappa, time, clock, spread, due = setting
    belief = Belief(own[ESTIMATES], own[WEIGHTS], own[DOUBTS], own[OWN_ESTIMATES], own[OWN_WEIGHTS])
    size = differences.size - 1
    compared = differences[: size if spread == AUTO else 0]
    if due:
        for row in rows:
            compared[row] = measure_neighbour(own[PULLS], own[MEANS], told[0, row], told[1, row])
    believe_agent(
        Own(own[PULLS], own[MEANS]),
        Inbox(told[0], told[1], rows, np.uint64(0), np.uint64(rows.size), rows, compared),
        ALL_ARMS,
        (0, own.shape[1]),
        Reading(consistency, f, kappa, int(clock), 0),  # nobody is expected: an absent neighbour proves nothing
        filter_params,
        (work[0], work[1]),
        belief,
    )
    if spread != 0.0:
        if due:
            differences[size] = measure_difference(own[PULLS], own[MEANS], belief)
        limit_others(own[PULLS], own[MEANS], ALL_ARMS, (0, own.shape[1]), differences[size], belief)
    for arm in range(own.shape[1]):
        pulls, pending = own[PULLS, arm], own[PENDING, arm]
        belief.own_estimates[arm], belief.own_weights[arm] = own[MEANS, arm], pulls + pending
        if pulls == 0.0:
            belief.estimates[arm], belief.weights[arm], belief.doubts[arm] = NEUTRAL, pending, 0.0
            belief.own_estimates[arm] = NEUTRAL
        elif not is_sound(belief.estimates[arm], belief.weights[arm], belief.doubts[arm]):
            return UNSOUND
        elif pending > 0.0:  # w = n / g with n the rewarded pulls; in the width, pending ones count too
            belief.weights[arm] *= 1.0 + pending / pulls
    if not pick:
        return 0
    rng[0] = fold(rng[1], time)
    arm = choose(belief, clock, policy_params, rng)
    return arm if 0 <= arm < own.shape[1] else NO_ARM


def decision(filter: Filter, policy: Policy, forgets: bool = False) -> Any:
    """`decide` with a filter and a policy in it, for tallies that forget or do not; BadInput at a mistake in one."""
    check_functions(filter.kind, filter.functions())
    check_functions(policy.kind, policy.functions_if(forgets))
    return _decision(filter.played("believe"), type(policy).choose, forgets)


@cache
def _decision(believe: Any, choose: Any, forgets: bool) -> Any:
    inner = specialize(believe_agent, believe=believe)
    return specialize(decide, DECIDE_RECENT if forgets else DECIDE, believe_agent=inner, choose=choose)
