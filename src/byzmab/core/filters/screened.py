"""Screened: drop what an honest agent could hardly have sent, then pool, and doubt the rest. Ours; no proof.

A report is implausible when its mean is farther from the median of all means than √(ln t / c), c being the
pulls it carries. At most f such reports are dropped, the farthest first, and each one lowers f. What liars may
still have left in the pooled mean is added to the index as doubt.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.board import EVERY_ROUND
from byzmab.core.compiler import compiled
from byzmab.core.ends import NO_MIDDLE
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate, without_extremes
from byzmab.core.filters.median import median_with
from byzmab.core.filters.pooled import cap_and_sort, pool
from byzmab.core.report import Floats

DOUBT = 0.3  # share of the largest bias that is paid for; measured, not derived


@compiled
def drop_implausible(centre: float, pulls: Floats, means: Floats, f: int, time: int) -> int:
    """Drop the at most f reports farthest outside their window, keeping the order; how many are left."""
    left = pulls.size
    log_time = math.log(max(time, 1))  # ln t = 0 makes no window
    for _ in range(f if log_time > 0.0 else 0):
        farthest, worst = -1, log_time
        for place in range(left):
            # (distance / window)² ln t: more than ln t outside the window, and largest for the farthest
            far = (means[place] - centre) ** 2 * pulls[place]
            if far > worst and pulls[place] > log_time:  # a window of 1 or more rules nothing out
                farthest, worst = place, far
        if farthest < 0:
            break
        left -= 1
        for place in range(farthest, left):
            pulls[place], means[place] = pulls[place + 1], means[place + 1]
    return left


@compiled
def believe(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The pooled mean of plausible reports, with the doubt that is left."""
    cap_and_sort(own_pulls, pulls, means)
    left = drop_implausible(median_with(own_mean, means), pulls, means, f, time)
    f -= pulls.size - left
    estimate, weight = pool(own_pulls, own_mean, pulls[:left], means[:left], NO_MIDDLE, f)
    if f == 0 or left <= 2 * f:
        return estimate, weight, 0.0
    share = f / (left - 2 * f + 1.0)
    return estimate, weight, DOUBT * share * math.sqrt(2.0 * math.log(left / f) / own_pulls)


def explain(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> dict[int, Fate]:
    """Implausible, or else as in `pooled` with the f that is left."""
    capped = np.minimum(pulls, own_pulls)
    order = np.lexsort((capped, means))
    left = order.tolist()
    centre, log_time = median_with(own_mean, means[order]), math.log(max(time, 1))
    implausible: dict[int, Fate] = {}
    while len(implausible) < f and log_time > 0.0:
        far = {place: (means[place] - centre) ** 2 * capped[place] for place in left if capped[place] > log_time}
        worst = max(far, key=far.__getitem__, default=None)
        if worst is None or far[worst] <= log_time:
            break
        left.remove(worst)
        implausible[worst] = Fate.IMPLAUSIBLE
    return implausible | without_extremes(left, capped, means, f - len(implausible))


@dataclass(frozen=True)
class Screened(Filter):
    """Ours: drops implausible reports, pools the rest and doubts what is left; no proof."""

    believe = staticmethod(believe)
    explain = staticmethod(explain)
    stale_when = EVERY_ROUND
