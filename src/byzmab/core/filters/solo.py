"""Solo: hears nobody. The non-cooperative counterpart of every experiment."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import ANY_REPORT, Filter
from byzmab.core.filters.fates import UNUSED, tell_all
from byzmab.core.report import Heard


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """One's own sample mean, worth one's own pulls."""
    tell_all(heard.fates, UNUSED)
    return heard.own_mean, heard.own_pulls, 0.0


@dataclass(frozen=True)
class Solo(Filter):
    """Hears nobody: what an agent would do alone."""

    believe = staticmethod(believe)
    depends_on = ANY_REPORT
    hears = False
    trims = False
