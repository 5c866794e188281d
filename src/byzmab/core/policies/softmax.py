"""Softmax: one of the largest estimates, three of them if not said otherwise, drawn with odds e^(z / temperature)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import uniform
from byzmab.core.policies.base import TIED, Policy
from byzmab.core.report import Belief, Floats, Integers, Words

PLACES, TEMPERATURE = range(2)  # where the parameters are


@compiled
def pick_largest(estimates: Floats, taken: Integers, rng: Words) -> int:
    """The arm with the largest estimate of those not taken, ties at random."""
    best, chosen, tied = -math.inf, -1, 0
    for arm in range(estimates.size):
        if taken[arm] == 0:
            best = max(best, estimates[arm])
    for arm in range(estimates.size):
        if taken[arm] == 1 or estimates[arm] < best - TIED:
            continue
        tied += 1
        if tied == 1 or uniform(rng) * tied < 1.0:  # each of the tied stays with chance 1 / tied
            chosen = arm
    return chosen


@compiled
def softmax(belief: Belief, time: int, params: Floats, rng: Words) -> int:
    """Take the largest estimates one after the other, ties at random, and draw one of them by softmax."""
    estimates = belief.estimates
    places = min(int(params[PLACES]), estimates.size)
    arms, odds, taken = np.empty(places, np.int64), np.empty(places), np.zeros(estimates.size, np.int64)
    total = 0.0
    for place in range(places):
        arm = pick_largest(estimates, taken, rng)
        arms[place], odds[place], taken[arm] = arm, math.exp(estimates[arm] / params[TEMPERATURE]), 1
        total += odds[place]
    point, passed = uniform(rng) * total, 0.0
    for place in range(places - 1):
        passed += odds[place]
        if point < passed:
            return int(arms[place])
    return int(arms[places - 1])


def explain(belief: Belief, time: int, params: Floats, rng: Words) -> Floats:
    """The chance of every arm: places are shared by those tied for the last of them."""
    estimates = belief.estimates
    places = min(int(params[PLACES]), estimates.size)
    last = np.sort(estimates)[-places]
    safe, tied = estimates > last + TIED, np.abs(estimates - last) <= TIED
    odds = np.exp(estimates / params[TEMPERATURE]) * (safe + tied * (places - safe.sum()) / tied.sum())
    return np.asarray(odds / odds.sum())


@dataclass(frozen=True)
class Softmax(Policy):
    """One of the three largest z, sampled by softmax at temperature 1."""

    parameters = (
        "softmax:3,1, how many of the largest z, 1 or more, and the temperature, 0.01 or more; those if not given"
    )
    choose = staticmethod(softmax)
    explain = staticmethod(explain)
    worth = "chance"
    places: int = 3
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (1 <= self.places < 2**31 and 0.01 <= self.temperature < math.inf):
            raise self.misunderstood(f"places={self.places},temperature={self.temperature}")
