"""Filters: from one's own tally and the reports heard to a belief."""

from byzmab.core.filters.base import Filter
from byzmab.core.filters.guarded import Guarded
from byzmab.core.filters.median import Median
from byzmab.core.filters.pooled import Pooled
from byzmab.core.filters.screened import Screened
from byzmab.core.filters.solo import Solo
from byzmab.core.filters.trimmed import Mean, Trimmed
from byzmab.core.plugins import Registry

__all__ = ["FILTERS", "Filter"]

FILTERS = Registry(
    Filter,
    {
        "solo": Solo,
        "trimmed": Trimmed,
        "mean": Mean,
        "median": Median,
        "pooled": Pooled,
        "screened": Screened,
        "guarded": Guarded,
    },
)
