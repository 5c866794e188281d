"""Lists in place: take one report out, sort, and find a rank; short lists by insertion, long ones by Shell's method.

numba's own sort takes a second to compile wherever it is used; reports are few, so this is as fast.
"""

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Fates, Floats

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
def sort_reports(pulls: Floats, means: Floats, fates: Fates | None = None) -> None:
    """Sort reports by mean, and those with equal means by pulls; where somebody asks for fates, their places too."""
    for level in range(first_gap(means.size), -1, -1):
        gap = GAPS[level]
        for index in range(gap, means.size):
            mean, count = means[index], pulls[index]
            place = 0 if fates is None else fates.places[index]
            while index >= gap and (
                means[index - gap] > mean or (means[index - gap] == mean and pulls[index - gap] > count)
            ):
                means[index], pulls[index] = means[index - gap], pulls[index - gap]
                if fates is not None:
                    fates.places[index] = fates.places[index - gap]
                index -= gap
            means[index], pulls[index] = mean, count
            if fates is not None:
                fates.places[index] = place


@compiled
def sort_few(pulls: Floats, means: Floats) -> None:
    """Sort a few reports by mean, without a branch that the processor could mistake."""
    for last in range(1, means.size):
        mean, count = means[last], pulls[last]
        for index in range(last):
            other, others = means[index], pulls[index]
            before = mean < other
            means[index], mean = min(mean, other), max(mean, other)
            pulls[index] = count if before else others
            count = others if before else count
        means[last], pulls[last] = mean, count


@compiled_noinline
def value_at(rank: int, values: Floats) -> float:
    """The value at a rank, from 0 for the smallest; values are moved, none below it to the right. Hoare's FIND."""
    first, last = 0, values.size - 1
    while first < last:
        pivot, left, right = values[rank], first, last
        while left <= right:
            while values[left] < pivot:
                left += 1
            while pivot < values[right]:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left, right = left + 1, right - 1
        first = left if right < rank else first
        last = right if rank < left else last
    return float(values[rank])


@compiled
def precedes(mean: float, count: float, other_mean: float, other_count: float) -> bool:
    """Whether a report stands before another: by mean, and with equal means by pulls."""
    return mean < other_mean or (mean == other_mean and count < other_count)


@compiled_noinline
def split_reports(pulls: Floats, means: Floats, rank: int) -> None:
    """Move reports so that the first `rank` are those that would stand first if all were sorted. Hoare's FIND."""
    first, last = 0, means.size - 1
    while first < last:
        mean, count, left, right = means[rank], pulls[rank], first, last
        while left <= right:
            while precedes(means[left], pulls[left], mean, count):
                left += 1
            while precedes(mean, count, means[right], pulls[right]):
                right -= 1
            if left <= right:
                means[left], means[right] = means[right], means[left]
                pulls[left], pulls[right] = pulls[right], pulls[left]
                left, right = left + 1, right - 1
        first = left if right < rank else first
        last = right if rank < left else last


@compiled
def take_out(report: int, pulls: Floats, means: Floats, count: int, fates: Fates | None) -> int:
    """Take one of the first `count` reports out, keeping the order of the others; return how many are left."""
    for index in range(report, count - 1):
        pulls[index], means[index] = pulls[index + 1], means[index + 1]
        if fates is not None:
            fates.places[index] = fates.places[index + 1]
    return count - 1
