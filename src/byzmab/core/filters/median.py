"""Median: of one's own mean and the consistent ones. Robust, with no claim of gain."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import CONSISTENT_MEANS, Filter
from byzmab.core.filters.fates import KEPT, tell_all
from byzmab.core.filters.medians import FEW, median_of_few, median_with
from byzmab.core.report import Heard
from byzmab.core.sorting import sort


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The median of one's own mean and the consistent ones, worth one's own pulls."""
    tell_all(heard.fates, KEPT)  # each has its rank in the order
    if heard.means.size <= FEW:
        return median_of_few(heard.own_mean, heard.means), heard.own_pulls, 0.0
    sort(heard.means)
    return median_with(heard.own_mean, heard.means), heard.own_pulls, 0.0


@dataclass(frozen=True)
class Median(Filter):
    """The median of one's own and the consistent means, worth one's own pulls."""

    believe = staticmethod(believe)
    depends_on = CONSISTENT_MEANS
    consistency = True
    trims = False
