r"""Trimmed: the paper's filter, and `mean`, the same without trimming.

Paper: Algorithm 1, Filter(i, k, t). Step A keeps the neighbours with κ n_j ≥ n_i; step B drops the f
largest and the f smallest means of more than 2f; what is left is averaged with one's own. The estimate
is worth n / g pulls, g = κ/4 + κ/(4(|B|+1)) + 1/(|B|+1)², or g = 1 where nobody is left.
"""

from dataclasses import dataclass

from byzmab.core.board import CONSISTENT_MEANS
from byzmab.core.compiler import compiled
from byzmab.core.ends import Middle
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate, without_extremes
from byzmab.core.report import Floats
from byzmab.core.sorting import sort


@compiled
def sum_without_extremes(values: Floats, f: int) -> float:
    """The sum of more than 2f values without the f largest and the f smallest.

    For f ≤ 2 the extremes seen so far are kept in registers: each further value pushes out the one
    that is no extreme any more, and that one is added. Nothing is subtracted, so that no lie, however
    large, costs a digit.
    """
    total = 0.0
    if f == 0:
        for value in values:
            total += value
    elif f == 1:
        low, high = min(values[0], values[1]), max(values[0], values[1])
        for value in values[2:]:
            value, high = min(value, high), max(value, high)
            low, value = min(value, low), max(value, low)
            total += value
    elif f == 2:
        low, high = min(values[0], values[1]), max(values[0], values[1])
        low_2, high_2 = min(values[2], values[3]), max(values[2], values[3])
        # low ≤ low_2 and high_2 ≤ high, the middle pair in low_2 and high_2
        low, low_2 = min(low, low_2), max(low, low_2)
        high_2, high = min(high, high_2), max(high, high_2)
        low_2, high_2 = min(low_2, high_2), max(low_2, high_2)
        for value in values[4:]:
            value, high = min(value, high), max(value, high)
            value, high_2 = min(value, high_2), max(value, high_2)
            low, value = min(value, low), max(value, low)
            low_2, value = min(value, low_2), max(value, low_2)
            total += value
    else:
        sort(values)
        for place in range(f, values.size - f):
            total += values[place]
    return total


@compiled
def average(own_pulls: float, own_mean: float, total: float, kept: int, kappa: float) -> tuple[float, float, float]:
    """The average of one's own mean and those kept, worth n / g."""
    share = 1.0 / (kept + 1)  # 1 / (|B| + 1)
    width = 0.25 * kappa * (1.0 + share) + share * share  # g
    return (own_mean + total) * share, own_pulls / width, 0.0


@compiled
def believe(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The average of one's own mean and the consistent means that are not extreme."""
    if means.size <= 2 * f:
        return own_mean, own_pulls, 0.0
    return average(own_pulls, own_mean, sum_without_extremes(means, f), means.size - 2 * f, kappa)


@compiled
def believe_dense(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The same of sorted reports, most of them summed up."""
    kept = means.size + middle.size - 2 * f
    if kept <= 0:
        return own_mean, own_pulls, 0.0
    total = middle.means
    for place in range(f, means.size - f):
        total += means[place]
    return average(own_pulls, own_mean, total, kept, kappa)


@compiled
def believe_everyone(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The same with nobody trimmed."""
    return believe(own_pulls, own_mean, pulls, means, 0, kappa, time)


@compiled
def believe_everyone_dense(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """The same with nobody trimmed."""
    return believe_dense(own_pulls, own_mean, pulls, means, middle, 0, kappa, time)


def explain(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> dict[int, Fate]:
    """Kept unless among the f largest or f smallest; with 2f or fewer nobody is."""
    return without_extremes(range(means.size), pulls, means, f)


def explain_everyone(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> dict[int, Fate]:
    """All kept."""
    return dict.fromkeys(range(means.size), Fate.KEPT)


@dataclass(frozen=True)
class Trimmed(Filter):
    """The paper's filter: consistent neighbours without the f largest and f smallest means."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    explain = staticmethod(explain)
    stale_when = CONSISTENT_MEANS
    consistency = True


@dataclass(frozen=True)
class Mean(Filter):
    """All consistent neighbours, none trimmed: no defence; shows what trimming is for."""

    believe = staticmethod(believe_everyone)
    believe_dense = staticmethod(believe_everyone_dense)
    explain = staticmethod(explain_everyone)
    stale_when = CONSISTENT_MEANS
    consistency = True
    trims = False
