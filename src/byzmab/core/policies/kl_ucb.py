"""KL-UCB: the largest mean that the pulls do not yet rule out, by relative entropy (Garivier & Cappé 2011)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random, with_doubt
from byzmab.core.report import Belief, Floats, Words

MOST_STEPS = 60
SMALL_STEP = 1e-10  # the last: Newton's method squares the error, so that less than 1e-14 is left


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
def pinsker(estimate: float, weight: float, log_time: float) -> float:
    """A bound on the largest mean that is cheap to have: z + √(ln t / 2w)."""
    return min(1.0, estimate + math.sqrt(log_time / (2.0 * weight)))


@compiled
def largest_mean(estimate: float, weight: float, log_time: float) -> float:
    """max{q : w · kl(z, q) ≤ ln t}, for z in [0, 1].

    Newton's steps from where the third-order expansion of kl puts the solution, and halving where a step would leave
    the interval that holds it.
    """
    low, high = estimate, pinsker(estimate, weight, log_time)
    allowed = log_time / weight
    if high - low <= SMALL_STEP:
        return low
    mean = estimate + math.sqrt(2.0 * estimate * (1.0 - estimate) * allowed) + allowed * (1.0 - 2.0 * estimate) / 1.5
    if not low < mean < high:
        mean = 0.5 * (low + high)
    for _ in range(MOST_STEPS):
        excess = bernoulli_kl(estimate, mean) - allowed
        if excess > 0.0:
            high = mean
        else:
            low = mean
        step = excess * mean * (1.0 - mean) / (mean - estimate)  # ∂kl(z, q)/∂q = (q − z) / (q (1 − q))
        following = mean - step
        if abs(step) <= SMALL_STEP * (1.0 - mean):
            return min(max(following, estimate), 1.0)
        mean = following if low < following < high else 0.5 * (low + high)
    return mean


@compiled
def kl_index(belief: Belief, arm: int, log_time: float) -> float:
    """The largest mean of an arm that is not ruled out, plus doubt, limited by the agent's own bound."""
    doubt = belief.doubts[arm]
    bound = largest_mean(min(max(belief.estimates[arm], 0.0), 1.0), belief.weights[arm], log_time)
    if doubt <= 0.0:
        return bound
    own_estimate = min(max(belief.own_estimates[arm], 0.0), 1.0)
    return with_doubt(bound, doubt, largest_mean(own_estimate, belief.own_weights[arm], log_time))


@compiled
def kl_ucb(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest mean not ruled out, plus doubt.

    Arms whose cheap bound lies below the exact index of another are left out of the race.
    """
    log_time = params[0] * math.log(max(time, 1))
    index = np.empty(belief.estimates.size)
    first = 0
    for arm in range(index.size):
        estimate = min(max(belief.estimates[arm], 0.0), 1.0)
        index[arm] = pinsker(estimate, belief.weights[arm], log_time) + belief.doubts[arm]
        if index[arm] > index[first]:
            first = arm
    best = -math.inf
    for turn in range(index.size):
        arm = first if turn == 0 else turn - 1 if turn <= first else turn  # the likely winner comes first
        if index[arm] < best - TIED:
            continue
        index[arm] = kl_index(belief, arm, log_time)
        best = max(best, index[arm])
    return argmax_at_random(index, rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The index of every arm, those included that cannot win."""
    log_time = params[0] * math.log(max(time, 1))
    return np.array([kl_index(belief, arm, log_time) for arm in range(belief.estimates.size)])


@dataclass(frozen=True)
class KlUcb(Policy):
    """max{q : w · kl(z, q) ≤ c ln t} + d; not in the paper."""

    parameters = "kl-ucb:1, the constant c, 0 or more; 1 if not given"
    choose = staticmethod(kl_ucb)
    explain = staticmethod(explain)
    c: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.c < math.inf:
            raise self.misunderstood(self.c)
