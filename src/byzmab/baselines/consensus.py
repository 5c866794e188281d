"""Algorithm 3: decentralized UCB by running consensus, with trimming (Zhu & Liu 2021).

Every agent keeps an estimate z that it averages with those of its neighbours in every round, and a count m, the
most pulls it heard of. An arm that lags M or more pulls behind m is pulled next. Since z feeds on z, a bias that
trimming leaves accumulates: this is why the paper's own algorithm exchanges sample means instead.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.baselines.base import Baseline, trimmed_sum
from byzmab.core.draws import below, fold
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.engine.state import State


def decide(state: State) -> None:
    """A uniform arm of those that lag behind, else the largest z + √(4 ln t / (3 n))."""
    agents, arms = state.agents, state.arms
    pulls = state.pulls
    z = state.estimates
    most = state.weights  # m
    keys = state.policy_keys
    choices = state.choices
    rng = state.rng
    width = 4.0 / 3.0 * math.log(max(state.time, 1))
    index = np.empty(arms)
    for agent in range(agents):
        rng[0] = fold(keys[agent], state.time)
        lagging = 0
        for arm in range(arms):
            lagging += pulls[agent, arm] <= most[agent, arm] - arms
            index[arm] = z[agent, arm] + math.sqrt(width / pulls[agent, arm])
        if lagging == 0:
            choices[agent] = argmax_at_random(index, rng)
            continue
        skip = below(rng, lagging)
        for arm in range(arms):
            if pulls[agent, arm] <= most[agent, arm] - arms:
                if skip == 0:
                    choices[agent] = arm
                skip -= 1


def update(state: State) -> None:
    """z ← average of own and surviving z + x̄(t+1) − x̄(t); m ← the most pulls heard of."""
    agents, arms = state.agents, state.arms
    pulls, means = state.pulls, state.means
    told_pulls = state.told_pulls
    told_means = state.told_means
    starts = state.inbox_starts
    rows = state.inbox_rows
    heard = state.work_means
    z, most = state.estimates, state.weights
    before = state.doubts  # x̄(t)
    for agent in range(agents):
        for arm in range(arms):
            count = 0
            for entry in range(starts[agent], starts[agent + 1]):
                if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                    most[agent, arm] = max(most[agent, arm], told_pulls[rows[entry], arm])
                    heard[count] = told_means[rows[entry], arm]
                    count += 1
            total, kept = trimmed_sum(heard[:count], f_for(state.f, starts[agent + 1] - starts[agent]))
            step = means[agent, arm] - before[agent, arm]
            z[agent, arm] = (z[agent, arm] + total) / (kept + 1) + step
            most[agent, arm] = max(most[agent, arm], pulls[agent, arm])
            before[agent, arm] = means[agent, arm]
    for agent in range(agents):
        for arm in range(arms):
            told_pulls[agent, arm], told_means[agent, arm] = most[agent, arm], z[agent, arm]


@dataclass(frozen=True)
class Consensus(Baseline):
    """Algorithm 3: decentralized UCB by running consensus, with trimming (Zhu & Liu 2021)."""

    assumes = "no liars; graph strongly connected"
    decide = staticmethod(decide)
    update = staticmethod(update)
