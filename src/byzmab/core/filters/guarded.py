"""Guarded: pool what is heard, trim it by how hard it pulls, doubt what is young. Ours, and what we recommend.

Nobody counts for more than C pulls, C being one's own count or the (f+1)-th largest that is told: at least one
honest neighbour has as many. Reports are trimmed by their *pull* on the estimate, c (x̄ − centre), not by their mean:
a lie that is kept pulls no harder than an honest report that was trimmed, whatever counts are told. So a noisy honest
report with few pulls is no cover for a lie with many. docs/concepts/theory.md has the theorem, for `proven=1`, and
says what is only measured: the recommended setting, whose doubt is smaller and fades as evidence grows.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.differences import AUTO
from byzmab.core.filters.base import CAPPED_COUNTS, Filter
from byzmab.core.filters.fates import IMPLAUSIBLE, UNUSED, move_place, tell, tell_all
from byzmab.core.filters.medians import FEW, median_of_few, median_with
from byzmab.core.filters.pull import cap_of, pool_around
from byzmab.core.liars import ENOUGH_PER_LIAR
from byzmab.core.report import Fates, Floats, Heard, Middle
from byzmab.core.sorting import sort_few, sort_reports, value_at

BIAS, CAUTION, FADE, PROVEN = range(4)  # where the parameters are
IMPOSSIBLE = 4.0  # c (x̄ − centre)² above this + ½ ln c: four and a half standard errors at ten pulls, more at more
SURELY = 24.0  # IMPOSSIBLE + ½ ln c is less for any count up to 10¹⁷, so that no logarithm is needed above it
TRIMMED_PULLS_KNOW = 0.9  # what a trimmed mean knows of those it is made from, less f: measured
MODERATE = 2.0  # standard errors by which a lie may raise the doubt: more is not believed to be honest
ALL_WITH_ALL = 24  # up to so many reports are sorted by comparing all with all


@compiled
def liars_left(f: int, silent: int) -> int:
    """f among those who tell: one who should tell and does not is one of the f, unless more are away than can lie."""
    return f - silent if silent <= f else f


@compiled
def is_impossible(distance: float, count: float) -> bool:
    """Whether no honest report of so many pulls lies so far off; the chance falls with every count."""
    far = distance * distance * count
    return far > IMPOSSIBLE and (far > SURELY or far > IMPOSSIBLE + 0.5 * math.log(count))


@compiled
def distance_of(mean: float, centre: float, own_mean: float) -> float:
    """How far a mean is from the centre and from one's own, whichever is nearer: either may be the unlucky one."""
    return min(abs(mean - centre), abs(mean - own_mean))


@compiled
def strangeness(mean: float, count: float, centre: float, own_mean: float) -> float:
    """c (distance)² of a report that no honest agent sends, and 0 of any other."""
    distance = distance_of(mean, centre, own_mean)
    return distance * distance * count if is_impossible(distance, count) else 0.0


@compiled
def drop_impossible(heard: Heard, centre: float, f: int) -> int:
    """Drop the at most f reports that no honest agent sends, the farthest first; return how many are left."""
    own_pulls, own_mean, pulls, means = heard.own_pulls, heard.own_mean, heard.pulls, heard.means
    suspects = 0
    for report in range(pulls.size):
        distance = distance_of(means[report], centre, own_mean)
        suspects += distance * distance * min(pulls[report], own_pulls) > IMPOSSIBLE
    if suspects == 0:
        return pulls.size
    if suspects > f:
        return drop_strangest(own_pulls, own_mean, centre, pulls, means, f, heard.fates)
    kept = 0
    for report in range(pulls.size):
        far = strangeness(means[report], min(pulls[report], own_pulls), centre, own_mean)
        tell(heard.fates, report, UNUSED if far == 0.0 else IMPLAUSIBLE)
        pulls[kept], means[kept] = pulls[report], means[report]
        move_place(heard.fates, report, kept)
        kept += far == 0.0
    return kept


