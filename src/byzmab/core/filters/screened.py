"""Screened: drop what an honest agent could hardly have sent, then pool, and doubt the rest. Ours; no proof.

A report is implausible when its mean is farther from the median of all means than √(w ln t / c). Here c is the pulls it
carries and w the window. At most f such reports are dropped, the farthest first, and each one lowers f. What Byzantine
agents may still have left in the pooled mean is added to the index as doubt.
"""

import math
from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import EVERY_ROUND, Filter
from byzmab.core.filters.fates import IMPLAUSIBLE, UNUSED, move_place, tell
from byzmab.core.filters.medians import median_with
from byzmab.core.filters.pooled import cap, cap_and_sort, pool
from byzmab.core.report import Floats, Heard, Middle
from byzmab.core.sorting import take_out

WINDOW, DOUBT = range(2)  # where the parameters are


@compiled
def limit_of(window: float, time: int) -> float:
    """w ln t: how large (distance from the median)² c of a plausible report may be."""
    return window * math.log(max(time, 1))


@compiled
def is_outside(shift: float, count: float, limit: float) -> bool:
    """Whether a report is outside its window: shift² c > w ln t; a window of 1 or more has no outside."""
    return shift**2 * count > limit and count > limit


@compiled
def drop_implausible(heard: Heard, centre: float, limit: float) -> int:
    """Drop the at most f reports farthest outside their window, keeping the order; return how many are left."""
    pulls, means, f, fates = heard.pulls, heard.means, heard.f, heard.fates
    left, plausible = pulls.size, 0
    if limit <= 0.0:
        return left  # ln t = 0 makes no window
    for report in range(left):
        plausible += not is_outside(means[report] - centre, pulls[report], limit)
    if left - plausible <= f:  # all go
        kept = 0
        for report in range(left):
            outside = is_outside(means[report] - centre, pulls[report], limit)
            tell(fates, report, IMPLAUSIBLE if outside else UNUSED)
            pulls[kept], means[kept] = pulls[report], means[report]
            move_place(fates, report, kept)
            kept += not outside
        return kept
    for _ in range(f):
        farthest, worst = -1, limit
        for report in range(left):
            far = (means[report] - centre) ** 2 * pulls[report]
            if far > worst and pulls[report] > limit:
                farthest, worst = report, far
        tell(fates, farthest, IMPLAUSIBLE)
        left = take_out(farthest, pulls, means, left, fates)
    return left


@compiled
def pool_plausible(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """The pooled mean of plausible reports, with the doubt that is left; reports are capped and sorted."""
    told = drop_implausible(heard, middle.centre, limit_of(heard.params[WINDOW], heard.time))
    f = heard.f - (heard.pulls.size - told)
    left = told + middle.size
    estimate, weight = pool(heard, told, middle, f)
    if f == 0 or left <= 2 * f:
        return estimate, weight, 0.0
    share = f / (left - 2 * f + 1.0)
    return estimate, weight, heard.params[DOUBT] * share * math.sqrt(2.0 * math.log(left / f) / heard.own_pulls)


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The pooled mean of plausible reports, with the doubt that is left."""
    cap_and_sort(heard)
    return pool_plausible(heard, Middle(0, 0.0, 0.0, 0.0, 0, median_with(heard.own_mean, heard.means)))


@compiled
def believe_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """`believe` of sorted reports, most of them summed up; capping keeps their order."""
    cap(heard.own_pulls, heard.pulls)
    return pool_plausible(heard, middle)


@compiled
def drops(params: Floats, time: int) -> tuple[float, bool]:
    """What is outside its window, and extreme means."""
    limit = limit_of(params[WINDOW], time)
    return limit if limit > 0.0 else math.inf, False


@dataclass(frozen=True)
class Screened(Filter):
    """Ours: drops implausible reports, pools the rest and doubts what is left; no proof."""

    parameters = (
        "screened:1,0.3, the window, above 0, as a multiple of ln t / c, and the share of the largest bias that is "
        "doubted, 0 or more; 1 and 0.3 if not given"
    )
    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    drops = staticmethod(drops)
    depends_on = EVERY_ROUND
    window: float = 1.0
    doubt: float = 0.3  # measured, not derived

    def __post_init__(self) -> None:
        if not (0.0 < self.window < math.inf and 0.0 <= self.doubt < math.inf):
            raise self.misunderstood(f"window={self.window},doubt={self.doubt}")
