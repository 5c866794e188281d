"""The ends of a crowd: of all reports admitted so far, the lowest and the highest means one by one.

What trims extremes needs no more than the ends and the sums of what lies between them. A report that is admitted
pushes out one that is no extreme any more, so each costs at most as many moves as there are ends.
"""

from typing import NamedTuple

from byzmab.core.compiler import compiled, compiled_apart
from byzmab.core.report import Floats, Integers


class Middle(NamedTuple):
    """The reports between the ends, told together."""

    size: int
    means: float  # Σ x̄_j
    pulls: float  # Σ c_j: every count capped at one's own, c_j = min(n_j, n_i)
    rewards: float  # Σ c_j x̄_j


NO_MIDDLE = Middle(0, 0.0, 0.0, 0.0)


class Ends(NamedTuple):
    """Reports by mean, equal means by pulls: all of them, or where they are too many as many from either side."""

    pulls: Floats  # like the next two, room for as many as are kept
    means: Floats
    senders: Integers
    size: Integers  # 1: how many there are
    held: Integers  # agents: 1 for those who are among them


@compiled
def comes_first(mean: float, count: float, other_mean: float, other_count: float) -> bool:
    """Whether a report stands before another: by mean, and with equal means by pulls."""
    return mean < other_mean or (mean == other_mean and count < other_count)


@compiled
def clear(ends: Ends) -> None:
    """Nobody is admitted."""
    for place in range(ends.size[0]):
        ends.held[ends.senders[place]] = 0
    ends.size[0] = 0


@compiled
def place_for(ends: Ends, count: float, mean: float) -> int:
    """How many of the ends stand before a report."""
    first, end = 0, ends.size[0]
    while first < end:
        place = (first + end) // 2
        if comes_first(mean, count, ends.means[place], ends.pulls[place]):
            end = place
        else:
            first = place + 1
    return first


@compiled_apart
def admit(ends: Ends, sender: int, count: float, mean: float) -> None:
    """Put a report in its place among the ends; where there is no room for one more, the middle one goes."""
    size, half = ends.size[0], ends.senders.size // 2
    place = place_for(ends, count, mean)
    if size < ends.senders.size:
        hole, step = size, -1
        ends.size[0] = size + 1
    elif place == half:
        return  # it is the middle one itself
    else:
        hole, step = (half - 1, -1) if place < half else (half, 1)
        place -= place > half
        ends.held[ends.senders[hole]] = 0
    while hole != place:
        ends.pulls[hole], ends.means[hole] = ends.pulls[hole + step], ends.means[hole + step]
        ends.senders[hole] = ends.senders[hole + step]
        hole += step
    ends.pulls[place], ends.means[place], ends.senders[place] = count, mean, sender
    ends.held[sender] = 1
