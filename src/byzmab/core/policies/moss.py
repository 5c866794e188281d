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

# ln m ≤ A + B (m − 1) + C (m − 1)² + D (m − 1)³ for m in [1, 2], with an error of 0.0009 at most
A, B, C, D = 0.00045 + 0.000441616, 0.983492818, -0.400035279, 0.109689642
LN_2 = math.log(2.0)
BLOCK = 32  # arms that are looked at together
FRACTION, EXPONENT_BITS, EXPONENT_OF_1 = (1 << 52) - 1, 52, 1023  # of a number with 64 bits


@compiled
def ceiling_of_log(value: float) -> float:
    """Return a number that is at least ln(value) and at most 0.0009 larger, for normal numbers."""
    bits = np.float64(value).view(np.int64)
    above = np.int64((bits & FRACTION) | (EXPONENT_OF_1 << EXPONENT_BITS)).view(np.float64) - 1.0
    return float(((bits >> EXPONENT_BITS) - EXPONENT_OF_1) * LN_2 + (A + above * (B + above * (C + above * D))))


@compiled
def moss_bound(estimate: float, weight: float, total: float, alpha: float) -> float:
    """z + √(α ln(1 + W/w) / w) of one arm."""
    return estimate + math.sqrt(alpha * math.log(1.0 + total / weight) / weight)


@compiled
def totals_of(belief: Belief) -> tuple[float, float]:
    """Return W, the sum of all weights, and that of the own weights.

    numba takes a third of a second to compile `sum` of an array, and nothing for this.
    """
    total, own_total = 0.0, 0.0
    for arm in range(belief.weights.size):
        total += belief.weights[arm]
        own_total += belief.own_weights[arm]
    return total, own_total


@compiled
def is_below(level: float, estimate: float, weight: float, total: float, alpha: float) -> bool:
    """Return True only where the bound of an arm is below a level; it costs neither a logarithm nor a root."""
    gap = level - estimate
    return (gap > 0.0) & (alpha * ceiling_of_log(1.0 + total / weight) < gap * gap * weight)


@compiled
def moss_index(belief: Belief, arm: int, totals: tuple[float, float], alpha: float, level: float) -> float:
    """Return z + √(α ln(1 + W/w) / w) + d of an arm, d limited by the own bound where that matters."""
    total, own_total = totals
    bound, doubt = moss_bound(belief.estimates[arm], belief.weights[arm], total, alpha), belief.doubts[arm]
    if not (doubt > 0.0 and bound + doubt >= level):
        return float(bound + doubt)
    return with_doubt(bound, doubt, moss_bound(belief.own_estimates[arm], belief.own_weights[arm], own_total, alpha))


@compiled
def is_in_race(belief: Belief, arm: int, totals: tuple[float, float], alpha: float, level: float) -> bool:
    """Return False only where the index of an arm is below a level; it has no branch, so loops over it are vectors."""
    total, own_total = totals
    estimate, weight = belief.estimates[arm], belief.weights[arm]
    own = is_below(level, belief.own_estimates[arm], belief.own_weights[arm], own_total, alpha)
    # no doubt lifts an index above the larger one of bound and own bound
    behind = is_below(level, estimate, weight, total, alpha) & own
    return not (behind | is_below(level, estimate + belief.doubts[arm], weight, total, alpha))


@compiled
def next_in_race(belief: Belief, first: int, totals: tuple[float, float], alpha: float, level: float) -> int:
    """Return the first arm from `first` on whose index may reach a level; the number of arms if there is none."""
    arm, arms = first, belief.weights.size
    while arm < arms:
        end, racing = min(arm + BLOCK, arms), 0
        for other in range(np.uint64(arm), np.uint64(end)):
            racing += is_in_race(belief, other, totals, alpha, level)
        if racing > 0:
            break
        arm = end
    while arm < arms and not is_in_race(belief, arm, totals, alpha, level):
        arm += 1
    return arm


@compiled
def moss_indices(belief: Belief, alpha: float, level: float) -> Floats:
    """Return the index of every arm that may reach a level, and −∞ for the others."""
    totals, index = totals_of(belief), np.full(belief.weights.size, -math.inf)
    arm = next_in_race(belief, 0, totals, alpha, level)
    while arm < index.size:
        index[arm] = moss_index(belief, arm, totals, alpha, level)
        arm = next_in_race(belief, arm + 1, totals, alpha, level)
    return index


@compiled
def moss(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """Choose the arm with the largest index; an array is made only where arms are tied."""
    alpha, totals = params[0], totals_of(belief)
    chosen, best, second, level, arm = 0, -math.inf, -math.inf, -math.inf, 0
    while arm < belief.weights.size:
        index = moss_index(belief, arm, totals, alpha, level)
        second = max(second, min(best, index))
        chosen = arm if index > best else chosen
        best = max(best, index)
        level = best - 2.0 * TIED  # arms below it are neither the best nor tied; twice, as indices are rounded
        arm = next_in_race(belief, arm + 1, totals, alpha, level)
    if second < best - TIED:
        return chosen
    return argmax_at_random(moss_indices(belief, alpha, level), rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """Return all indices."""
    return moss_indices(belief, params[0], -math.inf)


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
