"""Algorithm 3: decentralized UCB by running consensus, with trimming (Zhu & Liu 2021).

Every agent keeps an estimate z that it averages with those of its neighbours in every round, and a count m, the
most pulls it heard of. An arm that lags M or more pulls behind m is pulled next. Since z feeds on z, a bias that
trimming leaves accumulates: this is why the paper's own algorithm exchanges sample means instead.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from byzmab.baselines.base import Baseline, trimmed_sum
from byzmab.core.board import BoardType, floats, integers, table, words
from byzmab.core.compiler import compiled_as
from byzmab.core.draws import below, fold
from byzmab.core.policies.base import argmax_at_random


@compiled_as(types.void(BoardType))
def decide(board: Any) -> None:
    """A uniform arm of those that lag behind, else the largest z + √(4 ln t / (3 n))."""
    agents, arms = board.agents, board.arms
    pulls = table(board.pulls, agents, arms)
    z = table(board.estimates, agents, arms)
    most = table(board.weights, agents, arms)  # m
    keys = words(board.policy_keys, agents)
    choices = integers(board.choices, agents)
    rng = words(board.rng, 1)
    width = 4.0 / 3.0 * math.log(max(board.time, 1))
    index = np.empty(arms)
    for agent in range(agents):
        rng[0] = fold(keys[agent], board.time)
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


@compiled_as(types.void(BoardType))
def update(board: Any) -> None:
    """z ← average of own and surviving z + x̄(t+1) − x̄(t); m ← the most pulls heard of."""
    agents, arms = board.agents, board.arms
    pulls, means = table(board.pulls, agents, arms), table(board.means, agents, arms)
    told_pulls = table(board.told_pulls, agents + board.lie_room, arms)
    told_means = table(board.told_means, agents + board.lie_room, arms)
    starts = integers(board.heard_starts, agents + 1)
    rows = integers(board.heard_rows, board.heard_room)
    heard = floats(board.heard_means, board.voices)
    z, most = table(board.estimates, agents, arms), table(board.weights, agents, arms)
    before = table(board.doubts, agents, arms)  # x̄(t)
    for agent in range(agents):
        for arm in range(arms):
            count = 0
            for entry in range(starts[agent], starts[agent + 1]):
                if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                    most[agent, arm] = max(most[agent, arm], told_pulls[rows[entry], arm])
                    heard[count] = told_means[rows[entry], arm]
                    count += 1
            total, kept = trimmed_sum(heard[:count], board.f)
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

    decide = staticmethod(decide)
    update = staticmethod(update)
