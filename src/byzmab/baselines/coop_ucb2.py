"""Algorithm 4: coop-UCB2, with trimming (Landgren, Srivastava & Leonard 2016, 2021).

Counts n̂ and sums ŝ are mixed over the network by P = I − κ/d_max · L with κ = d_max / (d_max + 1). The paper prints
d_max − 1, which makes P negative. A neighbour weighs 1 / (d_max + 1), and an agent itself the rest. Received ŝ and n̂
are trimmed, each by its own order. A report contains n̂ and ŝ / n̂.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.baselines.base import Baseline, trimmed_sum
from byzmab.core.draws import fold
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.report import Floats
from byzmab.engine.state import State
from byzmab.engine.typed import array, setting

SIGMA = 0.5  # of rewards on [0, 1]
BY_TIME = -1.0  # in the place of an agent's slack: √ln t


class CoopState(State):
    """What coop-UCB2 and coop-UCB keep besides."""

    gamma: float = setting("γ")
    slacks: Floats = array("agents", about="what the index adds to n̂, or BY_TIME")


def decide(state: CoopState) -> None:
    """n̂ ← P n̂, ŝ ← P ŝ, then the largest ŝ/n̂ + σ √(2γ (n̂ + slack) / (N n̂) · ln t / n̂).

    The slack pays for what mixing has not spread yet: √ln t here, a constant of agent and graph in coop-UCB.
    """
    agents, arms = state.agents, state.arms
    told_pulls = state.told_pulls
    told_means = state.told_means
    starts = state.inbox_starts
    rows = state.inbox_rows
    counts, sums = state.work_pulls, state.work_means
    mixed_sums, mixed_counts = state.estimates, state.weights
    keys = state.policy_keys
    choices = state.choices
    rng = state.rng
    gamma, slacks = state.gamma, state.slacks
    log_time = math.log(max(state.time, 1))
    most = 0
    for agent in range(agents):
        most = max(most, starts[agent + 1] - starts[agent])
    share = 1.0 / (most + 1)
    index = np.empty(arms)
    for agent in range(agents):
        slack = math.sqrt(log_time) if slacks[agent] == BY_TIME else slacks[agent]
        for arm in range(arms):
            heard = 0
            for entry in range(starts[agent], starts[agent + 1]):
                if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                    counts[heard] = told_pulls[rows[entry], arm]
                    sums[heard] = told_pulls[rows[entry], arm] * told_means[rows[entry], arm]
                    heard += 1
            own = told_pulls[agent, arm]
            f = f_for(state.f, starts[agent + 1] - starts[agent])
            count, kept = trimmed_sum(counts[:heard], f)
            total, _ = trimmed_sum(sums[:heard], f)
            rest = 1.0 - kept * share
            n = rest * own + share * count
            s = rest * own * told_means[agent, arm] + share * total
            mixed_counts[agent, arm], mixed_sums[agent, arm] = n, s
            width = 2.0 * gamma * (n + slack) / (agents * n) * log_time / n
            index[arm] = s / n + SIGMA * math.sqrt(width)
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index, rng)


def update(state: State) -> None:
    """Tell n̂ + ξ and ŝ + r: what was mixed, with the pull just made and its reward."""
    agents, arms = state.agents, state.arms
    totals, before = state.totals, state.doubts
    sums, counts = state.estimates, state.weights
    told_pulls = state.told_pulls
    told_means = state.told_means
    choices = state.choices
    for agent in range(agents):
        for arm in range(arms):
            count = counts[agent, arm] + (choices[agent] == arm)
            total = sums[agent, arm] + totals[agent, arm] - before[agent, arm]
            told_pulls[agent, arm], told_means[agent, arm] = count, total / count
            before[agent, arm] = totals[agent, arm]


@dataclass(frozen=True)
class CoopUcb2(Baseline):
    """Algorithm 4: coop-UCB2, with trimming (Landgren et al. 2016, 2021)."""

    state = CoopState
    decide = staticmethod(decide)
    update = staticmethod(update)
    knows = "N, d_max, f"
    assumes = "no liars; graph undirected, connected"
    parameters = "gamma=2 (0 or more)"
    gamma: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.gamma < math.inf:
            raise self.misunderstood(self.to_text())

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, CoopState)
        state.doubts[:] = state.totals
        state.gamma = self.gamma
        state.slacks[:] = BY_TIME
