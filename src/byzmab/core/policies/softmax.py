"""Softmax: one of the largest estimates, three of them if not said otherwise, drawn with odds e^(z / temperature)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import uniform
from byzmab.core.policies.base import TIED, Policy
from byzmab.core.report import Belief, Floats, Integers, Words

CANDIDATES, TEMPERATURE = range(2)  # where the parameters are


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
def softmax(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """Take the largest estimates one after the other, ties at random, and draw one of them by softmax."""
    estimates = belief.estimates
    candidates = min(int(params[CANDIDATES]), estimates.size)
    arms, odds, taken = np.empty(candidates, np.int64), np.empty(candidates), np.zeros(estimates.size, np.int64)
    total = 0.0
    for rank in range(candidates):
        arm = pick_largest(estimates, taken, rng)
        arms[rank], odds[rank], taken[arm] = arm, math.exp(estimates[arm] / params[TEMPERATURE]), 1
        total += odds[rank]
    point, passed = uniform(rng) * total, 0.0
    for rank in range(candidates - 1):
        passed += odds[rank]
        if point < passed:
            return int(arms[rank])
    return int(arms[candidates - 1])


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The chance of every arm: those tied for the last rank share it."""
    estimates = belief.estimates
    candidates = min(int(params[CANDIDATES]), estimates.size)
    last = np.sort(estimates)[-candidates]
    safe, tied = estimates > last + TIED, np.abs(estimates - last) <= TIED
    odds = np.exp(estimates / params[TEMPERATURE]) * (safe + tied * (candidates - safe.sum()) / tied.sum())
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
    candidates: int = 3
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (1 <= self.candidates < 2**31 and 0.01 <= self.temperature < math.inf):
            raise self.misunderstood(f"candidates={self.candidates},temperature={self.temperature}")
