"""Elimination by medians at a server: after RCLB (Mitra et al. 2022) and Fed-MoM-UCB (Saday et al. 2025).

All agents pull all active arms in turn, equally often. At the end of a phase they tell their means to a server, which
takes the median over agents, or over groups of them, drops the arms that are far below the best, and tells everyone
which are left. The server is the last normal agent; it must hear everyone. Everyone follows its verdict, so
that phases always match: without a server, a liar who tells each agent something else would part them.

- RCLB on orthonormal arms: phases ℓ with ε = 2^−ℓ, means of the phase, 2γ = 2 √2 (1 + C a √N) ε, a = f / N.
- Fed-MoM-UCB: means of all phases so far, medians of the means of groups of B, and 2E by the share a of liars; it ends
  when E is small enough for the margin ε.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from byzmab.baselines.base import NUMBER_BYTES, Baseline, Network, check_hears_all, count_instead, keep, neighbours_of
from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.liars import f_for
from byzmab.core.sorting import sort
from byzmab.engine.state import NetworkState, floats, integers, table

SIGMA = 0.5  # of rewards on [0, 1]
STEP = 10  # pulls of every arm in a phase of Fed-MoM-UCB: s(p) = 10 p
GROUPS, CONSTANT, DELTA, SHARE, SIZE, SPREAD, MARGIN = range(7)  # where the parameters are
LEFT, TURN, DONE, ACTIVE = range(4)  # of what is kept: rounds left in the phase, whose turn, 1 if done, then each arm


@compiled
def pulls_in_phase(phase: int, agents: int, arms: int, params: Any) -> int:
    """How often every agent pulls every active arm."""
    if params[GROUPS] == 1.0:
        return STEP
    needed = math.ceil(math.log(arms * phase * phase / params[DELTA]) * 4.0**phase)
    return math.ceil(needed / agents)


@compiled
def margin(phase: int, agents: int, params: Any) -> float:
    """How far below the best an arm is dropped: 2γ, or 2E."""
    if params[GROUPS] == 1.0:
        return float(2.0 * params[SPREAD] / math.sqrt(STEP * phase))
    return float(2.0 * math.sqrt(2.0) * (1.0 + params[CONSTANT] * params[SHARE] * math.sqrt(agents)) * 2.0**-phase)


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
def judge(state: Any) -> None:
    """The server's verdict: which arms stay active."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    kept = integers(state.baseline_integers, state.baseline_integers_size)
    told_pulls = table(state.told_pulls, agents + state.lie_capacity, arms)
    told_means = table(state.told_means, agents + state.lie_capacity, arms)
    starts, rows = integers(state.inbox_starts, agents + 1), integers(state.inbox_rows, state.inbox_capacity)
    values, medians = floats(state.work_means, state.max_inbox), table(state.estimates, agents, arms)[0]
    server, best = agents - 1, -math.inf
    for arm in range(arms):
        heard = 0
        for entry in range(starts[server], starts[server + 1]):
            if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                values[heard] = told_means[rows[entry], arm]
                heard += 1
        values[heard] = told_means[server, arm]
        medians[arm] = median_of_groups(values[: heard + 1], min(int(params[SIZE]), heard + 1))
        if kept[ACTIVE + arm] == 1:
            best = max(best, medians[arm])
    far = margin(state.phase, agents, params)
    left = 0
    for arm in range(arms):
        if medians[arm] < best - far:
            kept[ACTIVE + arm] = 0
        left += kept[ACTIVE + arm]
    if left > 1 and params[GROUPS] == 1.0 and far <= params[MARGIN] / 2.0:
        for arm in range(arms):
            kept[ACTIVE + arm] &= medians[arm] == best
        left = 1
    kept[DONE] = left == 1


@compiled
def begin_phase(state: Any, kept: Any) -> None:
    """How many rounds it has; from when on means are counted, where they are those of the phase."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    active = 0
    for arm in range(arms):
        active += kept[ACTIVE + arm]
    kept[LEFT], kept[TURN] = active * pulls_in_phase(state.phase, agents, arms, params), 0
    if params[GROUPS] == 0.0:
        pulls, totals = table(state.pulls, agents, arms), table(state.totals, agents, arms)
        pulls_before, totals_before = table(state.weights, agents, arms), table(state.doubts, agents, arms)
        for agent in range(agents):
            for arm in range(arms):
                pulls_before[agent, arm], totals_before[agent, arm] = pulls[agent, arm], totals[agent, arm]


def decide(state: Any) -> None:
    """The next active arm in turn, the same for everyone; at the end of a phase the verdict comes first."""
    agents, arms = state.agents, state.arms
    kept = integers(state.baseline_integers, state.baseline_integers_size)
    choices = integers(state.choices, agents)
    if state.talks == 1:
        judge(state)
        count_instead(state, 2 * (agents - 1), arms)  # to the server and back
        state.talks = 0
        state.phase += 1
        begin_phase(state, kept)
    while kept[ACTIVE + kept[TURN]] == 0:
        kept[TURN] = (kept[TURN] + 1) % arms
    for agent in range(agents):
        choices[agent] = kept[TURN]
    kept[TURN] = (kept[TURN] + 1) % arms


def update(state: Any) -> None:
    """At the end of a phase everyone tells its means."""
    kept = integers(state.baseline_integers, state.baseline_integers_size)
    kept[LEFT] -= 1
    if kept[LEFT] > 0 or kept[DONE] == 1:
        return
    state.talks = 1
    agents, arms = state.agents, state.arms
    pulls, totals = table(state.pulls, agents, arms), table(state.totals, agents, arms)
    pulls_before, totals_before = table(state.weights, agents, arms), table(state.doubts, agents, arms)
    told_pulls, told_means = table(state.told_pulls, agents, arms), table(state.told_means, agents, arms)
    for agent in range(agents):
        for arm in range(arms):
            count = pulls[agent, arm] - pulls_before[agent, arm]
            total = totals[agent, arm] - totals_before[agent, arm]
            told_pulls[agent, arm] = count
            told_means[agent, arm] = total / count if count > 0.0 else 0.0


@dataclass(frozen=True)
class MedianElimination(Baseline):
    """Elimination by medians at a server: after RCLB (Mitra et al. 2022); groups=1: Fed-MoM-UCB (Saday et al. 2025)."""

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
    share: float = -1.0  # a: the share of liars reckoned with; f / N if negative
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

    def begin(self, state: NetworkState) -> None:
        super().begin(state)
        agents, arms = int(state.record["agents"]), int(state.record["arms"])
        share = self.share if self.share >= 0.0 else f_for(int(state.record["f"]), agents - 1) / agents
        size = self.group_size(agents, share) if self.groups else 1
        params = self.groups, self.constant, self.delta, share, size, self.spread(agents, share), self.epsilon
        keep(state, "baseline_params", params)
        kept = np.ones(ACTIVE + arms, np.int64)
        kept[LEFT], kept[TURN], kept[DONE] = arms * pulls_in_phase(1, agents, arms, np.array(params)), 0, 0
        keep(state, "baseline_integers", kept)
        state["doubts"][:] = state["totals"]  # weights are pulls already: both as the phase begins
        state.record["talks"] = 0
