"""Crafted: a family of attacks with parameters, in which `byzmab attack search` looks for the worst.

A lie on an arm is a *place* among the honest means that the receiver hears and finds consistent, counted from
the harmful end, which is the low end on the best arm and the high end elsewhere: 0 is the most harmful of them, 1
the next, and so on to the last; −1 is the end of the scale, 0 or 1; what lies between two places is interpolated.
So lies follow what survives the trimming, whatever the arms. `extreme`, `adaptive` and `starve` are members.
"""

import math
from dataclasses import dataclass

from byzmab.attacks.adaptive import gather_honest
from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words
from byzmab.core.sorting import sort

END = -1.0  # the place at the end of the scale
ROUNDING = 1e-9  # so that a share of 1/3 meets every third receiver in spite of rounding
BEST, SECOND, OTHERS = range(3)  # the standing of an arm
# where the parameters are: places, then counts, of the three standings, then these
SHARE, SPARED, SPARED_COUNT, ISOLATE, SWITCH = range(6, 11)
# rows of the scratch table
HONEST, MEANS, PULLS, MEMO = range(4)
TIME, RECEIVER, SECOND_ARM = range(3)  # columns of MEMO


@compiled
def mean_at(place: float, honest: Floats, upwards: bool) -> float:
    """The mean at a place among honest ones in ascending order; upwards, the harmful end is the high one."""
    first, step, end = (honest.size - 1, -1, 1.0) if upwards else (0, 1, 0.0)
    if place < 0.0:
        near, far, share = honest[first], end, -place
    else:
        place = min(place, honest.size - 1.0)
        behind = min(int(place) + 1, honest.size - 1)
        near, far, share = honest[first + step * int(place)], honest[first + step * behind], place - int(place)
    return float(near + share * (far - near))


@compiled
def is_struck(world: World, receiver: int, arm: int, params: Floats) -> bool:
    """Whether a receiver is told the harmful lie on an arm: a share of them until the switch, then everyone.

    The share is spread evenly, and shifted by one from arm to arm, so that each arm has others to strike.
    """
    if arm == world.best or world.time >= params[SWITCH]:
        return True
    before = (receiver + arm) * params[SHARE] + ROUNDING
    return bool(math.floor(before + params[SHARE]) > math.floor(before))


@compiled
def start_run(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Write down which arm is the second best."""
    second = -1
    for arm in range(world.true_means.size):
        if arm != world.best and (second < 0 or world.true_means[arm] > world.true_means[second]):
            second = arm
    scratch[MEMO, SECOND_ARM] = second


@compiled
def craft(world: World, receiver: int, arm: int, params: Floats, scratch: Floats) -> None:
    """Write down what all liars tell a receiver on an arm; NaN for a mean where no honest one is there to follow."""
    standing = BEST if arm == world.best else SECOND if arm == scratch[MEMO, SECOND_ARM] else OTHERS
    upwards = standing != BEST
    place, times = params[standing], params[3 + standing]
    if not is_struck(world, receiver, arm, params):
        upwards, place, times = False, params[SPARED], params[SPARED_COUNT]
    scratch[MEANS, arm] = 1.0 if upwards else 0.0  # the end of the scale
    if place > END or params[ISOLATE] > 0.0:
        honest = scratch[HONEST]
        count = gather_honest(world, receiver, arm, honest)
        if standing != BEST and count < params[ISOLATE]:
            times = 0.0
        if place > END:
            sort(honest[:count])
            scratch[MEANS, arm] = mean_at(place, honest[:count], upwards) if count > 0 else math.nan
    scratch[PULLS, arm] = times * (world.pulls[receiver, arm] + 1.0)


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The crafted report; all liars tell one receiver the same, so the first of them writes it down for the others."""
    known = scratch[MEMO, TIME] == world.time + 1 and scratch[MEMO, RECEIVER] == receiver
    scratch[MEMO, TIME], scratch[MEMO, RECEIVER] = world.time + 1, receiver
    for arm in range(report.pulls.size):
        if not known:
            craft(world, receiver, arm, params, scratch)
        mean = scratch[MEANS, arm]
        report.pulls[arm] = scratch[PULLS, arm]
        report.means[arm] = world.means[sender, arm] if math.isnan(mean) else mean


@dataclass(frozen=True)
class Crafted(Attack):
    """Lies placed among the honest means, as parameters say; the family of `byzmab attack search`."""

    parameters = (
        "crafted:best,second,others,best_count,second_count,other_counts,share,spared,spared_count,isolate,switch, as "
        "many of them as wanted; -1,-1,-1,1,1,1,1,-1,1,0,0, which is extreme, if not given. Places on the best, the "
        "second best and the other arms, -1 or more; counts, multiples of the receiver's plus one, 0 or more; the "
        "share struck, in [0, 1]; place and count for the spared; honest reports below which it is silent, and the "
        "round of the switch: whole numbers of 0 or more"
    )
    start_run = staticmethod(start_run)
    lie = staticmethod(lie)
    best: float = END  # the place on the best arm
    second: float = END  # on the second best
    others: float = END  # on the others
    best_count: float = 1.0  # what is claimed on the best arm, as a multiple of n_i + 1; 0 is silence
    second_count: float = 1.0
    other_counts: float = 1.0
    share: float = 1.0  # of the receivers who, on an arm other than the best, are struck before the switch
    spared: float = END  # the place for the rest of them, counted from the harmless end, so that they fall behind
    spared_count: float = 1.0
    isolate: int = 0  # silent on arms other than the best where fewer honest reports than this are consistent
    switch: int = 0  # the round from which on everyone is struck

    def __post_init__(self) -> None:
        places = self.best, self.second, self.others, self.spared
        counts = self.best_count, self.second_count, self.other_counts, self.spared_count
        finite = all(END <= place < math.inf for place in places) and all(0.0 <= count < math.inf for count in counts)
        if not (finite and 0.0 <= self.share <= 1.0 and self.isolate >= 0 and self.switch >= 0):
            raise self.misunderstood(self.to_text())

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 4, max(agents, arms, 3)
