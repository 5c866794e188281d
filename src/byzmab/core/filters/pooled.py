"""Pooled: everyone's pulls count, but nobody's for more than one's own. Ours; it has no proof.

No consistency filter: a report carries c = min(n_j, n_i) pulls. The reports with the f largest and the f
smallest means are dropped, and the rest is averaged by the pulls it carries.
"""

from dataclasses import dataclass

import numpy as np

from byzmab.core.board import ANY_REPORT
from byzmab.core.compiler import compiled
from byzmab.core.ends import NO_MIDDLE, Middle
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate, without_extremes
from byzmab.core.report import Floats
from byzmab.core.sorting import sort_reports


@compiled
def cap(own_pulls: float, pulls: Floats) -> None:
    """Cap every count at one's own, in place."""
    for place in range(pulls.size):
        pulls[place] = min(pulls[place], own_pulls)


@compiled
def cap_and_sort(own_pulls: float, pulls: Floats, means: Floats) -> None:
    """Cap every count at one's own and sort reports by mean, equal ones by count, in place."""
    cap(own_pulls, pulls)
    sort_reports(pulls, means)


@compiled
def pool(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int
) -> tuple[float, float]:
    """Average sorted reports without the f first and f last; how many pulls went into it."""
    if pulls.size + middle.size <= 2 * f:
        return own_mean, own_pulls
    total, weight = own_pulls * own_mean + middle.rewards, own_pulls + middle.pulls
    for place in range(f, pulls.size - f):
        total += pulls[place] * means[place]
        weight += pulls[place]
    return total / weight, weight


@compiled
def believe(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The pooled mean of all that is not extreme."""
    cap_and_sort(own_pulls, pulls, means)
    estimate, weight = pool(own_pulls, own_mean, pulls, means, NO_MIDDLE, f)
    return estimate, weight, 0.0


@compiled
def believe_dense(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The same of sorted reports, most of them summed up; capping keeps their order."""
    cap(own_pulls, pulls)
    estimate, weight = pool(own_pulls, own_mean, pulls, means, middle, f)
    return estimate, weight, 0.0


def explain(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> dict[int, Fate]:
    """Kept unless among the f largest or f smallest; with 2f or fewer nobody is."""
    return without_extremes(range(means.size), np.minimum(pulls, own_pulls), means, f)


@dataclass(frozen=True)
class Pooled(Filter):
    """Ours: pools pulls, each report capped at one's own count, extremes dropped; no proof."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    explain = staticmethod(explain)
    stale_when = ANY_REPORT
