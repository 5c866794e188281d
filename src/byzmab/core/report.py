"""What agents tell each other, and what they make of it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

LEAST_PULLS = 5e-324  # the least number above zero: a report of zero pulls is silence


class Report(NamedTuple):
    """One agent's word on every arm; an honest agent reports its own tally."""

    pulls: Floats  # n_{i,k}
    means: Floats  # x̄_{i,k}
    arms: tuple[Any, ...] = ()  # which arms, in this order; empty: the hearer's own, in its order


class Belief(NamedTuple):
    """What an agent holds true of every arm after filtering."""

    estimates: Floats  # z_{i,k}
    weights: Floats  # n_{i,k} / g_{i,k}: how many pulls of one's own it is worth
    doubts: Floats  # the bias liars may have left in the estimate
