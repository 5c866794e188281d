"""The reports on an arm that a filter with a centre may drop: for each receiver alone few, and nearly the same ones.

Such a filter drops what is far from the centre, the median of all means, and then the f highest and the f lowest: by
mean, or by pull on the estimate, c (x̄ − centre) with c = min(n_j, C). Receivers differ in their centre and in C, but
little. So bounds on every report's pull are taken over a range of both; only reports that may be among the f outermost
anywhere in that range are told one by one, all others together. A receiver out of the range widens it or starts anew.
"""

import math
from typing import NamedTuple

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats, Integers
from byzmab.core.sorting import sort_reports, value_at

GROUP = 1.15  # receivers whose counts differ by less than this factor are served together
FEWEST, MOST, LEFT, RIGHT = range(4)  # the range served: own counts from, to; centres from, to


class Rule(NamedTuple):
    """What the filter may drop."""

    trimmed: int  # how many on a side: f, and as many as there are that some receiver does not hear
    limit: float  # c (x̄ − centre)² above this; below 0 anything
    by_pull: (
        bool  # whether the outermost are those that pull hardest, and C may be as low as the (f+1)-th largest count
    )


class Limits(NamedTuple):
    """Keys between which a report is not among the outermost of any receiver in the range."""

    low: float
    high: float
    at_low: int  # how many of those with just this key may be
    at_high: int


NO_LIMITS = Limits(-math.inf, math.inf, 0, 0)


class Droppable(NamedTuple):
    """The reports told one by one to the receivers in a range, and what the median is taken of."""

    pulls: Floats  # like the next two, room for all honest agents; by mean, equal means by pulls
    means: Floats
    senders: Integers
    size: Integers  # 1: how many there are
    is_told: Integers  # honest agents, by decreasing pulls: 1 for those who are among them
    served: Floats  # 4: the range, as above
    sorted_means: Floats  # honest agents: all x̄, growing
    by_mean: Floats  # honest agents: their ranks by decreasing pulls, negative, in that order
    extras: Floats  # agents: one's own mean and the lies that a receiver hears, growing
    gaps: Integers  # agents: where the means that it does not hear stand among the sorted ones, growing
    highest: Floats  # honest agents: bounds on their pulls, being ordered
    lowest: Floats


@compiled
def clear_range(droppable: Droppable) -> None:
    """Serve nobody."""
    droppable.served[FEWEST], droppable.served[MOST] = math.inf, -math.inf
    droppable.served[LEFT], droppable.served[RIGHT] = math.inf, -math.inf


@compiled
def sort_means(droppable: Droppable, means: Floats) -> None:
    """Sort the means of all honest agents, which are given by decreasing pulls."""
    for rank in range(means.size):
        droppable.sorted_means[rank], droppable.by_mean[rank] = means[rank], -rank
    sort_reports(droppable.by_mean, droppable.sorted_means)


@compiled
def index_of(value: float, values: Floats) -> int:
    """How many of some growing values are below a value."""
    first, end = 0, values.size
    while first < end:
        index = (first + end) // 2
        if values[index] < value:
            first = index + 1
        else:
            end = index
    return first


@compiled
def without_gaps(values: Floats, gaps: Integers, rank: int) -> float:
    """The value at a rank of growing ones when those at some growing indices are left out."""
    for gap in gaps:
        rank += gap <= rank
    return float(values[rank])


@compiled
def merged_at(rank: int, values: Floats, gaps: Integers, extras: Floats) -> float:
    """The value at a rank of growing values, without those at the gaps, and growing extras together."""
    size = values.size - gaps.size
    before, end = max(0, rank - size), min(rank, extras.size)  # of the extras so many stand before the rank
    while before < end:
        half = (before + end) // 2
        if without_gaps(values, gaps, rank - half - 1) > extras[half]:
            before = half + 1
        else:
            end = half
    if before == extras.size:
        return without_gaps(values, gaps, rank - before)
    if rank - before == size:
        return float(extras[before])
    return min(without_gaps(values, gaps, rank - before), float(extras[before]))


