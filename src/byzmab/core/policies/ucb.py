"""Upper confidence bounds: `ucb`, with nobody heard UCB1 of Auer et al. 2002, and the paper's `tuned`."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random
from byzmab.core.report import Belief, Floats, Words


@compiled
def upper_bounds(belief: Belief, width: float) -> Floats:
    """z + √(width / w) + d of every arm."""
    return belief.estimates + np.sqrt(width / belief.weights) + belief.doubts


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
    return argmax_at_random(upper_bounds(belief, width), rng)


@compiled
def width_of_ucb(time: int) -> float:
    """2 ln t."""
    return 2.0 * math.log(max(time, 1))


@compiled
def width_of_tuned(time: int) -> float:
    """ln t / 4."""
    return math.log(max(time, 1)) / 4.0


@compiled
def ucb(belief: Belief, time: int, rng: Words) -> int:
    """The arm with the highest upper confidence bound. Paper: Section 3, decision making."""
    return upper_bound(belief, width_of_ucb(time), rng)


@compiled
def tuned(belief: Belief, time: int, rng: Words) -> int:
    """The same with the paper's tuned width, an eighth of the variance. Paper: appendix, additional simulations."""
    return upper_bound(belief, width_of_tuned(time), rng)


def explain_ucb(belief: Belief, time: int, rng: Words) -> Floats:
    """The upper confidence bounds."""
    return upper_bounds(belief, width_of_ucb(time))


def explain_tuned(belief: Belief, time: int, rng: Words) -> Floats:
    """The same with the tuned width."""
    return upper_bounds(belief, width_of_tuned(time))


@dataclass(frozen=True)
class Ucb(Policy):
    """z + √(2 ln t / w) + d; with no neighbours this is UCB1."""

    choose = staticmethod(ucb)
    explain = staticmethod(explain_ucb)


@dataclass(frozen=True)
class Tuned(Policy):
    """z + √(ln t / (4 w)) + d: the paper's tuned parameter."""

    choose = staticmethod(tuned)
    explain = staticmethod(explain_tuned)
