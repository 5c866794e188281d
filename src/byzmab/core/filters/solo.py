"""Solo: hears nobody. The non-cooperative counterpart of every experiment."""

from dataclasses import dataclass

from byzmab.core.board import ANY_REPORT
from byzmab.core.compiler import compiled
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Floats


@compiled
def believe(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """One's own sample mean, worth one's own pulls."""
    return own_mean, own_pulls, 0.0


def explain(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> dict[int, Fate]:
    """Nobody is heard."""
    return dict.fromkeys(range(means.size), Fate.UNUSED)


@dataclass(frozen=True)
class Solo(Filter):
    """Hears nobody: what an agent would do alone."""

    believe = staticmethod(believe)
    explain = staticmethod(explain)
    stale_when = ANY_REPORT
    hears = False
    trims = False