@compiled
def median_of(values: Floats, gaps: Integers, extras: Floats) -> float:
    """The median of growing values, without those at the gaps, and growing extras together."""
    size = values.size - gaps.size + extras.size
    low = merged_at((size - 1) // 2, values, gaps, extras)
    return (low + (low if size % 2 == 1 else merged_at(size // 2, values, gaps, extras))) / 2.0


@compiled
def serves(droppable: Droppable, own: float, centre: float) -> bool:
    """Whether a receiver's count and centre are within the range."""
    served = droppable.served
    return bool(served[FEWEST] <= own <= served[MOST] and served[LEFT] <= centre <= served[RIGHT])


@compiled
def widen(droppable: Droppable, own: float, centre: float) -> None:
    """Let the range take in a receiver: centres twice as far where they were too near, counts from its own down."""
    served = droppable.served
    if not served[FEWEST] <= own <= served[MOST]:
        served[FEWEST], served[MOST] = math.ceil(own / GROUP), own
    if served[LEFT] > served[RIGHT]:
        served[LEFT], served[RIGHT] = centre, centre
    elif centre < served[LEFT]:
        served[LEFT] = centre - (served[RIGHT] - centre)
    elif centre > served[RIGHT]:
        served[RIGHT] = centre + (centre - served[LEFT])


@compiled
def range_of_key(count: float, mean: float, served: Floats, fewest: float, by_pull: bool) -> tuple[float, float]:
    """What a report is ordered by, at least and at most: its pull on the estimate, or the mean itself."""
    if not by_pull:
        return mean, mean
    least, most = min(count, fewest), min(count, served[MOST])
    low, high = mean - served[RIGHT], mean - served[LEFT]
    return low * (least if low > 0.0 else most), high * (most if high > 0.0 else least)


@compiled_noinline
def find_limits(droppable: Droppable, pulls: Floats, means: Floats, fewest: float, rule: Rule) -> Limits:
    """The reports that may be outermost: those below and above the limits, and some of those that are just there."""
    size, k = pulls.size, rule.trimmed
    for rank in range(size):
        droppable.lowest[rank], droppable.highest[rank] = range_of_key(
            pulls[rank], means[rank], droppable.served, fewest, rule.by_pull
        )
    low, high = value_at(k - 1, droppable.highest), value_at(size - k, droppable.lowest)
    # the smallest k of `highest` stand first now, the largest k of `lowest` last
    at_low, at_high = 0, 0
    for index in range(k):
        at_low += droppable.highest[index] == low
        at_high += droppable.lowest[size - 1 - index] == high
    return Limits(low, high, at_low, at_high)


@compiled_noinline
def find_droppable(droppable: Droppable, pulls: Floats, means: Floats, senders: Integers, rule: Rule) -> None:
    """Find the reports, by decreasing pulls, that some receiver in the range may drop.

    Of reports with the same key those with the fewest pulls come first, so that of many at a limit only few are told.
    By pull, those with more pulls than the lowest possible C are told too: nobody told together has more than C.
    """
    served, size, item = droppable.served, pulls.size, 0
    top = pulls[min(rule.trimmed, size - 1)]
    fewest = max(1.0, min(served[FEWEST], math.floor(top)))
    everyone = rule.limit < 0.0 or 2 * rule.trimmed >= size
    limits = NO_LIMITS if everyone or rule.trimmed == 0 else find_limits(droppable, pulls, means, fewest, rule)
    low_left, high_left = limits.at_low, limits.at_high
    for rank in range(size):
        least, most = range_of_key(pulls[rank], means[rank], served, fewest, rule.by_pull)
        distance = max(means[rank] - served[LEFT], served[RIGHT] - means[rank])
        told = everyone or distance * distance * min(pulls[rank], served[MOST]) > rule.limit
        told |= rule.by_pull and served[MOST] > top and rank <= rule.trimmed
        told |= least < limits.low or most > limits.high
        told |= least < most and (least == limits.low or most == limits.high)
        if least == most == limits.high and high_left > 0:
            told, high_left = True, high_left - 1
        droppable.is_told[rank] = told
    for rank in range(size - 1, -1, -1):
        least, most = range_of_key(pulls[rank], means[rank], served, fewest, rule.by_pull)
        if least == most == limits.low and low_left > 0:
            droppable.is_told[rank], low_left = 1, low_left - 1
    for index in range(size):
        rank = -int(droppable.by_mean[index])
        if droppable.is_told[rank] == 1:
            droppable.pulls[item], droppable.means[item], droppable.senders[item] = (
                pulls[rank],
                means[rank],
                senders[rank],
            )
            item += 1
    droppable.size[0] = item
