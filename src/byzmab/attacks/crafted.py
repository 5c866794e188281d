"""Crafted: a family of attacks with parameters, in which `byzmab attack search` looks for the worst.

A lie on an arm is a *rank* among the honest means that the receiver hears and finds consistent, counted from the
harmful end. That end is the low one on the best arm, and the high one elsewhere. Rank 0 is the most harmful of them, 1
the next, and so on to the last; −1 is the end of the scale, 0 or 1. What lies between two ranks is interpolated. So
lies follow what survives the trimming, whatever the arms. With `errors` a lie is instead a number of standard errors
off the true mean, or off the receiver's own, towards the harmful end. `extreme`, `adaptive` and `starve` are members.
"""

import math
from dataclasses import dataclass

from byzmab.attacks.adaptive import gather_honest
from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words
from byzmab.core.sorting import sort

END = -1.0  # the rank at the end of the scale
SIGMA = 0.5  # the largest standard deviation of rewards in [0, 1]
ROUNDING = 1e-9  # so that a share of 1/3 meets every third receiver in spite of rounding
BEST, SECOND, OTHERS = range(3)  # the standing of an arm
RANKS, RECEIVERS_ERRORS, SENDERS_ERRORS, BESIDE = range(4)  # how a lie is measured
ALL_ARMS, BEST_ONLY, SECOND_ONLY, BEST_AND_SECOND = range(4)  # targets
# where the parameters are: ranks, then counts, of the three standings, then these
SHARE, SPARED, SPARED_COUNT, ISOLATE, SWITCH, ERRORS, COMMON, BEST_SHARE, PAUSE, RESUME, TARGET = range(6, 17)
# rows of the scratch table
HONEST, MEANS, PULLS, MEMO = range(4)
TIME, RECEIVER, SECOND_ARM = range(3)  # columns of MEMO
EVERYONE = -1  # the receiver of a lie that all are told


@compiled
def mean_at(rank: float, honest: Floats, upwards: bool) -> float:
    """The mean at a rank among honest ones in ascending order; upwards, the harmful end is the high one."""
    first, step, end = (honest.size - 1, -1, 1.0) if upwards else (0, 1, 0.0)
    if rank < 0.0:
        near, far, share = honest[first], end, -rank
    else:
        rank = min(rank, honest.size - 1.0)
        behind = min(int(rank) + 1, honest.size - 1)
        near, far, share = honest[first + step * int(rank)], honest[first + step * behind], rank - int(rank)
    return float(near + share * (far - near))


@compiled
def mean_off(truth: float, errors: float, count: float, upwards: bool) -> float:
    """The mean so many standard errors, of that many pulls, off the truth; the end of the scale is not passed."""
    off = errors * SIGMA / math.sqrt(max(count, 1.0))
    return min(max(truth + off if upwards else truth - off, 0.0), 1.0)


@compiled
def best_for(world: World, receiver: int) -> int:
    """The best arm of the receiver of a lie."""
    return world.best if receiver == EVERYONE else int(world.bests[receiver])


@compiled
def truth_for(world: World, receiver: int, arm: int) -> float:
    """The true mean of an arm for the receiver of a lie."""
    return float(world.true_means[arm] if receiver == EVERYONE else world.own_means[receiver, arm])


@compiled
def is_struck(world: World, receiver: int, arm: int, params: Floats) -> bool:
    """Whether a receiver is told the harmful lie on an arm: nobody in the pause, a share until the switch, then all.

    The share is spread evenly, and shifted by one from arm to arm, so that each arm has others to strike.
    """
    if params[PAUSE] <= world.time < params[RESUME]:
        return False
    if world.time >= params[SWITCH] or receiver == EVERYONE:
        return True
    share = params[BEST_SHARE] if arm == best_for(world, receiver) else params[SHARE]
    before = (receiver + arm) * share + ROUNDING
    return bool(math.floor(before + share) > math.floor(before))


@compiled
def is_target(standing: int, target: float) -> bool:
    """Whether there is a lie on arms of a standing; on others Byzantine agents report their own tally."""
    if target == ALL_ARMS:
        return True
    return (standing == BEST and target != SECOND_ONLY) or (standing == SECOND and target != BEST_ONLY)


@compiled
def second_for(world: World, receiver: int) -> int:
    """The second best arm of the receiver of a lie."""
    best, second = best_for(world, receiver), -1
    for arm in range(world.true_means.size):
        if arm != best and (second < 0 or truth_for(world, receiver, arm) > truth_for(world, receiver, second)):
            second = arm
    return second


@compiled
def gather(world: World, receiver: int, arm: int, out: Floats) -> int:
    """The honest means that a lie to a receiver follows, all of them for one to everyone; return their number."""
    if receiver != EVERYONE:
        return gather_honest(world, receiver, arm, out)
    normal = world.pulls.shape[0] - world.byzantine
    for agent in range(normal):
        out[agent] = world.means[world.byzantine + agent, arm]
    return int(normal)


@compiled
def pulls_of(world: World, receiver: int, arm: int) -> float:
    """The count that a lie is measured by: the receiver's, the largest of an honest agent for one to everyone."""
    if receiver != EVERYONE:
        return float(world.pulls[receiver, arm])
    most = 0.0
    for agent in range(world.byzantine, world.pulls.shape[0]):
        most = max(most, world.pulls[agent, arm])
    return most


