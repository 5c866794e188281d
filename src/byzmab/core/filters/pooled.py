"""Pooled: everyone's pulls count, but nobody's for more than one's own. Ours; it has no proof.

No consistency filter: a report carries c = min(n_j, n_i) pulls. The reports with the f largest and the f
smallest means are dropped, and the rest is averaged by the pulls it carries.
"""

from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import CAPPED_COUNTS, Filter
from byzmab.core.filters.fates import Fate, without_extremes
from byzmab.core.report import NO_MIDDLE, Floats, Heard, Middle
from byzmab.core.sorting import sort_reports


@compiled
def cap(own_pulls: float, pulls: Floats) -> None:
    """Cap every count at one's own, in place."""
    for report in range(pulls.size):
        pulls[report] = min(pulls[report], own_pulls)


@compiled
def cap_and_sort(own_pulls: float, pulls: Floats, means: Floats) -> None:
    """Cap every count at one's own and sort reports by mean, equal ones by count, in place."""
    cap(own_pulls, pulls)
    sort_reports(pulls, means)


@compiled
def pool(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int
) -> tuple[float, float]:
    """Average sorted reports without the f first and f last; return it, and how many pulls went into it."""
    if pulls.size + middle.size <= 2 * f:
        return own_mean, own_pulls
    total, weight = own_pulls * own_mean + middle.rewards, own_pulls + middle.pulls
    for report in range(f, pulls.size - f):
        total += pulls[report] * means[report]
        weight += pulls[report]
    return total / weight, weight


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The pooled mean of all that is not extreme."""
    cap_and_sort(heard.own_pulls, heard.pulls, heard.means)
    estimate, weight = pool(heard.own_pulls, heard.own_mean, heard.pulls, heard.means, NO_MIDDLE, heard.f)
    return estimate, weight, 0.0


@compiled
def believe_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """The same of sorted reports, most of them summed up; capping keeps their order."""
    cap(heard.own_pulls, heard.pulls)
    estimate, weight = pool(heard.own_pulls, heard.own_mean, heard.pulls, heard.means, middle, heard.f)
    return estimate, weight, 0.0


def explain(heard: Heard) -> dict[int, Fate]:
    """Kept unless among the f largest or f smallest; with 2f or fewer nobody is."""
    capped = np.minimum(heard.pulls, heard.own_pulls)
    return without_extremes(range(heard.means.size), capped, heard.means, heard.f)


@dataclass(frozen=True)
class Pooled(Filter):
    """Ours: pools pulls, each report capped at one's own count, extremes dropped; no proof."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    explain = staticmethod(explain)
    depends_on = CAPPED_COUNTS
