"""KL-MOSS over beliefs: the exploration of MOSS, in the relative entropy of rewards from 0 to 1.

At rates of one percent the variance of a reward is 1/25 of what `moss` assumes, and at 99 % as well. The bound here is
the largest mean q with w · kl(z, q) ≤ c ln(1 + W/w), W being what all beliefs are worth together. Near z = ½ and for
c = ½ that is the bound of `moss`, and elsewhere a narrower one. After KL-UCB-switch (Garivier, Hadiji, Ménard &
Stoltz 2022), which knows the horizon in the place of W.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random, with_doubt
from byzmab.core.policies.kl_ucb import largest_mean
from byzmab.core.policies.moss import totals_of
from byzmab.core.report import Belief, Floats, Words


@compiled
def cheap_bound(estimate: float, room: float) -> float:
    """At least the largest q with kl(z, q) ≤ room, without a logarithm.

    For q ≥ z, kl(z, q) is at least 2 (q − z)², (q − z)² / 2q and (q − z)² / 2(1 − z).
    """
    low = estimate + room + math.sqrt(room * (room + 2.0 * estimate))
    return min(low, estimate + math.sqrt(room * min(0.5, 2.0 * (1.0 - estimate))), 1.0)


@compiled
def kl_moss_index(belief: Belief, arm: int, total: float, own_total: float, c: float) -> float:
    """The largest mean of an arm that is not ruled out, plus doubt, limited by the agent's own bound."""
    weight, doubt = belief.weights[arm], belief.doubts[arm]
    bound = largest_mean(within(belief.estimates[arm]), weight, c * math.log(1.0 + total / weight))
    if doubt <= 0.0:
        return bound
    own = belief.own_weights[arm]
    own_bound = largest_mean(within(belief.own_estimates[arm]), own, c * math.log(1.0 + own_total / own))
    return with_doubt(bound, doubt, own_bound)


@compiled
def within(mean: float) -> float:
    """A mean in [0, 1]."""
    return min(max(mean, 0.0), 1.0)


@compiled
def kl_moss(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest index; the exact one is computed only of arms that a cheap bound leaves in the race."""
    (total, own_total), c = totals_of(belief), params[0]
    index = np.empty(belief.estimates.size)
    first = 0
    for arm in range(index.size):
        weight = belief.weights[arm]
        room = c * math.log(1.0 + total / weight) / weight
        index[arm] = cheap_bound(within(belief.estimates[arm]), room) + belief.doubts[arm]
        if index[arm] > index[first]:
            first = arm
    best = -math.inf
    for turn in range(index.size):
        arm = first if turn == 0 else turn - 1 if turn <= first else turn  # the likely winner comes first
        if index[arm] < best - TIED:
            continue
        index[arm] = kl_moss_index(belief, arm, total, own_total, c)
        best = max(best, index[arm])
    return argmax_at_random(index, rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The index of every arm, those included that cannot win."""
    totals = totals_of(belief)
    return np.array([kl_moss_index(belief, arm, *totals, params[0]) for arm in range(belief.estimates.size)])


@dataclass(frozen=True)
class KlMoss(Policy):
    """max{q : w · kl(z, q) ≤ c ln(1 + W/w)} + d, W = Σ w; not in the paper."""

    parameters = "kl-moss:0.5, the constant c, 0 or more; 0.5 if not given"
    choose = staticmethod(kl_moss)
    explain = staticmethod(explain)
    c: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.c < math.inf:
            raise self.misunderstood(self.c)