@compiled
def craft(world: World, receiver: int, arm: int, params: Floats, scratch: Floats) -> None:
    """Write down what all Byzantine agents report to a receiver on an arm; NaN where each reports its own tally."""
    standing = BEST if arm == best_for(world, receiver) else SECOND if arm == scratch[MEMO, SECOND_ARM] else OTHERS
    if not is_target(standing, params[TARGET]):
        scratch[PULLS, arm], scratch[MEANS, arm] = math.nan, math.nan
        return
    rank, times = params[standing], params[3 + standing]
    struck = is_struck(world, receiver, arm, params)
    if not struck:
        rank, times = params[SPARED], params[SPARED_COUNT]
    upwards = (standing != BEST) == struck  # the spared are told the contrary
    follows = params[ERRORS] == RANKS and rank > END
    n, honest, count = pulls_of(world, receiver, arm), scratch[HONEST], 0
    if follows or params[ISOLATE] > 0.0:
        count = gather(world, receiver, arm, honest)
    if standing != BEST and count < params[ISOLATE]:
        times = 0.0
    claimed = times * (n + 1.0)
    if params[ERRORS] != RANKS:
        known = claimed if params[ERRORS] == SENDERS_ERRORS else n
        beside = params[ERRORS] == BESIDE and receiver != EVERYONE
        centre = world.means[receiver, arm] if beside else truth_for(world, receiver, arm)
        mean = mean_off(centre, rank, known, upwards)
    elif follows:
        sort(honest[:count])
        mean = mean_at(rank, honest[:count], upwards) if count > 0 else math.nan
    else:
        mean = 1.0 if upwards else 0.0  # the end of the scale
    scratch[PULLS, arm], scratch[MEANS, arm] = claimed, mean


@compiled
def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Nothing is written down yet: among nodes a round may have the time of the one before."""
    scratch[MEMO, TIME] = 0.0


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The crafted report; a receiver gets the same from all Byzantine agents, so the first writes it down for all."""
    whom = EVERYONE if params[COMMON] > 0.0 else receiver
    known = scratch[MEMO, TIME] == world.time + 1 and scratch[MEMO, RECEIVER] == whom
    scratch[MEMO, TIME], scratch[MEMO, RECEIVER] = world.time + 1, whom
    if not known:
        scratch[MEMO, SECOND_ARM] = second_for(world, whom)
    for arm in range(report.pulls.size):
        if not known:
            craft(world, whom, arm, params, scratch)
        pulls, mean = scratch[PULLS, arm], scratch[MEANS, arm]
        report.pulls[arm] = world.pulls[sender, arm] if math.isnan(pulls) else pulls
        report.means[arm] = world.means[sender, arm] if math.isnan(mean) else mean


@dataclass(frozen=True)
class Crafted(Attack):
    """Lies among the honest means, or at so many standard errors, as parameters say; the family of attack search."""

    parameters = (
        "crafted:best,second,others,best_count,second_count,other_counts,share,spared,spared_count,isolate,switch,"
        "errors,common,best_share,pause,resume,target, as many of them as wanted; -1,-1,-1,1,1,1,1,-1,1,0,0,0,0,1,0,0,"
        "0, which is extreme, if not given. Places on the best, the second best and the other arms, -1 or more, or "
        "with errors 1 or 2 the receiver's or the sender's standard errors off the truth, with 3 the receiver's off "
        "its own mean; counts, multiples of the receiver's plus one, 0 or more; the share struck, in [0, 1]; rank and "
        "count for the spared; honest reports "
        "below which it is silent, and the round of the switch: whole numbers of 0 or more; common 1 for one report to "
        "everyone; the share struck on the best arm; the rounds of a pause and of its end; target 0 for all arms, 1 "
        "the best, 2 the second best, 3 both"
    )
    start_round = staticmethod(start_round)
    lie = staticmethod(lie)
    best: float = END  # the rank on the best arm
    second: float = END  # on the second best
    others: float = END  # on the others
    best_count: float = 1.0  # what is claimed on the best arm, as a multiple of n_i + 1; 0 is silence
    second_count: float = 1.0
    other_counts: float = 1.0
    share: float = 1.0  # of the receivers who, on an arm other than the best, are struck before the switch
    spared: float = END  # the rank for the rest of them, counted from the harmless end, so that they fall behind
    spared_count: float = 1.0
    isolate: int = 0  # silent on arms other than the best where fewer honest reports than this are consistent
    switch: int = 0  # the round from which on everyone is struck
    errors: int = RANKS  # a lie is measured in ranks, or in standard errors off the truth, or off the receiver's mean
    common: int = 0  # 1: no equivocation; n is then the largest count of an honest agent
    best_share: float = 1.0  # of the receivers who are struck on the best arm before the switch
    pause: int = 0  # the round from which on nobody is struck,
    resume: int = 0  # and that from which on it goes on as before
    target: int = ALL_ARMS  # which arms are lied about; on the others Byzantine agents report their own tally

    def __post_init__(self) -> None:
        ranks = self.best, self.second, self.others, self.spared
        counts = self.best_count, self.second_count, self.other_counts, self.spared_count
        least = END if self.errors == RANKS else -math.inf
        allowed = (
            all(least <= rank < math.inf and rank > -math.inf for rank in ranks)
            and all(0.0 <= count < math.inf for count in counts)
            and all(0.0 <= share <= 1.0 for share in (self.share, self.best_share))
            and min(self.isolate, self.switch, self.pause, self.resume) >= 0
            and self.errors in (RANKS, RECEIVERS_ERRORS, SENDERS_ERRORS, BESIDE)
            and self.common in (0, 1)
            and ALL_ARMS <= self.target <= BEST_AND_SECOND
        )
        if not allowed:
            raise self.misunderstood(self.to_text())

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 4, max(agents, arms, 3)
