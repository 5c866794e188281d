"""MOSS over beliefs: explore an arm by how little of all that is known is about it.

After MOSS (Audibert & Bubeck 2009), which puts the share of an arm's pulls in the place of ln t: an arm that holds
most of the evidence has next to no bonus left, one that holds little has nearly that of ln t. There the evidence is
the agent's own pulls; here it is what its beliefs are worth, w, so that the bonus follows what was heard, too.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random
from byzmab.core.report import Belief, Floats, Words


@compiled
def moss_index(belief: Belief, arm: int, total: float, alpha: float) -> float:
    """z + √(α ln(1 + W/w) / w) + d of one arm."""
    weight = belief.weights[arm]
    bonus = math.sqrt(alpha * math.log(1.0 + total / weight) / weight)
    return float(belief.estimates[arm] + bonus + belief.doubts[arm])


@compiled
def total_weight(belief: Belief) -> float:
    """W; numba takes a third of a second to compile `sum` of an array, and nothing for this."""
    total = 0.0
    for weight in belief.weights:
        total += weight
    return total


@compiled
def moss_indices(belief: Belief, alpha: float) -> Floats:
    """z + √(α ln(1 + W/w) / w) + d of every arm; W is the sum of all weights."""
    total = total_weight(belief)
    index = np.empty(belief.weights.size)
    for arm in range(index.size):
        index[arm] = moss_index(belief, arm, total, alpha)
    return index


@compiled
def moss(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest z + √(α ln(1 + W/w) / w) + d; an array is made only where arms are tied."""
    total = total_weight(belief)
    chosen, best, second = 0, -math.inf, -math.inf
    for arm in range(belief.estimates.size):
        index = moss_index(belief, arm, total, params[0])
        second = max(second, min(best, index))
        chosen = arm if index > best else chosen
        best = max(best, index)
    if second < best - TIED:
        return chosen
    return argmax_at_random(moss_indices(belief, params[0]), rng)


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
