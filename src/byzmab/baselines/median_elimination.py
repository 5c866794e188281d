"""Elimination by medians at a server: after RCLB (Mitra et al. 2022) and Fed-MoM-UCB (Saday et al. 2025).

All agents pull all active arms in turn, equally often. At the end of a phase they send their means to a server, which
takes the median over agents, or over groups of them. It drops the arms that are far below the best, and tells every
agent which are left. The server is the last honest agent; it must hear every agent. All agents follow its verdict, so
that phases always match: without a server, a Byzantine agent that sends each agent something else would part them.

- RCLB on orthonormal arms: phases ℓ with ε = 2^−ℓ, means of the phase, 2γ = 2 √2 (1 + C a √N) ε, a = f / N.
- Fed-MoM-UCB: means of all phases so far, medians of the means of groups of B, and 2E by the share a of Byzantine
  agents; it ends when E is small enough for the margin ε.
"""

import math
from dataclasses import dataclass
from typing import Any

from byzmab.baselines.base import NUMBER_BYTES, Baseline, Network, check_hears_all, count_instead, neighbours_of
from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.liars import f_for
from byzmab.core.report import Integers
from byzmab.core.sorting import sort
from byzmab.engine.state import State
from byzmab.engine.typed import array, progress, setting

SIGMA = 0.5  # of rewards on [0, 1]
STEP = 10  # pulls of every arm in a phase of Fed-MoM-UCB: s(p) = 10 p


class EliminationState(State):
    """What the server and the agents keep besides."""

    groups: int = setting("0: RCLB; 1: Fed-MoM-UCB")
    slope: float = setting("C of RCLB")
    delta: float = setting("the chance to fail")
    share: float = setting("a: the share of Byzantine agents reckoned with")
    group_size: int = setting("B of Fed-MoM-UCB")
    spread: float = setting("E √s of Fed-MoM-UCB")
    epsilon: float = setting("the margin of Fed-MoM-UCB")
    left: int = progress("rounds left in the phase")
    turn: int = progress("the arm whose turn it is")
    done: int = progress("1 once one arm is left")
    active: Integers = array("arms", about="1 for an active arm")


@compiled
def pulls_needed(phase: int, arms: int, delta: float) -> int:
    """How often an arm is pulled in a phase of RCLB, by all agents together."""
    return math.ceil(math.log(arms * phase * phase / delta) * 4.0**phase)


@compiled
def pulls_in_phase(state: EliminationState) -> int:
    """How often every agent pulls every active arm."""
    if state.groups == 1:
        return STEP
    return math.ceil(pulls_needed(state.phase, state.arms, state.delta) / state.agents)


@compiled
def margin(state: EliminationState) -> float:
    """How far below the best an arm is dropped: 2γ, or 2E."""
    if state.groups == 1:
        return 2.0 * state.spread / math.sqrt(STEP * state.phase)
    return 2.0 * math.sqrt(2.0) * (1.0 + state.slope * state.share * math.sqrt(state.agents)) * 2.0**-state.phase


@compiled
def median(values: Any) -> float:
    """The median; the values are sorted."""
    sort(values)
    middle = values.size // 2
    return float(values[middle] if values.size % 2 else 0.5 * (values[middle - 1] + values[middle]))


@compiled
def median_of_groups(values: Any, size: int) -> float:
    """The median of the means of groups of a size, in the order of agents; those left over are in none."""
    groups = values.size // size
    for group in range(groups):
        total = 0.0
        for member in range(group * size, (group + 1) * size):
            total += values[member]
        values[group] = total / size
    return median(values[:groups])


@compiled
def judge(state: EliminationState) -> None:
    """The server's verdict: which arms stay active."""
    agents, arms = state.agents, state.arms
    active = state.active
    told_pulls = state.told_pulls
    told_means = state.told_means
    starts, rows = state.inbox_starts, state.inbox_rows
    values, medians = state.work_means, state.estimates[0]
    server, best = agents - 1, -math.inf
    for arm in range(arms):
        heard = 0
        for entry in range(starts[server], starts[server + 1]):
            if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                values[heard] = told_means[rows[entry], arm]
                heard += 1
        values[heard] = told_means[server, arm]
        medians[arm] = median_of_groups(values[: heard + 1], min(state.group_size, heard + 1))
        if active[arm] == 1:
            best = max(best, medians[arm])
    far = margin(state)
    left = 0
    for arm in range(arms):
        if medians[arm] < best - far:
            active[arm] = 0
        left += active[arm]
    if left > 1 and state.groups == 1 and far <= state.epsilon / 2.0:
        for arm in range(arms):
            active[arm] &= medians[arm] == best
        left = 1
    state.done = left == 1


@compiled
def begin_phase(state: EliminationState) -> None:
    """How many rounds it has; from when on means are counted, where they are those of the phase."""
    agents, arms = state.agents, state.arms
    left = 0
    for arm in range(arms):
        left += state.active[arm]
    state.left, state.turn = left * pulls_in_phase(state), 0
    if state.groups == 0:
        pulls, totals = state.pulls, state.totals
        pulls_before, totals_before = state.weights, state.doubts
        for agent in range(agents):
            for arm in range(arms):
                pulls_before[agent, arm], totals_before[agent, arm] = pulls[agent, arm], totals[agent, arm]


