"""Which arm is best, and how sure that is: intervals for all arms and all times at once, whatever f neighbours say.

Two inequalities, each with half of δ = 1 − confidence; M arms, n own pulls:

    |x̄ − μ| ≤ √(y / 2n)         y = ln(4 M n (n+1) / δ)                 one's own pulls: Hoeffding
    |z − μ| ≤ d + √(y / 2w)      y = ln(8 M n² (n+1) / δ)                z, w, d of guarded:proven=1: its theorem

The sums over n, and in the second over C ≤ n too (docs/concepts/theory.md, step 3), are at most δ/2. So one may look
after every pull, and stop when it is enough.
"""

from collections.abc import Sequence
from functools import cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.decide import decision
from byzmab.core.errors import BadInput
from byzmab.core.filters.guarded import Guarded
from byzmab.core.policies.ucb import Ucb
from byzmab.core.report import Belief, Floats, Report
from byzmab.core.tally import Arm

PROVEN = Guarded(proven=1)  # the filter with a theorem, whichever one decides
PARAMS = np.array(PROVEN.params, np.float64), np.array(Ucb().params, np.float64)
SUREST = 1e-12  # the least δ that is looked at
STEPS = 1024  # between δ = 1 and SUREST


class Interval(NamedTuple):
    """What the true mean of an arm may be."""

    arm: Arm
    estimate: float
    low: float
    high: float
    contends: bool  # whether it may still be the best arm


class Best(NamedTuple):
    """The arm that looks best now, and how sure that is."""

    arm: Arm
    confidence: float  # that no other arm is better; 0 while nothing can be said
    wanted: float
    reached: bool  # confidence ≥ wanted: one may stop
    intervals: tuple[Interval, ...]  # of all arms, which hold together with the wanted confidence


@cache
def believer() -> Any:
    """`decide` with the filter that has the theorem; compiled at the first call."""
    return decision(PROVEN, Ucb())


def checked_confidence(confidence: Any) -> float:
    """A confidence, or BadInput."""
    if not isinstance(confidence, Real) or isinstance(confidence, bool) or not 0.0 < float(confidence) < 1.0:
        raise BadInput(f"confidence {confidence!r} is not allowed; allowed: a number above 0 and below 1")
    return float(confidence)


def best_arm(arms: Sequence[Arm], own: Report, belief: Belief, wanted: float) -> Best:
    """The best arm by one's own tallies and the belief of the filter with the theorem."""
    low, high = (bounds[0] for bounds in _bounds(own, belief, np.array([1.0 - wanted])))
    estimates = np.clip(np.where(own.pulls > 0.0, belief.estimates, 0.0), low, high)
    leader = int(np.argmax(np.where(own.pulls > 0.0, estimates, -1.0)))
    levels = np.sort(np.append(np.geomspace(SUREST, 1.0, STEPS), 1.0 - wanted))
    least = _least_level(leader, own, belief, levels)
    contends = high >= low.max()
    columns = zip(arms, estimates.tolist(), low.tolist(), high.tolist(), contends.tolist(), strict=True)
    intervals = tuple(Interval(*column) for column in columns)
    confidence = max(0.0, 1.0 - least)
    return Best(arms[leader], confidence, wanted, confidence >= wanted, intervals)


def _least_level(leader: int, own: Report, belief: Belief, levels: Floats) -> float:
    """The least of rising levels δ at which the leader's lower bound is above all others' upper bounds; 1 if none is.

    The strongest rival at a level rules out all levels at which it is not below the leader: few rivals decide, and not
    all arms are looked at for all levels.
    """
    while levels.size:
        low, high = (bounds[0] for bounds in _bounds(own, belief, levels[:1]))
        high[leader] = -np.inf
        rival = int(np.argmax(high))
        if low[leader] > high[rival]:
            return float(levels[0])
        low, high = _bounds(own, belief, levels, np.array([leader, rival]))
        levels = levels[low[:, 0] > high[:, 1]]
    return 1.0


def _bounds(own: Report, belief: Belief, deltas: Floats, arms: Any = slice(None)) -> tuple[Floats, Floats]:
    """The lower and upper bounds of all arms, or of some, one row for each δ; one without a reward may be anything."""
    size = own.pulls.size
    own, belief = Report(own.pulls[arms], own.means[arms]), Belief(*(column[arms] for column in belief))
    unknown = own.pulls == 0.0
    n = np.maximum(own.pulls, 1.0)
    sides = np.log(4.0 * size * n * (n + 1.0)), np.log(8.0 * size * n * n * (n + 1.0))
    alone, heard = (side - np.log(deltas)[:, None] for side in sides)
    width = np.sqrt(alone / (2.0 * n))
    low, high = np.maximum(own.means - width, 0.0), np.minimum(own.means + width, 1.0)
    width = belief.doubts + np.sqrt(heard / (2.0 * np.where(unknown, 1.0, belief.weights)))
    both_low, both_high = np.maximum(low, belief.estimates - width), np.minimum(high, belief.estimates + width)
    meet = both_low <= both_high  # or else more than f lie, or the bounds failed by chance: then one's own pulls count
    return (
        np.where(unknown, 0.0, np.where(meet, both_low, low)),
        np.where(unknown, 1.0, np.where(meet, both_high, high)),
    )
