"""Trimming by pull: reports are left out not by their mean but by how hard they pull on the estimate, c (x̄ − centre).

A report counts for c = min(n_j, C) pulls, C being one's own count or the (f+1)-th largest that is told.
"""

import math

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats
from byzmab.core.sorting import precedes, split_reports

FEW = 4  # up to so many extremes are found one by one, more by splitting


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
def sums_between(counts: Floats, pull: Floats, low: float, high: float) -> tuple[float, float, int, int]:
    """The sums of what lies between two bounds, and how many reports are at or outside each of them."""
    kept, total, below, above = 0.0, 0.0, 0, 0
    for report in range(pull.size):
        count, value = counts[report], pull[report]
        inside = low < value < high
        kept, total = kept + (count if inside else 0.0), total + (value if inside else 0.0)
        below, above = below + (value <= low), above + (value >= high)
    return kept, total, below, above


@compiled
def count_at(counts: Floats, pull: Floats, value: float) -> float:
    """The count that all reports of this pull have; -1 where they differ."""
    least, most = math.inf, -math.inf
    for report in range(pull.size):
        least = min(least, counts[report] if pull[report] == value else math.inf)
        most = max(most, counts[report] if pull[report] == value else -math.inf)
    return least if least == most else -1.0


@compiled
def sums_without_extremes(counts: Floats, pull: Floats, f: int) -> tuple[float, float]:
    """The counts and the pulls that are left without the f lowest and the f highest pulls, each summed up."""
    if 1 <= f <= 2:
        low, high = inner_bounds(pull, f)
        kept, total, below, above = sums_between(counts, pull, low, high)
        # of more than f at a bound, all alike, those beyond the f-th are kept
        at_low = count_at(counts, pull, low) if below > f else 0.0
        at_high = count_at(counts, pull, high) if above > f else 0.0
        if low < high and at_low >= 0.0 and at_high >= 0.0:
            below, above = below - f, above - f
            return kept + below * at_low + above * at_high, total + below * low + above * high
    move_extremes_out(counts, pull, f)
    kept, total = 0.0, 0.0
    for report in range(f, pull.size - f):
        kept, total = kept + counts[report], total + pull[report]
    return kept, total


@compiled
def pool_around(centre: float, cap: float, pulls: Floats, means: Floats, f: int) -> tuple[float, float, float]:
    """Trim the f that pull hardest on either side; return pulls before and after it, and the sum of c (x̄ − centre).

    Counts are capped in place, and means become pulls on the estimate.
    """
    told = 0.0
    for report in range(pulls.size):
        pulls[report] = min(pulls[report], cap)
        means[report] = pulls[report] * (means[report] - centre)
        told += pulls[report]
    kept, total = sums_without_extremes(pulls, means, f)
    return told, kept, total
