"""Solo: hears nobody. The non-cooperative counterpart of every experiment."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import ANY_REPORT, Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Heard


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """One's own sample mean, worth one's own pulls."""
    return heard.own_mean, heard.own_pulls, 0.0


def explain(heard: Heard) -> dict[int, Fate]:
    """Nobody is heard."""
    return dict.fromkeys(range(heard.means.size), Fate.UNUSED)


@dataclass(frozen=True)
class Solo(Filter):
    """Hears nobody: what an agent would do alone."""

    believe = staticmethod(believe)
    explain = staticmethod(explain)
    depends_on = ANY_REPORT
    hears = False
    trims = False
