"""Upper confidence bounds: `ucb`, with nobody heard UCB1 of Auer et al. 2002, and the paper's `tuned`."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random
from byzmab.core.report import Belief, Words


@compiled
def upper_bound(belief: Belief, width: float, rng: Words) -> int:
    """The arm with the largest z + √(width / w) + d; an array is made only where arms are tied."""
    chosen, best, second = 0, -math.inf, -math.inf
    for arm in range(belief.estimates.size):
        index = belief.estimates[arm] + math.sqrt(width / belief.weights[arm]) + belief.doubts[arm]
        second = max(second, min(best, index))
        chosen = arm if index > best else chosen
        best = max(best, index)
    if second < best - TIED:
        return chosen
    return argmax_at_random(belief.estimates + np.sqrt(width / belief.weights) + belief.doubts, rng)


@compiled
def ucb(belief: Belief, time: int, rng: Words) -> int:
    """The arm with the highest upper confidence bound. Paper: Section 3, decision making."""
    return upper_bound(belief, 2.0 * math.log(max(time, 1)), rng)


@compiled
def tuned(belief: Belief, time: int, rng: Words) -> int:
    """The same with the paper's tuned width, an eighth of the variance. Paper: appendix, additional simulations."""
    return upper_bound(belief, math.log(max(time, 1)) / 4.0, rng)


@dataclass(frozen=True)
class Ucb(Policy):
    """z + √(2 ln t / w) + d; with no neighbours this is UCB1."""

    choose = staticmethod(ucb)


@dataclass(frozen=True)
class Tuned(Policy):
    """z + √(ln t / (4 w)) + d: the paper's tuned parameter."""

    choose = staticmethod(tuned)