@compiled_noinline
def drop_strangest(
    own_pulls: float, own_mean: float, centre: float, pulls: Floats, means: Floats, f: int, fates: Fates | None
) -> int:
    """Drop the at most f strangest of the impossible reports; return how many are left."""
    sort_reports(pulls, means, fates)  # of equally strange ones the first go
    size, kept, impossible = pulls.size, 0, 0
    if f == 0:
        return size
    strange, ordered = np.empty(size), np.empty(size)
    for report in range(size):
        far = strangeness(means[report], min(pulls[report], own_pulls), centre, own_mean)
        strange[report], ordered[report] = far, far
        impossible += far > 0.0
    limit = value_at(size - f, ordered) if impossible > f else 0.0
    at_limit = f if limit > 0.0 else 0  # so many of those at the limit go: f without those beyond it
    for report in range(size):
        at_limit -= limit > 0.0 and strange[report] > limit
    for report in range(size):
        goes = strange[report] > limit
        if strange[report] == limit and at_limit > 0:
            goes, at_limit = True, at_limit - 1
        if goes:
            tell(fates, report, IMPLAUSIBLE)
        pulls[kept], means[kept] = pulls[report], means[report]
        move_place(fates, report, kept)
        kept += not goes
    return kept


@compiled
def deviation_at(estimate: float, weight: float) -> float:
    """The largest standard deviation of rewards whose mean may lie one standard error nearer to ½ than the estimate."""
    variance = max(0.0, estimate * (1.0 - estimate))
    off = max(0.0, abs(estimate - 0.5) - math.sqrt(variance / weight) - 1.0 / weight)
    return math.sqrt(max(0.0, 0.25 - off * off))


@compiled
def measured_doubt(lift: float, lies: float, deviation: float, weight: float, params: Floats) -> float:
    """The doubt of the recommended setting: caution while little was heard, and what trimming may have taken away.

    `lift` is by how much the estimate rises if only those who pull down are left out: if the f who pull down hardest
    are the Byzantine agents, the estimate is too low by that much. `lies` is the most that lies of moderate size raise
    it by.
    """
    young = params[FADE] / (params[FADE] + weight)
    doubt = params[CAUTION] * deviation * math.sqrt(young / weight)
    return float(doubt + params[BIAS] * young * min(max(lift, 0.0), lies))


@compiled
def proven_room(
    n: float, cap: float, off: float, counts: Floats, kept: float, neighbours: int, f: int
) -> tuple[float, float]:
    """The weight and the doubt of the theorem; `off` is the distance of the centre from one's own mean.

    docs/concepts/theory.md: b of the reports are kept, W pulls in all, and c is the fewest pulls of a report.
    """
    b, total, fewest = counts.size - 2 * f, n + kept, cap
    for count in counts:
        fewest = min(fewest, count)
    # ln of how many sets of b there are among the neighbours, and of how many b there may be
    sets = math.lgamma(neighbours + 1.0) - math.lgamma(b + 1.0) - math.lgamma(neighbours - b + 1.0)
    sets += math.log(neighbours)
    uneven = f * (cap - fewest)
    scale = math.sqrt(n + b * cap) + uneven / math.sqrt(n)
    doubt = b * math.sqrt(cap) + math.sqrt(0.5 * sets * (n + b * cap)) + uneven * off
    return (total / scale) ** 2, doubt / total


@compiled
def keep_counts_of(least: float, pulls: Floats, means: Floats, fates: Fates | None) -> int:
    """Move the reports with at least so many pulls to the front, in their order; return how many there are."""
    left = 0
    for report in range(pulls.size):
        pulls[left], means[left] = pulls[report], means[report]
        move_place(fates, report, left)
        left += pulls[report] >= least
    return left


@compiled
def believe_proven(heard: Heard) -> tuple[float, float, float]:
    """The mean of what does not pull too hard, with the weight and the doubt of the theorem."""
    n, mean, neighbours, fates = heard.own_pulls, heard.own_mean, heard.means.size, heard.fates
    f = liars_left(heard.f, heard.silent)
    tell_all(fates, UNUSED)
    if neighbours <= 2 * f:
        return mean, n, 0.0
    left = keep_counts_of(0.5 * cap_of(n, heard.pulls, f, 0), heard.pulls, heard.means, fates)
    pulls, means = heard.pulls[:left], heard.means[:left]
    if left <= 2 * f:
        return mean, n, 0.0
    sort_reports(pulls, means, fates)
    centre, cap = median_with(mean, means), cap_of(n, pulls, f, 0)
    _, left_in = pool_around(centre, cap, pulls, means, f, fates)
    estimate = centre + (n * (mean - centre) + left_in.total) / (n + left_in.kept)
    weight, doubt = proven_room(n, cap, abs(centre - mean), pulls, left_in.kept, neighbours, f)
    return estimate, weight, doubt