def decide(state: EliminationState) -> None:
    """The next active arm in turn, the same for everyone; at the end of a phase the verdict comes first."""
    agents, arms = state.agents, state.arms
    active, choices = state.active, state.choices
    if state.talks == 1:
        judge(state)
        count_instead(state, 2 * (agents - 1), arms)  # to the server and back
        state.talks = 0
        state.phase += 1
        begin_phase(state)
    while active[state.turn] == 0:
        state.turn = (state.turn + 1) % arms
    for agent in range(agents):
        choices[agent] = state.turn
    state.turn = (state.turn + 1) % arms


def update(state: EliminationState) -> None:
    """At the end of a phase everyone tells its means."""
    state.left -= 1
    if state.left > 0 or state.done == 1:
        return
    state.talks = 1
    agents, arms = state.agents, state.arms
    pulls, totals = state.pulls, state.totals
    pulls_before, totals_before = state.weights, state.doubts
    told_pulls, told_means = state.told_pulls, state.told_means
    for agent in range(agents):
        for arm in range(arms):
            count = pulls[agent, arm] - pulls_before[agent, arm]
            total = totals[agent, arm] - totals_before[agent, arm]
            told_pulls[agent, arm] = count
            told_means[agent, arm] = total / count if count > 0.0 else 0.0


@dataclass(frozen=True)
class MedianElimination(Baseline):
    """Elimination by medians at a server: after RCLB (Mitra et al. 2022); groups=1: Fed-MoM-UCB (Saday et al. 2025)."""

    state = EliminationState
    decide = staticmethod(decide)
    update = staticmethod(update)
    knows = "N, the share of liars"
    assumes = "a server that hears everyone and does not lie; liars below half"
    parameters = (
        "groups=0 (1: Fed-MoM-UCB), constant=1 (0 or more), delta=0.01 (between 0 and 1), share=-1 (of liars, below "
        "0.5; negative: f/N), epsilon=0.05 (at least 0, below 1)"
    )
    groups: int = 0  # 0: RCLB; 1: Fed-MoM-UCB
    constant: float = 1.0  # C of RCLB, of a lemma
    delta: float = 0.01  # of RCLB: the chance to fail
    share: float = -1.0  # a: the share of Byzantine agents assumed; f / N if negative
    epsilon: float = 0.05  # of Fed-MoM-UCB: the margin within which arms are as good as the best

    def __post_init__(self) -> None:
        allowed = self.groups in (0, 1) and 0.0 <= self.constant < math.inf and 0.0 < self.delta < 1.0
        if not (allowed and self.share < 0.5 and 0.0 <= self.epsilon < 1.0):
            raise self.misunderstood(self.to_text())

    def check(self, network: Network) -> None:
        check_hears_all("median-elimination", network)
        heard = 0 if network.graph.random else neighbours_of(network)[-1].sum()
        if network.redrawn or heard < network.agents - 1:
            raise BadInput(
                f"graph {network.name!r} does not go with algorithm 'median-elimination', whose server is the last "
                "normal agent and hears everyone; allowed: complete, star, or a fixed graph in which it does"
            )
        if 2 * f_for(network.f, network.agents - 1) >= network.agents and self.share < 0.0:
            most = (network.agents - 1) // 2
            raise BadInput(
                f"f {network.f} is not below half of {network.agents} agents, as a median needs; allowed: 0 to {most}"
            )

    def message_bytes(self, arms: int) -> int:
        """A mean of every arm; the verdict is not larger."""
        return NUMBER_BYTES * arms

    def group_size(self, agents: int, share: float) -> int:
        """B of Fed-MoM-UCB: ⌊N / ⌈N α⌉⌋ with α = (1 + 2a) / 2."""
        return max(1, agents // math.ceil(agents * (1.0 + 2.0 * share) / 2.0))

    def spread(self, agents: int, share: float) -> float:
        """E √s of Fed-MoM-UCB: 2 σ √((4η − 1) ln 2 / ((2η − 1) B)), η = (α − a) / α."""
        alpha = (1.0 + 2.0 * share) / 2.0
        eta = (alpha - share) / alpha
        return 2.0 * SIGMA * math.sqrt(self._omega(eta) / self.group_size(agents, share))

    @staticmethod
    def _omega(eta: float) -> float:
        return (4.0 * eta - 1.0) * math.log(2.0) / (2.0 * eta - 1.0)

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, EliminationState)
        share = self.share if self.share >= 0.0 else f_for(state.f, state.agents - 1) / state.agents
        state.groups, state.slope, state.delta, state.epsilon = self.groups, self.constant, self.delta, self.epsilon
        state.share, state.spread = share, self.spread(state.agents, share)
        state.group_size = self.group_size(state.agents, share) if self.groups else 1
        state.active[:] = 1
        state.left = state.arms * pulls_in_phase(state.whole())
        state.doubts[:] = state.totals  # weights are pulls already: both as the phase begins
        state.talks = 0
