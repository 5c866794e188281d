"""One live agent decides at a context: believe of every arm, then choose one, in a single compiled call.

`believe_at` and `choose` below are the paper's; `specialize` puts those of the chosen filter and policy in their
places. The simulator's loop (byzmab.contexts) inlines the same two functions for every agent of a network.
"""

from functools import cache
from typing import Any

from numba import types

from byzmab.core.believe import is_sound
from byzmab.core.compiler import specialize
from byzmab.core.contexts.believe import Inbox, Reading, Scratch, believe_at
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.decide import F1, F2, F3, NO_ARM, PARAMS, UNSOUND, W1
from byzmab.core.draws import fold
from byzmab.core.filters.base import Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.policies.base import Policy
from byzmab.core.policies.ucb import ucb as choose  # `specialize` puts the policy's own in its place
from byzmab.core.report import Belief, Floats, Words

# rows of the beliefs: those of a `Belief` in its order, and the pulls whose reward is still to come
ESTIMATES, WEIGHTS, DOUBTS, OWN_ESTIMATES, OWN_WEIGHTS, PENDING = range(6)
ROWS = PENDING + 1

W2 = types.Array(types.uint64, 2, "C")
READING = types.Tuple(
    (
        *(types.float64, types.int64, types.boolean, types.boolean),  # ridge, shares, vetting, consistency
        *(types.int64, types.float64, types.int64, types.int64),  # f, kappa, time, expected
    )
)
DECIDE_AT = types.int64(
    *(F2, W1, F2),  # own, own_versions, beliefs
    types.Tuple((F3, W2, W1)),  # an Inbox
    F1,  # x
    READING,
    PARAMS,
    types.Tuple((W2, F2, F3, F2, F1)),  # a Scratch
    *(W1, types.boolean),  # rng, pick
)


def decide_at(
    own: Floats,  # arms × numbers: see core/contexts/statistics.py
    own_versions: Words,  # arms
    beliefs: Floats,  # ROWS × arms, as above; the last is given, the others are filled in
    inbox: tuple[Floats, Words, Words],  # an Inbox
    x: Floats,  # the context
    reading: tuple[float, int, bool, bool, int, float, int, int],  # a Reading
    params: tuple[Floats, Floats],  # of the filter and of the policy
    scratch: tuple[Words, Floats, Floats, Floats, Floats],  # a Scratch
    rng: Words,  # 2: the state of the stream, and the agent's key
    pick: bool,  # whether to choose, or to believe only
) -> int:
    """Fill in the agent's beliefs; return the arm it chooses, UNSOUND or NO_ARM, or 0 where it is not to pick.

    Tuples are plain, as in `decide`.
    """
    filter_params, policy_params = params
    belief = Belief(beliefs[ESTIMATES], beliefs[WEIGHTS], beliefs[DOUBTS], beliefs[OWN_ESTIMATES], beliefs[OWN_WEIGHTS])
    read = Reading(*reading)
    believe_at(own, own_versions, Inbox(*inbox), x, read, filter_params, Scratch(*scratch), belief)
    for arm in range(own.shape[0]):
        pulls, pending = own[arm, 0], beliefs[PENDING, arm]
        if pulls == 0.0:
            belief.estimates[arm], belief.weights[arm], belief.doubts[arm] = NEUTRAL, pending, 0.0
            belief.own_estimates[arm], belief.own_weights[arm] = NEUTRAL, pending
        elif not is_sound(belief.estimates[arm], belief.weights[arm], belief.doubts[arm]):
            return UNSOUND
        elif pending > 0.0:  # in the width, pulls whose reward is still to come count too
            belief.weights[arm] *= 1.0 + pending / pulls
            belief.own_weights[arm] *= 1.0 + pending / pulls
    if not pick:
        return 0
    rng[0] = fold(rng[1], read.time)
    arm = choose(belief, read.time, policy_params, rng)
    return arm if 0 <= arm < own.shape[0] else NO_ARM


def context_decision(filter: Filter, policy: Policy) -> Any:
    """`decide_at` with a filter and a policy in it; BadInput where one of them has a mistake."""
    for plugin in (filter, policy):
        check_functions(plugin.kind, plugin.functions())
    return _decision(filter.played("believe"), type(policy).choose)


@cache
def _decision(believe: Any, choose: Any) -> Any:
    inner = specialize(believe_at, borrows=True, believe=believe)
    return specialize(decide_at, DECIDE_AT, believe_at=inner, choose=choose)
