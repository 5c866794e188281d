"""The extremes of a shared order: of all reports admitted so far, the lowest and the highest means one by one.

What trims extremes needs no more than these and the sums of what lies between them. A report that is admitted
pushes out one that is no extreme any more, so each costs at most as many moves as there are extremes.
"""

from typing import NamedTuple

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats, Integers
from byzmab.core.sorting import precedes


class Extremes(NamedTuple):
    """Reports by mean, equal means by pulls: all of them, or where they are too many as many from either side."""

    pulls: Floats  # like the next two, room for as many as are kept
    means: Floats
    senders: Integers
    size: Integers  # 1: how many there are
    held: Integers  # agents: 1 for those who are among them


@compiled
def clear(extremes: Extremes) -> None:
    """Remove all reports."""
    for index in range(extremes.size[0]):
        extremes.held[extremes.senders[index]] = 0
    extremes.size[0] = 0


@compiled
def index_for(extremes: Extremes, count: float, mean: float) -> int:
    """The index at which a report belongs among the extremes."""
    first, end = 0, extremes.size[0]
    while first < end:
        index = (first + end) // 2
        if precedes(mean, count, extremes.means[index], extremes.pulls[index]):
            end = index
        else:
            first = index + 1
    return first


@compiled_noinline
def admit(extremes: Extremes, sender: int, count: float, mean: float) -> None:
    """Insert a report in order; where there is no room for one more, the middle one goes."""
    size, half = extremes.size[0], extremes.senders.size // 2
    index = index_for(extremes, count, mean)
    if size < extremes.senders.size:
        hole, step = size, -1
        extremes.size[0] = size + 1
    elif index == half:
        return  # it is the middle one itself
    else:
        hole, step = (half - 1, -1) if index < half else (half, 1)
        index -= index > half
        extremes.held[extremes.senders[hole]] = 0
    while hole != index:
        extremes.pulls[hole], extremes.means[hole] = extremes.pulls[hole + step], extremes.means[hole + step]
        extremes.senders[hole] = extremes.senders[hole + step]
        hole += step
    extremes.pulls[index], extremes.means[index], extremes.senders[index] = count, mean, sender
    extremes.held[sender] = 1
