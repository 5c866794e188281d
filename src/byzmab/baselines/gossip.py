"""Gossip of arm names, without blocking and with: GosInE (Chawla et al. 2020), Vial et al. 2021 and 2022.

An agent plays UCB(α) on its active arms: S sticky ones that it never gives up, and two more, U and L. Phase j ends
after ⌈j^β⌉ rounds. Then the agent asks one neighbour for the arm that this one pulled most within the phase. It takes
that arm in place of the worse of U and L. Nothing but the name of an arm is ever sent.

Blocking: a neighbour is not asked for a while if the arm that it recommended did not become the agent's own most pulled
(2021). In the 2022 version, it is not asked if the agent hardly pulled that arm, while its own most pulled arm stayed
the same for long.

A report stands for a recommendation: the arm with the largest mean, ties at random; without counts there is none.
Honest agents tell mean 1 on the arm that they recommend, 0 on other active arms and −1 on those that are not active.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from byzmab.baselines.base import Baseline, Network, count_instead
from byzmab.core.compiler import compiled
from byzmab.core.draws import below, fold
from byzmab.core.errors import BadInput
from byzmab.core.policies.base import TIED, argmax_at_random
from byzmab.core.report import Floats, Integers, Words
from byzmab.engine.state import State
from byzmab.engine.typed import array, setting

NO_BLOCKING, BY_FAVOURITE, BY_PULLS = range(3)  # rules of blocking: GosInE, 2021, 2022
NOBODY = -1  # was asked; or no arm was recommended
NOT_ACTIVE = -1.0  # told as the mean of an arm


class GossipState(State):
    """What agents that gossip keep besides."""

    alpha: float = setting("α of UCB(α)")
    beta: float = setting("phase j ends after ⌈j^β⌉ rounds")
    eta: float = setting("η: one is blocked from phase j to ⌈j^η⌉")
    sticky: int = setting("S")
    rule: int = setting("when to block: one of the constants above")
    upper: Integers = array("agents", about="U")
    lower: Integers = array("agents", about="L")
    favourite: Integers = array("agents", about="the arm pulled most in the latest phase")
    since: Integers = array("agents", about="since which phase it has been that arm")
    asked: Integers = array("agents", about="whom each asked last, or NOBODY")
    heard: Integers = array("agents", about="the arm that this one recommended, or NOBODY")
    blocked: Integers = array("agents", "agents", about="the last phase in which the one blocks the other")


@compiled
def is_active(state: GossipState, agent: int, arm: int) -> bool:
    """Whether an arm is U, L or one of the sticky arms, which go on from the first one."""
    first = (agent - state.byzantine) * state.sticky
    is_sticky = (arm - first) % state.arms < state.sticky
    return bool(state.upper[agent] == arm or state.lower[agent] == arm or is_sticky)


@compiled
def recommended(pulls: Floats, means: Floats, rng: Words) -> int:
    """The arm that a report recommends: the largest mean, ties at random; NOBODY where it has no counts."""
    best, tied, chosen = -math.inf, 0, NOBODY
    for arm in range(pulls.size):
        if pulls[arm] > 0.0 and means[arm] > best + TIED:
            best, tied, chosen = means[arm], 1, arm
        elif pulls[arm] > 0.0 and means[arm] >= best - TIED:
            tied += 1
            chosen = arm if below(rng, tied) == 0 else chosen
    return chosen


@compiled
def block(state: GossipState, agent: int) -> None:
    """Block the one asked in the phase before for phases j to ⌈j^η⌉, if its recommendation failed by the rule."""
    asked, heard, phase = state.asked[agent], state.heard[agent], state.phase
    if asked == NOBODY or state.rule == NO_BLOCKING:
        return
    if state.rule == BY_FAVOURITE:
        failed = state.favourite[agent] != heard
    else:
        used = state.pulls[agent, heard] if heard != NOBODY else 0.0
        long_ago = max(1, int(phase - math.log(phase)))  # ⌊θ_j⌋
        failed = used <= phase**1.5 and state.since[agent] <= long_ago  # κ_j
    if failed:
        state.blocked[agent, asked] = math.ceil(phase**state.eta)


@compiled
def gossip(state: GossipState) -> int:
    """At the end of a phase: let every agent block, ask and insert; return how many were asked."""
    agents, pulls, before = state.agents, state.pulls, state.doubts
    told_pulls, told_means = state.told_pulls, state.told_means
    starts, senders, rows = state.inbox_starts, state.inbox_senders, state.inbox_rows
    keys, rng = state.policy_keys, state.rng
    asked = 0
    for agent in range(agents):
        rng[0] = fold(fold(keys[agent], state.time), 1)
        block(state, agent)
        state.asked[agent] = state.heard[agent] = NOBODY
        seen, row = 0, NOBODY
        for entry in range(starts[agent], starts[agent + 1]):
            if state.blocked[agent, senders[entry]] < state.phase:
                seen += 1
                if below(rng, seen) == 0:
                    row, state.asked[agent] = rows[entry], senders[entry]
        if row == NOBODY:
            continue
        asked += 1
        arm = recommended(told_pulls[row], told_means[row], rng)
        state.heard[agent] = arm
        if arm != NOBODY and not is_active(state, agent, arm):
            upper, lower = state.upper[agent], state.lower[agent]
            if pulls[agent, lower] - before[agent, lower] > pulls[agent, upper] - before[agent, upper]:
                state.upper[agent] = lower
            state.lower[agent] = arm
    for agent in range(agents):
        for arm in range(state.arms):
            before[agent, arm] = pulls[agent, arm]
    return asked


def decide(state: GossipState) -> None:
    """Gossip where a phase has ended; then the active arm with the largest x̄ + √(α ln t / n)."""
    agents, arms = state.agents, state.arms
    pulls, means = state.pulls, state.means
    choices, index = state.choices, state.estimates
    keys, rng = state.policy_keys, state.rng
    if state.talks == 1:
        count_instead(state, gossip(state), 1)
        state.talks = 0
        state.phase += 1
    width = state.alpha * math.log(max(state.time, 1))
    for agent in range(agents):
        for arm in range(arms):
            if is_active(state, agent, arm):
                index[agent, arm] = means[agent, arm] + math.sqrt(width / pulls[agent, arm])
            else:
                index[agent, arm] = -math.inf
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index[agent], rng)


def update(state: GossipState) -> None:
    """Where a phase ends: the arm pulled most within it is what is told."""
    if state.time + 1 < math.ceil(state.phase**state.beta):
        return
    state.talks = 1
    agents, arms = state.agents, state.arms
    pulls, before = state.pulls, state.doubts
    told_pulls, told_means = state.told_pulls, state.told_means
    within = state.weights
    keys, rng = state.policy_keys, state.rng
    for agent in range(agents):
        for arm in range(arms):
            active = is_active(state, agent, arm)
            within[agent, arm] = pulls[agent, arm] - before[agent, arm] if active else -1.0
            told_pulls[agent, arm], told_means[agent, arm] = pulls[agent, arm], 0.0 if active else NOT_ACTIVE
        rng[0] = fold(fold(keys[agent], state.time), 2)
        favourite = argmax_at_random(within[agent], rng)
        told_means[agent, favourite] = 1.0
        if state.favourite[agent] != favourite:
            state.favourite[agent], state.since[agent] = favourite, state.phase


@dataclass(frozen=True)
class Gossip(Baseline):
    """What the three algorithms share."""

    rule: ClassVar[int]
    trims = False
    assumes = "every arm sticky for some honest agent; graph connected"
    state = GossipState
    decide = staticmethod(decide)
    update = staticmethod(update)
    alpha: float = 4.0  # of UCB(α)
    beta: float = 2.0  # phase j ends after ⌈j^β⌉ rounds
    sticky: int = 0  # S; 0 for as many as let honest agents cover all arms

    def __post_init__(self) -> None:
        exponents = 1.0 <= self.beta <= 8.0 and 1.0 <= self.blocking_exponent() <= 8.0
        if not (0.0 <= self.alpha < math.inf and exponents and self.sticky >= 0):
            raise self.misunderstood(self.to_text())

    def blocking_exponent(self) -> float:
        """η: one is blocked from phase j to ⌈j^η⌉."""
        return 1.0

    def check(self, network: Network) -> None:
        most = max(network.arms - 2, 0)
        if self.sticky > most:
            raise BadInput(
                f"sticky {self.sticky} leaves no room for two more active arms; allowed: 1 to {most} of {network.arms} "
                "arms, or 0 for as many as let the normal agents cover all arms"
            )

    def message_bytes(self, arms: int) -> int:
        """The number of an arm."""
        return max(1, math.ceil(math.log2(arms) / 8))

    def sticky_arms(self, arms: int, normal: int) -> int:
        """S, as given or ⌈K / n⌉; with U and L no more than there are arms."""
        return min(self.sticky or math.ceil(arms / normal), max(arms - 2, 0))

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, GossipState)
        sticky = self.sticky_arms(state.arms, state.honest)
        state.alpha, state.beta, state.eta = self.alpha, self.beta, self.blocking_exponent()
        state.sticky, state.rule = sticky, self.rule
        first = (np.arange(state.agents) - state.byzantine) * sticky
        state.upper, state.lower = (first + sticky) % state.arms, (first + sticky + 1) % state.arms
        for kept in (state.favourite, state.since, state.asked, state.heard):
            kept[:] = NOBODY
        state.doubts[:] = state.pulls  # as they were when the phase began
        state.talks = 0


@dataclass(frozen=True)
class Gosine(Gossip):
    """GosInE (Chawla et al. 2020): gossip of arm names, no blocking."""

    rule = NO_BLOCKING
    knows = "nothing"
    assumes = "no liars; every arm sticky for some agent; graph connected"
    parameters = "alpha=4 (0 or more), beta=3 (1 to 8), sticky=0 (arms for ever; 0: ⌈K/n⌉)"
    beta: float = 3.0


@dataclass(frozen=True)
class BlockingGossip(Gossip):
    """What the two with blocking share."""

    parameters = "alpha=4 (0 or more), beta=2 (1 to 8), sticky=0 (arms for ever; 0: ⌈K/n⌉), eta=2 (1 to 8)"
    eta: float = 2.0

    def blocking_exponent(self) -> float:
        return self.eta


@dataclass(frozen=True)
class Vial2021(BlockingGossip):
    """Blocking gossip (Vial et al. 2021): blocks who named an arm that did not become one's favourite."""

    rule = BY_FAVOURITE
    knows = "nothing"
    assumes = "complete graph; every arm sticky for some honest agent"


@dataclass(frozen=True)
class Vial2022(BlockingGossip):
    """Blocking gossip (Vial et al. 2022): blocks who named an arm hardly pulled while one's favourite stayed."""

    rule = BY_PULLS
    knows = "nothing"
    assumes = "undirected graph, honest part connected; every arm sticky for some honest agent"
