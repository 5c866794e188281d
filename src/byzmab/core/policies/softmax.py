"""Softmax: one of the three largest estimates, drawn with odds e^z."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import uniform
from byzmab.core.policies.base import TIED, Policy
from byzmab.core.report import Belief, Floats, Words

PLACES = 3


@compiled
def softmax(belief: Belief, time: int, rng: Words) -> int:
    """Give each arm a random rank among its ties, keep the first three, and draw one at temperature 1."""
    estimates = belief.estimates
    places = min(PLACES, estimates.size)
    # filled one place after the other with the largest estimate that is left, ties at random
    first, second, third = -1, -1, -1
    weights = (0.0, 0.0, 0.0)
    for place in range(places):
        best = -math.inf
        tied = 0
        chosen = -1
        for arm in range(estimates.size):
            if arm in (first, second):
                continue
            if estimates[arm] > best:
                best = estimates[arm]
        for arm in range(estimates.size):
            if arm in (first, second) or estimates[arm] < best - TIED:
                continue
            tied += 1
            if tied == 1 or uniform(rng) * tied < 1.0:  # each of the tied stays with chance 1 / tied
                chosen = arm
        weight = math.exp(estimates[chosen])
        if place == 0:
            first, weights = chosen, (weight, 0.0, 0.0)
        elif place == 1:
            second, weights = chosen, (weights[0], weight, 0.0)
        else:
            third, weights = chosen, (weights[0], weights[1], weight)
    point = uniform(rng) * (weights[0] + weights[1] + weights[2])
    if point < weights[0]:
        return first
    if point < weights[0] + weights[1] or third < 0:
        return second
    return third


def explain(belief: Belief, time: int, rng: Words) -> Floats:
    """The chance of every arm: places are shared by those tied for the last of them."""
    estimates = belief.estimates
    places = min(PLACES, estimates.size)
    last = np.sort(estimates)[-places]
    safe, tied = estimates > last + TIED, np.abs(estimates - last) <= TIED
    odds = np.exp(estimates) * (safe + tied * (places - safe.sum()) / tied.sum())
    return np.asarray(odds / odds.sum())


@dataclass(frozen=True)
class Softmax(Policy):
    """One of the three largest z, sampled by softmax at temperature 1."""

    choose = staticmethod(softmax)
    explain = staticmethod(explain)
    worth = "chance"
