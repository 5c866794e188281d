"""DDUCB: delayed mixing of sums and counts in stages, with trimming (Martínez-Rubio, Kanade & Rebeschini 2019).

What was pulled in one stage is mixed over the network by C steps during the next one, and used in the one after: C
is large enough for all to hold nearly the same then. Mixing by P alone takes C of order 1 / ln(1/|λ₂|); the
accelerated one, by Chebyshev polynomials of P, its square root. On a complete graph one step is exact, and C = 1.

A report tells the count being mixed and its mean. What honest agents tell is read as the sums and counts themselves.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from byzmab.baselines.base import Baseline, Network, adjacency, check_undirected, keep, mixing_matrix, trimmed_sum
from byzmab.core.compiler import compiled
from byzmab.core.draws import fold
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.report import Floats
from byzmab.engine.state import NetworkState, floats, integers, table, words

SIGMA = 0.5  # of rewards on [0, 1]
WIDTH, PLAIN, STEPS, LAMBDA = range(4)  # parameters: η, 1 for plain mixing, C, |λ₂|
ROUNDING = 1e-9  # below, λ₂ is zero
# tables of what agents keep, sums and then counts: in use, being mixed, mixed one step before, new, mixed so far, and
# the outcome of a step
USED, MIXED, BEFORE, NEW, SO_FAR, NEXT = range(0, 12, 2)
TABLES = 12


@compiled
def chebyshev(step: int, ratio: float) -> float:
    """w of a step: T_r(1/|λ₂|), by w_{r+1} = 2 w_r / |λ₂| − w_{r−1}; `ratio` is 1/|λ₂|."""
    before, now = 1.0, ratio
    for _ in range(1, step):
        before, now = now, 2.0 * ratio * now - before
    return now if step > 0 else 1.0


@compiled
def is_silent(counts: Floats) -> bool:
    """Whether nothing is told of any arm; of some arms, nothing may be new."""
    return bool(np.max(counts) <= 0.0)


@compiled
def mix(state: Any, kept: Any, step: int) -> None:
    """One step for every agent: received sums and counts, trimmed, weigh 1 / (d_max + 1) each, oneself the rest."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    told_pulls = table(state.told_pulls, agents + state.lie_capacity, arms)
    told_means = table(state.told_means, agents + state.lie_capacity, arms)
    starts, senders = integers(state.inbox_starts, agents + 1), integers(state.inbox_senders, state.inbox_capacity)
    rows = integers(state.inbox_rows, state.inbox_capacity)
    heard = floats(state.work_means, state.max_inbox)
    accelerated = params[PLAIN] == 0.0 and step > 0
    scale, lag = 1.0, 0.0
    if accelerated:
        ratio = 1.0 / params[LAMBDA]
        following = chebyshev(step + 1, ratio)
        scale, lag = 2.0 * ratio * chebyshev(step, ratio) / following, chebyshev(step - 1, ratio) / following
    most = 0
    for agent in range(agents):
        most = max(most, starts[agent + 1] - starts[agent])
    for agent in range(agents):
        f = f_for(state.f, starts[agent + 1] - starts[agent])
        for arm in range(arms):
            for part in range(2):  # sums, then counts
                count = 0
                for entry in range(starts[agent], starts[agent + 1]):
                    row = rows[entry]
                    if senders[entry] >= state.byzantine:
                        heard[count] = kept[MIXED + part, senders[entry], arm]
                        count += 1
                    elif not is_silent(told_pulls[row]):
                        heard[count] = told_pulls[row, arm] * (told_means[row, arm] if part == 0 else 1.0)
                        count += 1
                total, left = trimmed_sum(heard[:count], f)
                own = kept[MIXED + part, agent, arm]
                mixed = own + (total - left * own) / (most + 1.0)
                kept[NEXT + part, agent, arm] = scale * mixed - lag * kept[BEFORE + part, agent, arm]


@compiled
def end_stage(kept: Any, agent: int, arm: int, plain: bool) -> None:
    """Use what is mixed, and begin to mix what is new."""
    for part in range(2):
        if plain:
            kept[USED + part, agent, arm] = kept[MIXED + part, agent, arm]
            kept[MIXED + part, agent, arm] += kept[NEW + part, agent, arm]
        else:
            kept[SO_FAR + part, agent, arm] += kept[MIXED + part, agent, arm]
            kept[USED + part, agent, arm] = kept[SO_FAR + part, agent, arm]
            kept[MIXED + part, agent, arm] = kept[NEW + part, agent, arm]
        kept[NEW + part, agent, arm] = 0.0


@compiled
def tables(state: Any) -> Any:
    """What agents keep, as tables × agents × arms."""
    return floats(state.baseline_floats, state.baseline_floats_size).reshape((TABLES, state.agents, state.arms))


