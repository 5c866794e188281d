"""After DeMABAR (Hu, Wang & Chen 2026): epochs as in BARBAR, and a trimmed mean of what neighbours found in them.

The paper's text was not available. The lengths of epochs, and which agents are heard, are as summaries give them; the
rest is BARBAR's (Gupta et al. 2019) with a filter put in. In an epoch arms are drawn with chances that stay the same,
so that Byzantine agents cannot react within it. At its end every agent reports r, its sum of rewards over the expected
pulls, and averages what it receives without the f largest and f smallest.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.baselines.base import NUMBER_BYTES, Baseline, Network, check_hears_all, trimmed_sum
from byzmab.core.compiler import compiled
from byzmab.core.draws import below, fold, uniform
from byzmab.core.errors import BadInput
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.report import Floats
from byzmab.engine.state import State
from byzmab.engine.typed import array, progress, setting

BARBATS = 256.0  # λ / ln(4 K N T) where none is given, as BARBAT has it


class EpochState(State):
    """What DeMABAR keeps besides."""

    scale: float = setting("λ")
    voices: float = setting("(1 − 2a) v_min: the reports that are left of the fewest")
    epoch_end: int = progress("the round at which the epoch ends")
    averages: Floats = array("arms", about="averages of what one agent has heard")


@compiled
def epoch_length(state: EpochState) -> int:
    """N_m = ⌈λ K 4^(m−1) / ((1 − 2a) v_min)⌉, the same for every agent."""
    length: int = math.ceil(state.scale * state.arms * 4.0 ** (state.phase - 1) / state.voices)
    return length


@compiled
def begin_epoch(state: EpochState, agent: int, leader: int) -> None:
    """Set the expected pulls: λ Δ^−2 / ((1 − 2a) v_min) of every arm, and the rest of the epoch for the leader."""
    gaps, expected = state.estimates, state.weights
    rest = float(epoch_length(state))
    for arm in range(state.arms):
        if arm != leader:
            expected[agent, arm] = state.scale / (gaps[agent, arm] ** 2 * state.voices)
            rest -= expected[agent, arm]
    expected[agent, leader] = rest


@compiled
def end_epoch(state: EpochState, agent: int) -> None:
    """Average what was heard; new gaps, a new leader, and the next epoch."""
    arms, told_pulls, told_means = state.arms, state.told_pulls, state.told_means
    starts, rows = state.inbox_starts, state.inbox_rows
    values, averages = state.work_means, state.averages
    gaps, rng = state.estimates, state.rng
    f, best = f_for(state.f, starts[agent + 1] - starts[agent]), -math.inf
    for arm in range(arms):
        values[0], heard = told_means[agent, arm], 1
        for entry in range(starts[agent], starts[agent + 1]):
            if told_pulls[rows[entry], arm] > 0.0:  # zero pulls are silence
                values[heard] = told_means[rows[entry], arm]
                heard += 1
        total, left = trimmed_sum(values[:heard], f)
        averages[arm] = total / left if left > 0 else told_means[agent, arm]
        best = max(best, averages[arm] - gaps[agent, arm] / 16.0)
    least = 2.0 ** (1 - state.phase)  # 2^−m of the epoch m that ended
    for arm in range(arms):
        gaps[agent, arm] = max(least, best - averages[arm])
    begin_epoch(state, agent, argmax_at_random(averages, rng))


def decide(state: EpochState) -> None:
    """Arm k with chance n_k / N_m; at the end of an epoch the next one begins first."""
    agents, arms = state.agents, state.arms
    expected, choices = state.weights, state.choices
    totals, before = state.totals, state.doubts
    keys, rng = state.policy_keys, state.rng
    began = state.talks == 1
    if began:
        state.talks = 0
        state.phase += 1
        state.epoch_end = state.time + epoch_length(state)
    for agent in range(agents):
        if began:
            rng[0] = fold(fold(keys[agent], state.time), 1)
            end_epoch(state, agent)
            for arm in range(arms):
                before[agent, arm] = totals[agent, arm]
        rng[0] = fold(keys[agent], state.time)
        point, chosen = uniform(rng) * epoch_length(state), arms - 1
        for arm in range(arms):
            if point < expected[agent, arm]:
                chosen = arm
                break
            point -= expected[agent, arm]
        choices[agent] = chosen


def update(state: EpochState) -> None:
    """At the end of an epoch everyone tells r = min(1, sum of rewards / expected pulls)."""
    agents, arms = state.agents, state.arms
    if state.time + 1 < state.epoch_end:
        return
    state.talks = 1
    expected = state.weights
    totals, before = state.totals, state.doubts
    told_pulls, told_means = state.told_pulls, state.told_means
    for agent in range(agents):
        for arm in range(arms):
            total = totals[agent, arm] - before[agent, arm]
            told_pulls[agent, arm] = expected[agent, arm]
            told_means[agent, arm] = min(1.0, total / max(expected[agent, arm], 1e-9))


@dataclass(frozen=True)
class Demabar(Baseline):
    """After DeMABAR (Hu et al. 2026): epochs of fixed chances, and a trimmed mean of what neighbours found in them."""

    state = EpochState
    decide = staticmethod(decide)
    update = staticmethod(update)
    knows = "the share of liars, the smallest degree, N, T"
    assumes = "graph undirected, connected; liars below half of every neighbourhood"
    parameters = "lam=0 (λ above 0; 0: 256 ln(4 K N T))"
    lam: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.lam < math.inf:
            raise self.misunderstood(self.to_text())

    def check(self, network: Network) -> None:
        check_hears_all("demabar", network)
        if network.redrawn:
            raise BadInput(
                f"time_varying true does not go with algorithm 'demabar', whose epochs are as long as the fewest "
                f"neighbours need; allowed: graph {network.name!r} without it"
            )

    def message_bytes(self, arms: int) -> int:
        """One number of every arm."""
        return NUMBER_BYTES * arms

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, EpochState)
        agents, arms, f = (state.agents, state.arms, state.f)
        degrees = np.diff(state.graph_starts)
        voices = max(1, min(int(degree) + 1 - 2 * f_for(f, int(degree)) for degree in degrees))
        scale = self.lam or BARBATS * math.log(4.0 * arms * agents * float(state.grid[-1]))
        length = math.ceil(scale * arms / voices)
        state.scale, state.voices, state.epoch_end = scale, voices, length
        state.estimates[:] = 1.0  # gaps Δ
        state.doubts[:] = state.totals  # as the epoch began
        state.weights[:] = scale / voices  # expected pulls
        rng = np.zeros(1, np.uint64)
        for agent in range(agents):
            rng[0] = state.policy_keys[agent]
            state.weights[agent, below(rng, arms)] = length - (arms - 1) * scale / voices
        state.talks = 0
