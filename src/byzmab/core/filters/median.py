"""Median: of one's own mean and the consistent ones. Robust, with no claim of gain."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import CONSISTENT_MEANS, Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Floats, Heard
from byzmab.core.sorting import sort


@compiled
def median_with(own_mean: float, means: Floats) -> float:
    """The median of a value and some sorted ones."""
    below = 0
    while below < means.size and means[below] < own_mean:
        below += 1
    # the sorted whole is means[:below], own_mean, means[below:]
    middle = 0.0
    low, high = means.size // 2, (means.size + 1) // 2
    for rank in (low, high):
        if rank == below:
            middle += own_mean
        else:
            middle += means[rank] if rank < below else means[rank - 1]
    return middle / 2.0


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The median of one's own mean and the consistent ones, worth one's own pulls."""
    sort(heard.means)
    return median_with(heard.own_mean, heard.means), heard.own_pulls, 0.0


def explain(heard: Heard) -> dict[int, Fate]:
    """Kept: every consistent report has its rank in the order."""
    return dict.fromkeys(range(heard.means.size), Fate.KEPT)


@dataclass(frozen=True)
class Median(Filter):
    """The median of one's own and the consistent means, worth one's own pulls."""

    believe = staticmethod(believe)
    explain = staticmethod(explain)
    depends_on = CONSISTENT_MEANS
    consistency = True
    trims = False
