"""Agents differ: how far an agent's arms are from its neighbours', and how much their reports are worth then.

Let the true means of an agent lie a standard deviation τ from what its neighbours believe. Then the mean of their W
pulls is worth no more than 1 / (1/W + τ²/v) pulls of its own, v being the variance of a reward. That is never more than
v/τ². τ² is measured by moments, over all arms at once, from own means and what a filter makes of the reports alone:

    (x̄ − z)² − v/n − v/W        of an arm; its mean is τ², and its variance is 2 (v/n + v/W)² where τ = 0

Byzantine agents can enlarge τ, after which an agent learns alone, but not hide a difference: own rewards show it.
docs/concepts/worlds.md has what was measured, docs/decisions/0020-agents-that-differ.md why it is so.
"""

import math
from typing import NamedTuple

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.report import Belief, Floats

AUTO = -1.0  # of a filter's `spread`: measure it
LEAST_SHARE = 0.1  # of its pulls that a report must be worth to be heard at all
EVERY = 20  # rounds between two measurements
LEAST = 8.0  # pulls, own ones and others', of arms that are measured
DEVIATIONS = 2.0  # standard deviations of the measurement that are taken off it: less is no difference
NARROW = 0.3  # standard errors above the own mean up to which doubt always reaches


@compiled
def own_variance(pulls: float, mean: float) -> float:
    """v: the largest variance of rewards in [0, 1] at the own mean, half a success and half a failure added."""
    smoothed = (pulls * mean + 0.5) / (pulls + 1.0)
    return smoothed * (1.0 - smoothed)


@compiled
def worth_of(pulls: float, own_pulls: float, difference: float, variance: float) -> float:
    """What a neighbour's pulls are worth, 1 / (1/c + τ²/v) with c = min(n_j, n_i); 0, unheard, where that is little."""
    if difference == 0.0:
        return pulls
    counted = min(pulls, own_pulls)
    share = 1.0 / (1.0 + counted * difference / variance)
    return counted * share if share >= LEAST_SHARE else 0.0


@compiled
def is_due(spread: float, time: int, epoch: int) -> bool:
    """Whether differences are measured in this round; `epoch` is the number of rounds between two decisions."""
    return bool(spread == AUTO and time > 0 and time % EVERY < epoch)


class Moments(NamedTuple):
    """Sums over arms from which τ² is measured."""

    precision: float
    total: float


NOTHING = Moments(0.0, 0.0)


@compiled
def with_arm(moments: Moments, own: float, others: float, apart: float, variance: float) -> Moments:
    """The moments with one arm more: own and others' pulls, how far the means are apart, and v."""
    if own < LEAST or others < LEAST:
        return moments
    noise = variance * (1.0 / own + 1.0 / others)
    precision = 0.5 / (noise * noise)
    return Moments(moments.precision + precision, moments.total + precision * (apart * apart - noise))


@compiled
def difference_of(moments: Moments) -> float:
    """τ², less what may be noise."""
    if moments.precision == 0.0:
        return 0.0
    return max(0.0, moments.total / moments.precision - DEVIATIONS / math.sqrt(moments.precision))


@compiled
def measure_neighbour(pulls: Floats, means: Floats, told_pulls: Floats, told_means: Floats) -> float:
    """τ² of one neighbour, from own tallies and its report."""
    moments = NOTHING
    for arm in range(pulls.size):
        variance = own_variance(pulls[arm], means[arm])
        moments = with_arm(moments, pulls[arm], told_pulls[arm], means[arm] - told_means[arm], variance)
    return difference_of(moments)


@compiled
def measure_difference(pulls: Floats, means: Floats, belief: Belief) -> float:
    """τ², less what may be noise, from own tallies and what a filter believes of every arm."""
    moments = NOTHING
    for arm in range(pulls.size):
        own, others = pulls[arm], belief.weights[arm] - pulls[arm]
        if others > 0.0:
            apart = (means[arm] - belief.estimates[arm]) * (1.0 + own / others)  # own mean less that of the others
            moments = with_arm(moments, own, others, apart, own_variance(own, means[arm]))
    return difference_of(moments)


@compiled
def limit_others(
    pulls: Floats, means: Floats, dirty: np.uint64, span: tuple[int, int], difference: float, belief: Belief
) -> None:
    """Limit what others are worth by the difference τ², in the beliefs of the dirty arms of a span.

    Doubt shrinks with them, and reaches at least a narrow bound from own data, which no report can take away.
    """
    for arm in range(np.uint64(span[0]), np.uint64(span[1])):
        own, mean = pulls[arm], means[arm]
        others = belief.weights[arm] - own
        if not (dirty >> (arm & np.uint64(63))) & np.uint64(1) or others <= 0.0 or own <= 0.0:
            continue
        variance = own_variance(own, mean)
        if difference > 0.0:
            left = 1.0 / (1.0 / others + difference / variance)
            share = left * (own + others) / (others * (own + left))  # of the others' part in the estimate
            belief.estimates[arm] = mean + share * (belief.estimates[arm] - mean)
            belief.weights[arm], belief.doubts[arm] = own + left, share * belief.doubts[arm]
        reach = mean + NARROW * math.sqrt(variance / own) - belief.estimates[arm]
        belief.doubts[arm] = max(belief.doubts[arm], reach)
