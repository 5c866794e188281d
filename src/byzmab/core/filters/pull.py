"""Trimming by pull: reports are left out not by their mean but by how hard they pull on the estimate, c (x̄ − centre).

A report counts for c = min(n_j, C) pulls, C being one's own count or the (f+1)-th largest that is told.
"""

import math
from typing import NamedTuple

from byzmab.core.compiler import compiled
from byzmab.core.filters.fates import tell_trimmed
from byzmab.core.report import Fates, Floats
from byzmab.core.sorting import precedes, sort_reports, split_reports

FEW = 4  # up to so many extremes are found one by one, more by splitting


class Sums(NamedTuple):
    """Sums over the reports that are left: of their counts, and of their pulls on the estimate."""

    kept: float  # of counts, without the f lowest and the f highest pulls
    total: float  # of pulls, likewise
    upper_kept: float  # without the f lowest alone
    upper_total: float


@compiled
def cap_of(own_pulls: float, pulls: Floats, f: int, others: int) -> float:
    """C: one's own count, or the (f+1)-th largest of more than f others if that is smaller; a whole number.

    `others` have as many pulls as oneself and are not among those told.
    """
    above = others
    for count in pulls:
        above += count >= own_pulls
    bound = own_pulls
    while above <= f:  # the largest count below the bound, until f + 1 have as many
        largest = 0.0
        for count in pulls:
            largest = max(largest, count if count < bound else 0.0)
        for count in pulls:
            above += count == largest
        bound = largest
    return max(1.0, math.floor(bound))


@compiled
def move_extremes_out(counts: Floats, pull: Floats, f: int) -> None:
    """Move the f reports that pull down hardest to the front, and the f that pull up hardest to the end.

    Equal pulls are ordered by count; there are more than 2f reports, or with others between them 2f.
    """
    if f > FEW:
        split_reports(counts, pull, f)
        split_reports(counts[f:], pull[f:], pull.size - 2 * f)
        return
    for low in range(f):
        high = pull.size - 1 - low
        least, most = low, low
        for report in range(low + 1, high + 1):
            if precedes(pull[report], counts[report], pull[least], counts[least]):
                least = report
            if not precedes(pull[report], counts[report], pull[most], counts[most]):
                most = report
        pull[low], pull[least], counts[low], counts[least] = pull[least], pull[low], counts[least], counts[low]
        most = least if most == low else most
        pull[high], pull[most], counts[high], counts[most] = pull[most], pull[high], counts[most], counts[high]


@compiled
def inner_bounds(pull: Floats, f: int) -> tuple[float, float]:
    """The f-th lowest and the f-th highest, f being 1 or 2."""
    low, low_2, high, high_2 = math.inf, math.inf, -math.inf, -math.inf
    for value in pull:
        low, low_2 = min(low, value), min(low_2, max(low, value))
        high, high_2 = max(high, value), max(high_2, min(high, value))
    return (low, high) if f == 1 else (low_2, high_2)


@compiled
def sums_between(counts: Floats, pull: Floats, low: float, high: float) -> tuple[Sums, int, int]:
    """The sums of what lies between two bounds, and above the lower; how many reports are at or outside each."""
    kept, total, upper_kept, upper_total, below, above = 0.0, 0.0, 0.0, 0.0, 0, 0
    for report in range(pull.size):
        count, value = counts[report], pull[report]
        upper, inside = value > low, low < value < high
        kept, total = kept + (count if inside else 0.0), total + (value if inside else 0.0)
        upper_kept, upper_total = upper_kept + (count if upper else 0.0), upper_total + (value if upper else 0.0)
        below, above = below + (value <= low), above + (value >= high)
    return Sums(kept, total, upper_kept, upper_total), below, above


@compiled
def count_at(counts: Floats, pull: Floats, value: float) -> float:
    """The count that all reports of this pull have; -1 where they differ."""
    least, most = math.inf, -math.inf
    for report in range(pull.size):
        least = min(least, counts[report] if pull[report] == value else math.inf)
        most = max(most, counts[report] if pull[report] == value else -math.inf)
    return least if least == most else -1.0


@compiled
def sums_without_extremes(counts: Floats, pull: Floats, f: int, fates: Fates | None = None) -> Sums:
    """What is left without the f lowest and the f highest pulls, and without the f lowest alone."""
    if fates is None and 1 <= f <= 2:
        low, high = inner_bounds(pull, f)
        sums, below, above = sums_between(counts, pull, low, high)
        # of more than f at a bound, all alike, those beyond the f-th are kept
        at_low = count_at(counts, pull, low) if below > f else 0.0
        at_high = count_at(counts, pull, high) if above > f else 0.0
        if low < high and at_low >= 0.0 and at_high >= 0.0:
            below, above = below - f, above - f
            return Sums(
                sums.kept + below * at_low + above * at_high,
                sums.total + below * low + above * high,
                sums.upper_kept + below * at_low,
                sums.upper_total + below * low,
            )
    if fates is None:
        move_extremes_out(counts, pull, f)
    else:
        sort_reports(counts, pull, fates)  # moves all of them into their places
        tell_trimmed(fates, pull.size, f)
    kept, total = 0.0, 0.0
    for report in range(f, pull.size - f):
        kept, total = kept + counts[report], total + pull[report]
    upper_kept, upper_total = kept, total
    for report in range(pull.size - f, pull.size):
        upper_kept, upper_total = upper_kept + counts[report], upper_total + pull[report]
    return Sums(kept, total, upper_kept, upper_total)


@compiled
def pool_around(
    centre: float, cap: float, pulls: Floats, means: Floats, f: int, fates: Fates | None = None
) -> tuple[float, Sums]:
    """Trim the f that pull hardest on either side; return the pulls told, and the sums of what is left.

    Counts are capped in place, and means become pulls on the estimate, c (x̄ − centre).
    """
    told = 0.0
    for report in range(pulls.size):
        pulls[report] = min(pulls[report], cap)
        means[report] = pulls[report] * (means[report] - centre)
        told += pulls[report]
    return told, sums_without_extremes(pulls, means, f, fates)
