"""Gossip of arm names, without blocking and with: GosInE (Chawla et al. 2020), Vial et al. 2021 and 2022.

An agent plays UCB(α) on its active arms: S sticky ones that it never gives up, and two more, U and L. At the end of
phase j, after ⌈j^β⌉ rounds, it asks one neighbour for the arm that this one pulled most within the phase, and takes it
in place of the worse of U and L. Nothing but the name of an arm is ever told. Blocking: whoever recommended an arm
that did not become one's own most pulled (2021), or that one hardly pulled while one's own most pulled stayed the same
for long (2022), is not asked for a while.

A report stands for a recommendation: the arm with the largest mean, ties at random; without counts there is none.
Honest agents tell mean 1 on the arm that they recommend, 0 on other active arms and −1 on those that are not active.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.baselines.base import Baseline, Network, count_instead, keep
from byzmab.core.compiler import compiled
from byzmab.core.draws import below, fold
from byzmab.core.errors import BadInput
from byzmab.core.policies.base import TIED, argmax_at_random
from byzmab.core.report import Floats, Words
from byzmab.engine.state import NetworkState, floats, integer_table, integers, table, words

ALPHA, BETA, ETA, STICKY, RULE = range(5)  # where the parameters are
NO_BLOCKING, BY_FAVOURITE, BY_PULLS = range(3)  # rules of blocking: GosInE, 2021, 2022
NOBODY = -1  # was asked; or no arm was recommended
NOT_ACTIVE = -1.0  # told as the mean of an arm
# rows of what agents keep: U, L, the most pulled arm and since which phase, whom they asked and what they heard; then
# one row for each agent, with the last phase in which it is blocked
UPPER, LOWER, FAVOURITE, SINCE, ASKED, HEARD, BLOCKED = range(7)


@compiled
def is_active(kept: Any, agent: int, arm: int, first: int, sticky: int, arms: int) -> bool:
    """Whether an arm is U, L or one of the sticky arms, which go on from the first one."""
    return bool(kept[UPPER, agent] == arm or kept[LOWER, agent] == arm or (arm - first) % arms < sticky)


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
def block(kept: Any, agent: int, phase: int, pulls: Floats, params: Floats) -> None:
    """Block the one asked in the phase before for phases j to ⌈j^η⌉, if its recommendation failed by the rule."""
    asked, heard = kept[ASKED, agent], kept[HEARD, agent]
    if asked == NOBODY or params[RULE] == NO_BLOCKING:
        return
    if params[RULE] == BY_FAVOURITE:
        failed = kept[FAVOURITE, agent] != heard
    else:
        used = pulls[heard] if heard != NOBODY else 0.0
        long_ago = max(1, int(phase - math.log(phase)))  # ⌊θ_j⌋
        failed = used <= phase**1.5 and kept[SINCE, agent] <= long_ago  # κ_j
    if failed:
        kept[BLOCKED + asked, agent] = math.ceil(phase ** params[ETA])


@compiled
def gossip(state: Any) -> int:
    """At the end of a phase: let every agent block, ask and insert; return how many were asked."""
    agents, arms, phase = state.agents, state.arms, state.phase
    params = floats(state.baseline_params, state.baseline_params_size)
    sticky = int(params[STICKY])
    kept = integer_table(state.baseline_integers, BLOCKED + agents, agents)
    pulls, before = table(state.pulls, agents, arms), table(state.doubts, agents, arms)
    told_pulls = table(state.told_pulls, agents + state.lie_capacity, arms)
    told_means = table(state.told_means, agents + state.lie_capacity, arms)
    starts = integers(state.inbox_starts, agents + 1)
    senders = integers(state.inbox_senders, state.inbox_capacity)
    rows = integers(state.inbox_rows, state.inbox_capacity)
    keys, rng = words(state.policy_keys, agents), words(state.rng, 1)
    asked = 0
    for agent in range(agents):
        rng[0] = fold(fold(keys[agent], state.time), 1)
        block(kept, agent, phase, pulls[agent], params)
        kept[ASKED, agent] = kept[HEARD, agent] = NOBODY
        seen, row = 0, NOBODY
        for entry in range(starts[agent], starts[agent + 1]):
            if kept[BLOCKED + senders[entry], agent] < phase:
                seen += 1
                if below(rng, seen) == 0:
                    row, kept[ASKED, agent] = rows[entry], senders[entry]
        if row == NOBODY:
            continue
        asked += 1
        arm = recommended(told_pulls[row], told_means[row], rng)
        kept[HEARD, agent] = arm
        if arm != NOBODY and not is_active(kept, agent, arm, (agent - state.byzantine) * sticky, sticky, arms):
            upper, lower = kept[UPPER, agent], kept[LOWER, agent]
            if pulls[agent, lower] - before[agent, lower] > pulls[agent, upper] - before[agent, upper]:
                kept[UPPER, agent] = lower
            kept[LOWER, agent] = arm
    for agent in range(agents):
        for arm in range(arms):
            before[agent, arm] = pulls[agent, arm]
    return asked


def decide(state: Any) -> None:
    """Gossip where a phase has ended; then the active arm with the largest x̄ + √(α ln t / n)."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    sticky = int(params[STICKY])
    kept = integer_table(state.baseline_integers, BLOCKED + agents, agents)
    pulls, means = table(state.pulls, agents, arms), table(state.means, agents, arms)
    choices, index = integers(state.choices, agents), table(state.estimates, agents, arms)
    keys, rng = words(state.policy_keys, agents), words(state.rng, 1)
    if state.talks == 1:
        count_instead(state, gossip(state), 1)
        state.talks = 0
        state.phase += 1
    width = params[ALPHA] * math.log(max(state.time, 1))
    for agent in range(agents):
        first = (agent - state.byzantine) * sticky
        for arm in range(arms):
            if is_active(kept, agent, arm, first, sticky, arms):
                index[agent, arm] = means[agent, arm] + math.sqrt(width / pulls[agent, arm])
            else:
                index[agent, arm] = -math.inf
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index[agent], rng)


