r"""Trimmed: the paper's filter, and `mean`, the same without trimming.

Paper: Algorithm 1, Filter(i, k, t). Step A keeps the neighbours with κ n_j ≥ n_i; step B drops the f
largest and the f smallest means of more than 2f; what is left is averaged with one's own. The estimate
is worth n / g pulls, g = κ/4 + κ/(4(|B|+1)) + 1/(|B|+1)², or g = 1 where nobody is left.
"""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import CONSISTENT_MEANS, Filter
from byzmab.core.filters.fates import tell_trimmed
from byzmab.core.report import Fates, Floats, Heard, Middle
from byzmab.core.sorting import sort, sort_reports


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
        for rank in range(f, values.size - f):
            total += values[rank]
    return total


@compiled
def average(heard: Heard, total: float, size: int) -> tuple[float, float, float]:
    """The average of your own mean and those kept, worth n / g; one's own where none is kept."""
    if size <= 0:
        return heard.own_mean, heard.own_pulls, 0.0
    share = 1.0 / (size + 1)  # 1 / (|B| + 1)
    width = 0.25 * heard.kappa * (1.0 + share) + share * share  # g
    return (heard.own_mean + total) * share, heard.own_pulls / width, 0.0


@compiled
def sort_for_fates(pulls: Floats, means: Floats, fates: Fates | None) -> None:
    """Sort reports where somebody asks which of them are extreme; of equal means those with fewer pulls are lower."""
    if fates is not None:
        sort_reports(pulls, means, fates)


@compiled
def digest_without_extremes(heard: Heard, f: int) -> tuple[float, int]:
    """The sum of the means without the f largest and f smallest, and their number; none where 2f or fewer are heard."""
    sort_for_fates(heard.pulls, heard.means, heard.fates)
    tell_trimmed(heard.fates, heard.means.size, f)
    if heard.means.size <= 2 * f:
        return 0.0, 0
    return sum_without_extremes(heard.means, f), heard.means.size - 2 * f


@compiled
def average_dense(heard: Heard, middle: Middle, f: int) -> tuple[float, float, float]:
    """The average without the f largest and f smallest of sorted means, most of them summed up."""
    means = heard.means
    kept = means.size + middle.size - 2 * f
    total = middle.means
    for rank in range(f, means.size - f):
        total += means[rank]
    return average(heard, total, kept)


@compiled
def digest(heard: Heard) -> tuple[float, int]:
    """The sum of the consistent means that are not extreme, and how many there are."""
    return digest_without_extremes(heard, heard.f)


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The average of your own mean and the consistent means that are not extreme."""
    total, kept = digest(heard)
    return average(heard, total, kept)


@compiled
def believe_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """`believe` of sorted reports, most of them summed up."""
    return average_dense(heard, middle, heard.f)


@compiled
def digest_everyone(heard: Heard) -> tuple[float, int]:
    """The sum of all consistent means, and how many there are."""
    return digest_without_extremes(heard, 0)


@compiled
def believe_everyone(heard: Heard) -> tuple[float, float, float]:
    """The average of your own mean and all consistent ones."""
    total, kept = digest_everyone(heard)
    return average(heard, total, kept)


@compiled
def believe_everyone_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """`believe_everyone` of sorted reports, most of them summed up."""
    return average_dense(heard, middle, 0)


@dataclass(frozen=True)
class Trimmed(Filter):
    """The paper's filter: consistent neighbours without the f largest and f smallest means."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    digest = staticmethod(digest)
    believe_digest = staticmethod(average)
    depends_on = CONSISTENT_MEANS
    consistency = True


@dataclass(frozen=True)
class Mean(Filter):
    """All consistent neighbours, none trimmed: no defence; shows what trimming is for."""

    believe = staticmethod(believe_everyone)
    believe_dense = staticmethod(believe_everyone_dense)
    digest = staticmethod(digest_everyone)
    believe_digest = staticmethod(average)
    depends_on = CONSISTENT_MEANS
    consistency = True
    trims = False