def decide(state: Any) -> None:
    """Mix what is heard by one step, then the largest s/n + √(2 η σ² ln(all pulls) / (N n)) of what is in use."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    kept, steps = tables(state), int(params[STEPS])
    index, choices = table(state.estimates, agents, arms), integers(state.choices, agents)
    keys, rng = words(state.policy_keys, agents), words(state.rng, 1)
    mix(state, kept, state.time % steps)
    all_pulls = arms + agents * state.time if state.time < steps else agents * (arms + state.time - steps)
    width = 2.0 * params[WIDTH] * SIGMA * SIGMA * math.log(max(all_pulls, 1)) / agents
    for agent in range(agents):
        for arm in range(arms):
            count = max(kept[USED + 1, agent, arm], 1e-9)  # trimming may leave next to nothing
            index[agent, arm] = kept[USED, agent, arm] / count + math.sqrt(width / count)
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index[agent], rng)


def update(state: Any) -> None:
    """Add the pull to what is new, take the step of mixing, end the stage where it is over, and tell what is mixed."""
    agents, arms = state.agents, state.arms
    params = floats(state.baseline_params, state.baseline_params_size)
    kept = tables(state)
    totals, before = table(state.totals, agents, arms), table(state.doubts, agents, arms)
    told_pulls, told_means = table(state.told_pulls, agents, arms), table(state.told_means, agents, arms)
    choices = integers(state.choices, agents)
    over = (state.time + 1) % int(params[STEPS]) == 0
    for agent in range(agents):
        arm = choices[agent]
        reward = totals[agent, arm] - before[agent, arm]
        before[agent, arm] = totals[agent, arm]
        for part in range(2):
            gain = reward if part == 0 else 1.0
            kept[NEW + part, agent, arm] += gain
            kept[USED + part, agent, arm] += gain / agents
        for arm in range(arms):
            for part in range(2):
                kept[BEFORE + part, agent, arm] = kept[MIXED + part, agent, arm]
                kept[MIXED + part, agent, arm] = kept[NEXT + part, agent, arm]
            if over:
                end_stage(kept, agent, arm, params[PLAIN] == 1.0)
            count = kept[MIXED + 1, agent, arm]
            told_pulls[agent, arm] = count
            told_means[agent, arm] = kept[MIXED, agent, arm] / count if count > 0.0 else 0.0


@lru_cache(maxsize=16)
def second_eigenvalue(content: bytes, agents: int) -> float:
    """|λ₂|, the second largest of a mixing matrix by its content, as all runs on a graph have it in common."""
    values = np.sort(np.abs(np.linalg.eigvalsh(np.frombuffer(content).reshape(agents, agents))))
    return float(values[-2]) if agents > 1 else 0.0


@dataclass(frozen=True)
class Dducb(Baseline):
    """DDUCB: sums and counts mixed in stages, accelerated or plain, with trimming (Martínez-Rubio et al. 2019)."""

    decide = staticmethod(decide)
    update = staticmethod(update)
    knows = "N, λ₂, f"
    assumes = "no liars; graph undirected, connected"
    parameters = "eta=2 (0 or more), plain=0 (1: mixing without acceleration), precision=22 (above 1)"
    eta: float = 2.0  # η of the index
    plain: int = 0  # 1 for mixing by P alone
    precision: float = 22.0  # 1/ε: agents differ by at most ε after a stage

    def __post_init__(self) -> None:
        if not (0.0 <= self.eta < math.inf and self.plain in (0, 1) and 1.0 < self.precision < math.inf):
            raise self.misunderstood(self.to_text())

    def check(self, network: Network) -> None:
        check_undirected("dducb", network)

    def steps(self, agents: int, second: float) -> int:
        """C: the steps of mixing in a stage, for |λ₂|."""
        if second < ROUNDING:
            return 1
        if self.plain:
            return math.ceil(math.log(agents * self.precision) / math.log(1.0 / second))
        return math.ceil(math.log(2 * agents * self.precision) / math.sqrt(2.0 * math.log(1.0 / second)))

    def begin(self, state: NetworkState) -> None:
        super().begin(state)
        agents, arms = int(state.record["agents"]), int(state.record["arms"])
        second = second_eigenvalue(mixing_matrix(adjacency(state)).tobytes(), agents)
        plain = self.plain or second < ROUNDING  # one step is exact, and nothing is left to accelerate
        params = self.eta, plain, self.steps(agents, second), second
        keep(state, "baseline_params", params)
        kept = np.zeros((TABLES, agents, arms))
        kept[MIXED], kept[MIXED + 1] = state["totals"], state["pulls"]
        kept[USED : USED + 2] = kept[MIXED : MIXED + 2] / agents
        keep(state, "baseline_floats", kept)
        state["doubts"][:] = state["totals"]
