"""MP-UCB: UCB on all rewards heard (Madhushani et al. 2021, with messages that go one hop). No defence at all.

Everyone tells its tally in every round; an agent adds up its own and what it hears, each counted in full.
"""

import math
from dataclasses import dataclass

from byzmab.baselines.base import Baseline
from byzmab.core.draws import fold
from byzmab.core.policies.base import argmax_at_random
from byzmab.engine.state import State

SIGMA = 0.5  # of rewards on [0, 1]


def decide(state: State) -> None:
    """The largest Σ n x̄ / Σ n + σ √(2 (ξ + 1) ln t / Σ n), sums over oneself and those heard."""
    agents, arms = state.agents, state.arms
    told_pulls = state.told_pulls
    told_means = state.told_means
    starts = state.inbox_starts
    rows = state.inbox_rows
    index = state.estimates
    keys, rng = state.policy_keys, state.rng
    choices = state.choices
    xi = state.algorithm_params[0]
    width = SIGMA * SIGMA * 2.0 * (xi + 1.0) * math.log(max(state.time, 1))
    for agent in range(agents):
        for arm in range(arms):
            count = told_pulls[agent, arm]
            total = count * told_means[agent, arm]
            for entry in range(starts[agent], starts[agent + 1]):
                count += told_pulls[rows[entry], arm]
                total += told_pulls[rows[entry], arm] * told_means[rows[entry], arm]
            index[agent, arm] = total / count + math.sqrt(width / count)
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index[agent], rng)


@dataclass(frozen=True)
class MpUcb(Baseline):
    """MP-UCB: UCB on all rewards heard, without defence (Madhushani et al. 2021, one hop)."""

    decide = staticmethod(decide)
    trims = False
    knows = "nothing"
    assumes = "no liars"
    parameters = "xi=1.1 (-1 or more)"
    xi: float = 1.1  # ξ > 1 in theory

    def __post_init__(self) -> None:
        if not -1.0 <= self.xi < math.inf:
            raise self.misunderstood(self.to_text())
