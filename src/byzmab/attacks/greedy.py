"""Greedy: lies that are tried out on the receiver's own filter and policy before they are told.

For every arm of a receiver some counts and means are tried. The filter's function says what the receiver would believe
of the arm, and the policy's function compares two beliefs as if they were two arms. The lie that is kept makes a poor
arm look best, and the best arm worst. A careful Byzantine agent tries only what can follow what it told before.

Lies are tried out anew every few rounds, less often as time goes on. All Byzantine agents send a receiver the same.
`phased` strikes one honest agent after the other, `victim` one for the whole run. The others receive the Byzantine
agents' own tallies.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from byzmab.attacks.base import Attack, World, f_of
from byzmab.core.audit import nearest
from byzmab.core.believe import ALL_ARMS, Inbox, Own, Reading, believe_agent
from byzmab.core.compiler import compiled, specialize
from byzmab.core.differences import limit_others
from byzmab.core.filters.trimmed import believe as filter_believe
from byzmab.core.policies.ucb import ucb as choose  # `specialize` puts the receiver's own in its place
from byzmab.core.report import Belief, Floats, Report, Words

REACH, LEVELS, PACE, VICTIM, ROUNDS = range(5)  # where the parameters are
SIGMA = 0.5  # the largest standard deviation of rewards in [0, 1]
COUNTS_TRIED = 3  # one pull, and half and all of the receiver's count plus one
CHALLENGER, HOLDER, REST = range(3)  # the arms of a comparison

believe_receiver = specialize(believe_agent, believe=filter_believe)  # here, too


@compiled
def is_struck(world: World, receiver: int, params: Floats) -> bool:
    """Whether a receiver is lied to in this round: everyone, one victim, or one honest agent after the other."""
    honest = world.pulls.shape[0] - world.byzantine
    if receiver < world.byzantine:
        return False
    if params[VICTIM] > 0.0:
        return bool(receiver == world.byzantine + (int(params[VICTIM]) - 1) % honest)
    if params[ROUNDS] > 0.0:
        return bool(receiver == world.byzantine + (world.time // int(params[ROUNDS])) % honest)
    return True


@compiled
def copy_inbox(world: World, receiver: int, pulls: Floats, means: Floats) -> int:
    """Copy the reports that a receiver holds; return how many of them are Byzantine agents', which come first."""
    first, end, liars = world.inbox_starts[receiver], world.inbox_starts[receiver + 1], 0
    for entry in range(first, end):
        row = world.inbox_rows[entry]
        liars += world.inbox_senders[entry] < world.byzantine
        for arm in range(pulls.shape[1]):
            pulls[entry - first, arm], means[entry - first, arm] = (
                world.told.pulls[row, arm],
                world.told.means[row, arm],
            )
    return liars


@compiled
def honest_mean(world: World, receiver: int, arm: int, liars: int, pulls: Floats, means: Floats) -> float:
    """The mean of all pulls of an arm by the receiver and by the honest agents that it hears."""
    count = world.pulls[receiver, arm]
    total = count * world.means[receiver, arm]
    for report in range(liars, pulls.shape[0]):
        count += pulls[report, arm]
        total += pulls[report, arm] * means[report, arm]
    return float(total / max(count, 1e-9))


@compiled
def set_lie(liars: int, arm: int, count: float, mean: float, pulls: Floats, means: Floats) -> None:
    """Let all Byzantine agents tell one thing of an arm."""
    for report in range(liars):
        pulls[report, arm], means[report, arm] = count, mean


@compiled
def level_mean(level: int, levels: int, reach: float, centre: float, own_pulls: float) -> float:
    """The mean at a level: 0, 1, and between them so many standard errors of the receiver's count off the centre."""
    if level == 0:
        return 0.0
    if level == 2 * levels + 2:
        return 1.0
    errors = reach * (level - 1 - levels) / levels
    return min(max(centre + errors * SIGMA / math.sqrt(max(own_pulls, 1.0)), 0.0), 1.0)


