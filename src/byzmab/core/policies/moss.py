"""MOSS over beliefs: explore an arm by how little of all that is known is about it.

After MOSS (Audibert & Bubeck 2009), which puts the share of an arm's pulls in the place of ln t: an arm that holds
most of the evidence has next to no bonus left, one that holds little has nearly that of ln t. There the evidence is
the agent's own pulls; here it is what its beliefs are worth, w, so that the bonus follows what was heard, too.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random, with_doubt
from byzmab.core.report import Belief, Floats, Words


@compiled
def moss_bound(estimate: float, weight: float, total: float, alpha: float) -> float:
    """z + √(α ln(1 + W/w) / w) of one arm."""
    return estimate + math.sqrt(alpha * math.log(1.0 + total / weight) / weight)


@compiled
def total_of(weights: Floats) -> float:
    """W, the sum of all weights; numba takes a third of a second to compile `sum` of an array, and nothing for this."""
    total = 0.0
    for weight in weights:
        total += weight
    return total


@compiled
def moss_indices(belief: Belief, alpha: float) -> Floats:
    """z + √(α ln(1 + W/w) / w) + d of every arm, d limited by the agent's own bound."""
    total, own_total = total_of(belief.weights), total_of(belief.own_weights)
    index = np.empty(belief.weights.size)
    for arm in range(index.size):
        bound = moss_bound(belief.estimates[arm], belief.weights[arm], total, alpha)
        own = moss_bound(belief.own_estimates[arm], belief.own_weights[arm], own_total, alpha)
        index[arm] = with_doubt(bound, belief.doubts[arm], own)
    return index


@compiled
def moss(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest of the `moss_indices`; an array is made only where arms are tied.

    The own bound is computed only where the whole doubt would win.
    """
    total, own_total, alpha = total_of(belief.weights), total_of(belief.own_weights), params[0]
    chosen, best, second = 0, -math.inf, -math.inf
    for arm in range(belief.estimates.size):
        bound, doubt = moss_bound(belief.estimates[arm], belief.weights[arm], total, alpha), belief.doubts[arm]
        index = bound + doubt
        if doubt > 0.0 and index >= best - TIED:
            own = moss_bound(belief.own_estimates[arm], belief.own_weights[arm], own_total, alpha)
            index = with_doubt(bound, doubt, own)
        second = max(second, min(best, index))
        chosen = arm if index > best else chosen
        best = max(best, index)
    if second < best - TIED:
        return chosen
    return argmax_at_random(moss_indices(belief, alpha), rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The upper bounds."""
    return moss_indices(belief, params[0])


@dataclass(frozen=True)
class Moss(Policy):
    """z + √(α ln(1 + W/w) / w) + d, W = Σ w; not in the paper."""

    parameters = "moss:0.25, the width constant α, 0 or more; 0.25 if not given"
    choose = staticmethod(moss)
    explain = staticmethod(explain)
    alpha: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha < math.inf:
            raise self.misunderstood(self.alpha)
