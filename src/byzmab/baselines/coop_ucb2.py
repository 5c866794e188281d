"""Algorithm 4: coop-UCB2, with trimming (Landgren, Srivastava & Leonard 2016, 2021).

Counts n̂ and sums ŝ are mixed over the network by P = I − κ/d_max · L with κ = d_max / (d_max + 1) (the paper
prints d_max − 1, which makes P negative): a neighbour weighs 1 / (d_max + 1), and an agent itself the rest.
Received ŝ and n̂ are trimmed, each by its own order. A report tells n̂ and ŝ / n̂.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from byzmab.baselines.base import Baseline, trimmed_sum
from byzmab.core.compiler import compiled_as
from byzmab.core.draws import fold
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.engine.state import NetworkState, StateType, floats, integers, table, words

SIGMA = 0.5  # of rewards on [0, 1]
GAMMA = 2.0


@compiled_as(types.void(StateType))
def decide(state: Any) -> None:
    """n̂ ← P n̂, ŝ ← P ŝ, then the largest ŝ/n̂ + σ √(2γ (n̂ + √ln t) / (N n̂) · ln t / n̂)."""
    agents, arms = state.agents, state.arms
    told_pulls = table(state.told_pulls, agents + state.lie_capacity, arms)
    told_means = table(state.told_means, agents + state.lie_capacity, arms)
    starts = integers(state.inbox_starts, agents + 1)
    rows = integers(state.inbox_rows, state.inbox_capacity)
    counts, sums = floats(state.work_pulls, state.max_inbox), floats(state.work_means, state.max_inbox)
    mixed_sums, mixed_counts = table(state.estimates, agents, arms), table(state.weights, agents, arms)
    keys = words(state.policy_keys, agents)
    choices = integers(state.choices, agents)
    rng = words(state.rng, 1)
    log_time = math.log(max(state.time, 1))
    most = 0
    for agent in range(agents):
        most = max(most, starts[agent + 1] - starts[agent])
    share = 1.0 / (most + 1)
    index = np.empty(arms)
    for agent in range(agents):
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
            width = 2.0 * GAMMA * (n + math.sqrt(log_time)) / (agents * n) * log_time / n
            index[arm] = s / n + SIGMA * math.sqrt(width)
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index, rng)


@compiled_as(types.void(StateType))
def update(state: Any) -> None:
    """Tell n̂ + ξ and ŝ + r: what was mixed, with the pull just made and its reward."""
    agents, arms = state.agents, state.arms
    totals, before = table(state.totals, agents, arms), table(state.doubts, agents, arms)
    sums, counts = table(state.estimates, agents, arms), table(state.weights, agents, arms)
    told_pulls = table(state.told_pulls, agents, arms)
    told_means = table(state.told_means, agents, arms)
    choices = integers(state.choices, agents)
    for agent in range(agents):
        for arm in range(arms):
            count = counts[agent, arm] + (choices[agent] == arm)
            total = sums[agent, arm] + totals[agent, arm] - before[agent, arm]
            told_pulls[agent, arm], told_means[agent, arm] = count, total / count
            before[agent, arm] = totals[agent, arm]


@dataclass(frozen=True)
class CoopUcb2(Baseline):
    """Algorithm 4: coop-UCB2, with trimming (Landgren et al. 2016, 2021)."""

    decide = staticmethod(decide)
    update = staticmethod(update)

    def begin(self, state: NetworkState) -> None:
        super().begin(state)
        state["doubts"][:] = state["totals"]
