"""Pooled: everyone's pulls count, but nobody's for more than one's own. Ours; it has no proof.

No consistency filter: a report carries c = min(n_j, n_i) pulls. The reports with the f largest and the f
smallest means are dropped, and the rest is averaged by the pulls it carries.
"""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.filters.base import CAPPED_COUNTS, Filter
from byzmab.core.filters.fates import tell_trimmed
from byzmab.core.report import NO_MIDDLE, Floats, Heard, Middle
from byzmab.core.sorting import sort_reports


@compiled
def cap(own_pulls: float, pulls: Floats) -> None:
    """Cap every count at one's own, in place."""
    for report in range(pulls.size):
        pulls[report] = min(pulls[report], own_pulls)


@compiled
def cap_and_sort(heard: Heard) -> None:
    """Cap every count at one's own and sort reports by mean, equal ones by count, in place."""
    cap(heard.own_pulls, heard.pulls)
    sort_reports(heard.pulls, heard.means, heard.fates)


@compiled
def pool(heard: Heard, told: int, middle: Middle, f: int) -> tuple[float, float]:
    """Average the first `told` reports, sorted, and the middle, without the f lowest and the f highest.

    Return the average, and how many pulls went into it; one's own where there are 2f reports or fewer.
    """
    tell_trimmed(heard.fates, told, f)
    if told + middle.size <= 2 * f:
        return heard.own_mean, heard.own_pulls
    total, weight = heard.own_pulls * heard.own_mean + middle.rewards, heard.own_pulls + middle.pulls
    for report in range(f, told - f):
        total += heard.pulls[report] * heard.means[report]
        weight += heard.pulls[report]
    return total / weight, weight


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """The pooled mean of all that is not extreme."""
    cap_and_sort(heard)
    estimate, weight = pool(heard, heard.pulls.size, NO_MIDDLE, heard.f)
    return estimate, weight, 0.0


@compiled
def believe_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """`believe` of sorted reports, most of them summed up; capping keeps their order."""
    cap(heard.own_pulls, heard.pulls)
    estimate, weight = pool(heard, heard.pulls.size, middle, heard.f)
    return estimate, weight, 0.0


@dataclass(frozen=True)
class Pooled(Filter):
    """Ours: pools pulls, each report capped at one's own count, extremes dropped; no proof."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    depends_on = CAPPED_COUNTS
