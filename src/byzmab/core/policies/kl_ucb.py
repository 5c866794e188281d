"""KL-UCB: the largest mean that the pulls do not yet rule out, by relative entropy (Garivier & Cappé 2011)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import Policy, argmax_at_random
from byzmab.core.report import Belief, Words

MOST_STEPS = 60
EXACT = 1e-14  # a step so small is the last


@compiled
def bernoulli_kl(p: float, q: float) -> float:
    """The relative entropy of Bernoulli(p) to Bernoulli(q)."""
    divergence = 0.0
    if p > 0.0:
        divergence += p * math.log(p / q)
    if p < 1.0:
        divergence += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return divergence


@compiled
def largest_mean(estimate: float, weight: float, log_time: float) -> float:
    """max{q : w · kl(z, q) ≤ ln t}, which lies at most Pinsker's √(ln t / 2w) above z.

    Newton's steps, and halving where one would leave the interval that holds the solution.
    """
    low = min(max(estimate, 0.0), 1.0)
    high = min(1.0, low + math.sqrt(log_time / (2.0 * weight)))
    estimate, allowed = low, log_time / weight
    if high - low <= EXACT:
        return low
    mean = high if high < 1.0 else 0.5 * (low + high)
    for _ in range(MOST_STEPS):
        excess = bernoulli_kl(estimate, mean) - allowed
        if excess > 0.0:
            high = mean
        else:
            low = mean
        step = excess * mean * (1.0 - mean) / (mean - estimate)  # ∂kl(z, q)/∂q = (q − z) / (q (1 − q))
        following = mean - step
        if not low < following < high:
            following = 0.5 * (low + high)
        if abs(following - mean) <= EXACT:
            return following
        mean = following
    return mean


@compiled
def kl_ucb(belief: Belief, time: int, rng: Words) -> int:
    """The arm with the largest mean not ruled out, plus doubt."""
    log_time = math.log(max(time, 1))
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        index[arm] = largest_mean(belief.estimates[arm], belief.weights[arm], log_time) + belief.doubts[arm]
    return argmax_at_random(index, rng)


@dataclass(frozen=True)
class KlUcb(Policy):
    """max{q : w · kl(z, q) ≤ ln t} + d; not in the paper."""

    choose = staticmethod(kl_ucb)