@compiled
def believe_measured(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """The mean of what does not pull too hard, its weight, and the doubt that is left."""
    n, mean, pulls, means, centre = heard.own_pulls, heard.own_mean, heard.pulls, heard.means, middle.centre
    f = liars_left(heard.f, heard.silent)
    if pulls.size + middle.size <= ENOUGH_PER_LIAR * f:
        tell_all(heard.fates, UNUSED)
        return mean, n, 0.0
    left = drop_impossible(heard, centre, f)
    f -= pulls.size - left
    cap = cap_of(n, pulls[:left], f, middle.at_least_own)
    told, left_in = pool_around(centre, cap, pulls[:left], means[:left], f, heard.fates)
    between, rewards = n + middle.pulls, n * (mean - centre) + (middle.rewards - centre * middle.pulls)
    kept = between + left_in.kept
    estimate = centre + (rewards + left_in.total) / kept
    weight = max(kept, n + TRIMMED_PULLS_KNOW * (told + middle.pulls - f * cap))
    upper_kept = between + left_in.upper_kept
    lift = centre + (rewards + left_in.upper_total) / upper_kept - estimate
    deviation = deviation_at(estimate, weight)
    lies = f * MODERATE * deviation * math.sqrt(cap) / upper_kept
    return estimate, weight, measured_doubt(lift, lies, deviation, weight, heard.params)


@compiled_noinline
def sort_for_centre(pulls: Floats, means: Floats, fates: Fates | None) -> None:
    """Sort reports by mean."""
    if fates is None and means.size <= ALL_WITH_ALL:
        sort_few(pulls, means)
    else:
        sort_reports(pulls, means, fates)


@compiled
def believe_recommended(heard: Heard) -> tuple[float, float, float]:
    """What was measured to be better than what is proven."""
    if heard.means.size <= FEW:
        centre = median_of_few(heard.own_mean, heard.means)
    else:
        sort_for_centre(heard.pulls, heard.means, heard.fates)
        centre = median_with(heard.own_mean, heard.means)
    return believe_measured(heard, Middle(0, 0.0, 0.0, 0.0, 0, centre))


@compiled
def believe(heard: Heard) -> tuple[float, float, float]:
    """What the theorem says, or what was measured to be better."""
    return believe_proven(heard) if heard.params[PROVEN] > 0.0 else believe_recommended(heard)


@compiled
def believe_dense(heard: Heard, middle: Middle) -> tuple[float, float, float]:
    """`believe` where most reports are told together; for the theorem they are all told one by one."""
    return believe_proven(heard) if heard.params[PROVEN] > 0.0 else believe_measured(heard, middle)


@compiled
def drops(params: Floats, time: int) -> tuple[float, bool]:
    """What is impossible, and what pulls hardest; with the constants of the theorem anything."""
    return -1.0 if params[PROVEN] > 0.0 else IMPOSSIBLE, True


WITHOUT_PROOF = {believe: believe_recommended, believe_dense: believe_measured}  # the same where `proven` is 0


@dataclass(frozen=True)
class Guarded(Filter):
    """Ours, recommended: pools capped counts, trims by pull on the estimate, doubts what is young; proven variant."""

    parameters = (
        "guarded:2,2.5,40, how many times what trimming took off and how many standard errors are doubted, both 0 or "
        "more, and the pulls after which doubt fades, above 0; guarded:proven=1 for the theorem's constants; "
        "guarded:spread=auto, how far the true means of agents differ: measured if auto, none if 0, or a bound up to 1"
    )
    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)
    drops = staticmethod(drops)
    depends_on = CAPPED_COUNTS
    words: ClassVar[Mapping[str, float]] = {"auto": AUTO}
    audits = True
    steady = True
    bias: float = 2.0  # these three are measured, not derived
    caution: float = 2.5
    fade: float = 40.0
    proven: int = 0
    spread: float = AUTO

    @property
    def spread_between_agents(self) -> float:
        """How far the true means of agents may differ; the theorem is about equal ones."""
        return 0.0 if self.proven else self.spread

    def played(self, name: str) -> Any:
        """Without what is proven where it is not asked for: half of what there is to compile."""
        whole = super().played(name)
        return whole if self.proven else WITHOUT_PROOF.get(whole, whole)

    def __post_init__(self) -> None:
        doubts = 0.0 <= self.bias < math.inf and 0.0 <= self.caution < math.inf and 0.0 < self.fade < math.inf
        spread = self.spread == AUTO or (0.0 <= self.spread <= 1.0 and not (self.proven and self.spread))
        if not doubts or self.proven not in (0, 1) or not spread:
            raise self.misunderstood(f"{self.bias},{self.caution},{self.fade},{self.proven},spread={self.spread}")