def plan_lies(
    world: World, sender: int, receiver: int, params: Floats, rng: Words, lie_pulls: Floats, lie_means: Floats
) -> None:
    """Try out lies to a receiver, arm by arm, and write down those that are kept.

    Turn 0 is to believe of all arms what they are worth with the first lies: one pull of the honest mean.
    """
    first, end, arms = world.inbox_starts[receiver], world.inbox_starts[receiver + 1], world.pulls.shape[1]
    reports, edge = end - first, receiver * world.byzantine + sender
    pulls, means = np.empty((reports, arms)), np.empty((reports, arms))
    rows, senders = np.empty(reports, np.uint64), np.empty(reports, np.uint64)
    liars = copy_inbox(world, receiver, pulls, means)
    for report in range(reports):
        rows[report], senders[report] = report, world.inbox_senders[first + report]
    inbox = Inbox(pulls, means, rows, np.uint64(0), np.uint64(reports), senders, world.neighbour_differences[receiver])
    own, work = Own(world.pulls[receiver], world.means[receiver]), (np.empty(reports), np.empty(reports))
    belief = Belief(np.empty(arms), np.empty(arms), np.empty(arms), own.means, own.pulls)
    reading = Reading(world.consistency, f_of(world, receiver), world.kappas[receiver], world.time, 0)
    centres = np.empty(arms)
    for arm in range(arms):
        centres[arm] = honest_mean(world, receiver, arm, liars, pulls, means)
        lie_pulls[arm], lie_means[arm] = allowed(world, edge, arm, 1.0, centres[arm])
        set_lie(liars, arm, lie_pulls[arm], lie_means[arm], pulls, means)
    duel = Belief(np.zeros(3), np.ones(3), np.zeros(3), np.zeros(3), np.ones(3))
    levels, best = int(params[LEVELS]), world.bests[receiver]
    means_tried = 2 * levels + 3
    tries = COUNTS_TRIED * means_tried
    for turn in range(1 + arms * tries):
        arm, number = (turn - 1) // tries, (turn - 1) % tries
        count, mean, span = 0.0, 0.0, (0, arms)
        if turn > 0:
            if number == 0:
                begin_duel(duel, belief, arm)
            count = 0.5 * (number // means_tried) * (own.pulls[arm] + 1.0)
            mean = level_mean(number % means_tried, levels, params[REACH], centres[arm], own.pulls[arm])
            count, mean = allowed(world, edge, arm, max(count, 1.0), mean)
            set_lie(liars, arm, count, mean, pulls, means)
            span = (arm, arm + 1)
        believe_receiver(own, inbox, ALL_ARMS, span, reading, world.filter_params, work, belief)
        if world.spread != 0.0:
            limit_others(own.pulls, own.means, ALL_ARMS, span, world.differences[receiver], belief)
        if turn == 0:
            continue
        set_side(duel, CHALLENGER, belief, arm)
        if choose(duel, world.time, world.policy_params, rng) == (HOLDER if arm == best else CHALLENGER):
            set_side(duel, HOLDER, belief, arm)
            lie_pulls[arm], lie_means[arm] = count, mean
        if number == tries - 1:
            set_lie(liars, arm, lie_pulls[arm], lie_means[arm], pulls, means)
            belief.estimates[arm], belief.weights[arm] = duel.estimates[HOLDER], duel.weights[HOLDER]
            belief.doubts[arm] = duel.doubts[HOLDER]


@compiled
def allowed(world: World, edge: int, arm: int, count: float, mean: float) -> tuple[float, float]:
    """The count and mean to send: for a careful Byzantine agent, the nearest that can follow its past reports."""
    if not world.careful:
        return count, mean
    return nearest(count, mean, world.past_pulls[edge, arm], world.past_totals[edge, arm], True)


@compiled
def set_side(duel: Belief, side: int, belief: Belief, arm: int) -> None:
    """Put what is believed of an arm on one side of a comparison."""
    duel.estimates[side], duel.weights[side], duel.doubts[side] = (
        belief.estimates[arm],
        belief.weights[arm],
        belief.doubts[arm],
    )
    duel.own_estimates[side], duel.own_weights[side] = belief.own_estimates[arm], belief.own_weights[arm]


@compiled
def begin_duel(duel: Belief, belief: Belief, arm: int) -> None:
    """Prepare a comparison on an arm: what is believed of it now, and mean 0 with the weight of all other arms."""
    set_side(duel, HOLDER, belief, arm)
    weight, own_weight = 0.0, 0.0
    for other in range(belief.weights.size):
        if other != arm:
            weight += belief.weights[other]
            own_weight += belief.own_weights[other]
    duel.weights[REST], duel.own_weights[REST] = max(weight, 1.0), max(own_weight, 1.0)


plan = specialize(plan_lies)  # `specialize` puts that with the receiver's own filter and policy in its place


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """What was planned for a receiver that is struck, planned anew when it is time; to others one's own tally.

    `scratch` has the planned counts of every receiver, then the planned means, then the round of the next plan.
    """
    agents = world.pulls.shape[0]
    if not is_struck(world, receiver, params):
        for arm in range(report.pulls.size):
            report.pulls[arm], report.means[arm] = world.pulls[sender, arm], world.means[sender, arm]
        return
    if world.time >= scratch[2 * agents + receiver, 0]:
        plan(world, sender, receiver, params, rng, scratch[receiver], scratch[agents + receiver])
        scratch[2 * agents + receiver, 0] = world.time + 1.0 + math.floor(params[PACE] * world.time)
    for arm in range(report.pulls.size):
        report.pulls[arm], report.means[arm] = scratch[receiver, arm], scratch[agents + receiver, arm]


@cache
def _against(believe: Any, choose: Any) -> Any:
    receiver = specialize(believe_agent, believe=believe)
    template: Any = lie
    return specialize(template.py_func, plan=specialize(plan_lies, believe_receiver=receiver, choose=choose))


TRIED = (
    "how many standard errors off the honest mean lies are tried, above 0; at how many levels on either side, 1 to 50; "
    "and after what share of the time so far they are tried anew, 0 or more"
)


class Foresight(Attack):
    """What `greedy`, `victim` and `phased` share."""

    lie = staticmethod(lie)
    reach: float
    levels: int
    pace: float

    def _numbers(self, victim: int = 0, rounds: int = 0) -> tuple[float, ...]:
        """The parameters as `lie` takes them; BadInput where they are not allowed."""
        if not (0.0 < self.reach < math.inf and 1 <= self.levels <= 50 and 0.0 <= self.pace < math.inf):
            raise self.misunderstood(self.to_text())
        return float(self.reach), float(self.levels), float(self.pace), float(victim), float(rounds)

    @classmethod
    def lie_against(cls, believe: Any, choose: Any) -> Any:
        return _against(believe, choose)

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 3 * agents, arms


@dataclass(frozen=True)
class Greedy(Foresight):
    """The worst of some lies, as the receiver's own filter and policy judge them."""

    parameters = f"greedy:3,4,0.01, {TRIED}"
    reach: float = 3.0
    levels: int = 4
    pace: float = 0.01

    def __post_init__(self) -> None:
        self._numbers()

    @property
    def params(self) -> tuple[float, ...]:
        return self._numbers()


@dataclass(frozen=True)
class Victim(Foresight):
    """`greedy` against one honest agent for the whole run; the others are told the truth."""

    parameters = f"victim:1,3,4,0.01, which honest agent is struck, from 1; {TRIED}"
    victim: int = 1
    reach: float = 3.0
    levels: int = 4
    pace: float = 0.01

    def __post_init__(self) -> None:
        if self.victim < 1:
            raise self.misunderstood(self.to_text())
        self._numbers()

    @property
    def params(self) -> tuple[float, ...]:
        return self._numbers(victim=self.victim)


@dataclass(frozen=True)
class Phased(Foresight):
    """`greedy` against one honest agent after the other, each for some rounds; the others are told the truth."""

    parameters = f"phased:1000,3,4,0.01, for how many rounds each is struck, 1 or more; {TRIED}"
    rounds: int = 1000
    reach: float = 3.0
    levels: int = 4
    pace: float = 0.01

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise self.misunderstood(self.to_text())
        self._numbers()

    @property
    def params(self) -> tuple[float, ...]:
        return self._numbers(rounds=self.rounds)