def update(state: Any) -> None:
    """Where a phase ends: the arm pulled most within it is what is told."""
    params = floats(state.baseline_params, state.baseline_params_size)
    if state.time + 1 < math.ceil(state.phase ** params[BETA]):
        return
    state.talks = 1
    agents, arms, sticky = state.agents, state.arms, int(params[STICKY])
    kept = integer_table(state.baseline_integers, BLOCKED + agents, agents)
    pulls, before = table(state.pulls, agents, arms), table(state.doubts, agents, arms)
    told_pulls, told_means = table(state.told_pulls, agents, arms), table(state.told_means, agents, arms)
    within = table(state.weights, agents, arms)
    keys, rng = words(state.policy_keys, agents), words(state.rng, 1)
    for agent in range(agents):
        first = (agent - state.byzantine) * sticky
        for arm in range(arms):
            active = is_active(kept, agent, arm, first, sticky, arms)
            within[agent, arm] = pulls[agent, arm] - before[agent, arm] if active else -1.0
            told_pulls[agent, arm], told_means[agent, arm] = pulls[agent, arm], 0.0 if active else NOT_ACTIVE
        rng[0] = fold(fold(keys[agent], state.time), 2)
        favourite = argmax_at_random(within[agent], rng)
        told_means[agent, favourite] = 1.0
        if kept[FAVOURITE, agent] != favourite:
            kept[FAVOURITE, agent], kept[SINCE, agent] = favourite, state.phase


@dataclass(frozen=True)
class Gossip(Baseline):
    """What the three algorithms share."""

    rule: ClassVar[int]
    trims = False
    assumes = "every arm sticky for some honest agent; graph connected"
    decide = staticmethod(decide)
    update = staticmethod(update)
    alpha: float = 4.0  # of UCB(α)
    beta: float = 2.0  # phase j ends after ⌈j^β⌉ rounds
    sticky: int = 0  # S; 0 for as many as let normal agents cover all arms

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

    def begin(self, state: NetworkState) -> None:
        super().begin(state)
        agents, arms, byzantine = (int(state.record[name]) for name in ("agents", "arms", "byzantine"))
        sticky = self.sticky_arms(arms, agents - byzantine)
        params = self.alpha, self.beta, self.blocking_exponent(), sticky, self.rule
        keep(state, "baseline_params", params)
        kept = np.full((BLOCKED + agents, agents), NOBODY)
        first = (np.arange(agents) - byzantine) * sticky
        kept[UPPER], kept[LOWER] = (first + sticky) % arms, (first + sticky + 1) % arms
        kept[BLOCKED:] = 0
        keep(state, "baseline_integers", kept)
        state["doubts"][:] = state["pulls"]  # as they were when the phase began
        state.record["talks"] = 0


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
