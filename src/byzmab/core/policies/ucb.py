"""Upper confidence bounds: `ucb`, with nobody heard UCB1 of Auer et al. 2002, and the paper's `tuned`."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import TIED, Policy, argmax_at_random, with_doubt
from byzmab.core.report import Belief, Floats, Words


@compiled
def upper_bound(estimate: float, weight: float, width: float) -> float:
    """z + √(width / w) of one arm."""
    return estimate + math.sqrt(width / weight)


@compiled
def upper_bounds(belief: Belief, width: float) -> Floats:
    """z + √(width / w) + d of every arm, d limited by the agent's own bound."""
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        own = upper_bound(belief.own_estimates[arm], belief.own_weights[arm], width)
        index[arm] = with_doubt(upper_bound(belief.estimates[arm], belief.weights[arm], width), belief.doubts[arm], own)
    return index


@compiled
def largest_bound(belief: Belief, width: float, rng: Words) -> int:
    """The arm with the largest of the `upper_bounds`; an array is made only where arms are tied.

    The own bound is computed only where the whole doubt would win.
    """
    chosen, best, second = 0, -math.inf, -math.inf
    for arm in range(belief.estimates.size):
        bound, doubt = upper_bound(belief.estimates[arm], belief.weights[arm], width), belief.doubts[arm]
        index = bound + doubt
        if doubt > 0.0 and index >= best - TIED:
            index = with_doubt(bound, doubt, upper_bound(belief.own_estimates[arm], belief.own_weights[arm], width))
        second = max(second, min(best, index))
        chosen = arm if index > best else chosen
        best = max(best, index)
    if second < best - TIED:
        return chosen
    return argmax_at_random(upper_bounds(belief, width), rng)


@compiled
def width_at(time: float, alpha: float) -> float:
    """α ln t."""
    return alpha * math.log(max(time, 1))


@compiled
def ucb(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the highest upper confidence bound. Paper: Section 3, decision making."""
    return largest_bound(belief, width_at(time, params[0]), rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The upper confidence bounds."""
    return upper_bounds(belief, width_at(time, params[0]))


@dataclass(frozen=True)
class Ucb(Policy):
    """z + √(α ln t / w) + d; with α = 2 and no neighbours this is UCB1."""

    parameters = "ucb:2, the width constant α, 0 or more; 2, as in UCB1, if not given"
    choose = staticmethod(ucb)
    explain = staticmethod(explain)
    alpha: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha < math.inf:
            raise self.misunderstood(self.alpha)


@dataclass(frozen=True)
class Tuned(Ucb):
    """z + √(ln t / (4 w)) + d: the paper's tuned parameter, `ucb:0.25` by another name."""

    parameters = "tuned:0.25, as for ucb; 0.25 if not given. Paper: appendix, additional simulations"
    alpha: float = 0.25
