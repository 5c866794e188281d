"""Lists in place: take one report out, and sort; short lists by insertion, long ones by Shell's method.

numba's own sort takes a second to compile wherever it is used; reports are few, so this is as fast.
"""

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats

GAPS = (1, 4, 10, 23, 57, 132, 301, 701, 1577, 3548, 7983, 17961, 40412, 90927)  # after Ciura 2001


@compiled
def first_gap(size: int) -> int:
    """The index of the first gap to use for a list of some size; short lists are sorted by insertion alone."""
    level = 0
    while level + 1 < len(GAPS) and 4 * GAPS[level + 1] < size:
        level += 1
    return level


@compiled
def sort(values: Floats) -> None:
    """Sort numbers."""
    for level in range(first_gap(values.size), -1, -1):
        gap = GAPS[level]
        for index in range(gap, values.size):
            value = values[index]
            while index >= gap and values[index - gap] > value:
                values[index] = values[index - gap]
                index -= gap
            values[index] = value


@compiled
def sort_reports(pulls: Floats, means: Floats) -> None:
    """Sort reports by mean, and those with equal means by pulls."""
    for level in range(first_gap(means.size), -1, -1):
        gap = GAPS[level]
        for index in range(gap, means.size):
            mean, count = means[index], pulls[index]
            while index >= gap and (
                means[index - gap] > mean or (means[index - gap] == mean and pulls[index - gap] > count)
            ):
                means[index], pulls[index] = means[index - gap], pulls[index - gap]
                index -= gap
            means[index], pulls[index] = mean, count


@compiled
def take_out(report: int, pulls: Floats, means: Floats, count: int) -> int:
    """Take one of the first `count` reports out, keeping the order of the others; return how many are left."""
    for index in range(report, count - 1):
        pulls[index], means[index] = pulls[index + 1], means[index + 1]
    return count - 1
