"""Sorting in place: short lists by insertion, long ones by Shell's method.

numba's own sort takes a second to compile wherever it is used; reports are few, so this is as fast.
"""

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats

GAPS = (1, 4, 10, 23, 57, 132, 301, 701, 1577, 3548, 7983, 17961, 40412, 90927)  # after Ciura 2001


@compiled
def levels(size: int) -> int:
    """The first gap to use for a list of some size; short lists are sorted by insertion alone."""
    level = 0
    while level + 1 < len(GAPS) and 4 * GAPS[level + 1] < size:
        level += 1
    return level


@compiled
def sort(values: Floats) -> None:
    """Sort numbers."""
    for level in range(levels(values.size), -1, -1):
        gap = GAPS[level]
        for place in range(gap, values.size):
            value = values[place]
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value


@compiled
def sort_reports(pulls: Floats, means: Floats) -> None:
    """Sort reports by mean, and those with equal means by pulls."""
    for level in range(levels(means.size), -1, -1):
        gap = GAPS[level]
        for place in range(gap, means.size):
            mean, count = means[place], pulls[place]
            while place >= gap and (
                means[place - gap] > mean or (means[place - gap] == mean and pulls[place - gap] > count)
            ):
                means[place], pulls[place] = means[place - gap], pulls[place - gap]
                place -= gap
            means[place], pulls[place] = mean, count
