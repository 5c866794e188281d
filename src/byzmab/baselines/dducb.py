"""DDUCB: delayed mixing of sums and counts in stages, with trimming (Martínez-Rubio, Kanade & Rebeschini 2019).

What was pulled in one stage is mixed over the network by C steps during the next one, and used in the one after: C
is large enough for all to hold nearly the same then. Mixing by P alone takes C of order 1 / ln(1/|λ₂|); the
accelerated one, by Chebyshev polynomials of P, its square root. On a complete graph one step is exact, and C = 1.

A report tells the count being mixed and its mean. What honest agents tell is read as the sums and counts themselves.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from byzmab.baselines.base import Baseline, Network, adjacency, check_undirected, mixing_matrix, trimmed_sum
from byzmab.core.compiler import compiled
from byzmab.core.draws import fold
from byzmab.core.liars import f_for
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.report import Floats
from byzmab.engine.state import State
from byzmab.engine.typed import array, setting

SIGMA = 0.5  # of rewards on [0, 1]
ROUNDING = 1e-9  # below, λ₂ is zero
SUMS, COUNTS = range(2)  # the two parts of all that is mixed


class MixingState(State):
    """What DDUCB keeps besides: two tables each, of sums and of counts."""

    eta: float = setting("η of the index")
    plain: int = setting("1 for mixing by P alone")
    steps: int = setting("C: the steps of mixing in a stage")
    second: float = setting("|λ₂|")
    used: Floats = array(2, "agents", "arms", about="in use")
    mixed: Floats = array(2, "agents", "arms", about="being mixed")
    mixed_before: Floats = array(2, "agents", "arms", about="mixed one step before")
    new: Floats = array(2, "agents", "arms", about="pulled in this stage")
    so_far: Floats = array(2, "agents", "arms", about="mixed in all stages so far")
    next: Floats = array(2, "agents", "arms", about="the outcome of a step")


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
def mix(state: MixingState, step: int) -> None:
    """One step for every agent: received sums and counts, trimmed, weigh 1 / (d_max + 1) each, oneself the rest."""
    agents, mixed = state.agents, state.mixed
    told_pulls, told_means = state.told_pulls, state.told_means
    starts, senders, rows = state.inbox_starts, state.inbox_senders, state.inbox_rows
    heard = state.work_means
    accelerated = state.plain == 0 and step > 0
    scale, lag = 1.0, 0.0
    if accelerated:
        ratio = 1.0 / state.second
        following = chebyshev(step + 1, ratio)
        scale, lag = 2.0 * ratio * chebyshev(step, ratio) / following, chebyshev(step - 1, ratio) / following
    most = 0
    for agent in range(agents):
        most = max(most, starts[agent + 1] - starts[agent])
    for agent in range(agents):
        f = f_for(state.f, starts[agent + 1] - starts[agent])
        for arm in range(state.arms):
            for part in (SUMS, COUNTS):
                count = 0
                for entry in range(starts[agent], starts[agent + 1]):
                    row = rows[entry]
                    if senders[entry] >= state.byzantine:
                        heard[count] = mixed[part, senders[entry], arm]
                        count += 1
                    elif not is_silent(told_pulls[row]):
                        heard[count] = told_pulls[row, arm] * (told_means[row, arm] if part == SUMS else 1.0)
                        count += 1
                total, left = trimmed_sum(heard[:count], f)
                own = mixed[part, agent, arm]
                step_of_p = own + (total - left * own) / (most + 1.0)
                state.next[part, agent, arm] = scale * step_of_p - lag * state.mixed_before[part, agent, arm]


@compiled
def end_stage(state: MixingState, agent: int, arm: int) -> None:
    """Use what is mixed, and begin to mix what is new."""
    used, mixed, new, so_far = state.used, state.mixed, state.new, state.so_far
    for part in (SUMS, COUNTS):
        if state.plain == 1:
            used[part, agent, arm] = mixed[part, agent, arm]
            mixed[part, agent, arm] += new[part, agent, arm]
        else:
            so_far[part, agent, arm] += mixed[part, agent, arm]
            used[part, agent, arm] = so_far[part, agent, arm]
            mixed[part, agent, arm] = new[part, agent, arm]
        new[part, agent, arm] = 0.0


def decide(state: MixingState) -> None:
    """Mix what is heard by one step, then the largest s/n + √(2 η σ² ln(all pulls) / (N n)) of what is in use."""
    agents, arms = state.agents, state.arms
    steps, used = state.steps, state.used
    index, choices = state.estimates, state.choices
    keys, rng = state.policy_keys, state.rng
    mix(state, state.time % steps)
    all_pulls = arms + agents * state.time if state.time < steps else agents * (arms + state.time - steps)
    width = 2.0 * state.eta * SIGMA * SIGMA * math.log(max(all_pulls, 1)) / agents
    for agent in range(agents):
        for arm in range(arms):
            count = max(used[COUNTS, agent, arm], 1e-9)  # trimming may leave next to nothing
            index[agent, arm] = used[SUMS, agent, arm] / count + math.sqrt(width / count)
        rng[0] = fold(keys[agent], state.time)
        choices[agent] = argmax_at_random(index[agent], rng)


def update(state: MixingState) -> None:
    """Add the pull to what is new, take the step of mixing, end the stage where it is over, and tell what is mixed."""
    agents, arms = state.agents, state.arms
    used, mixed, new = state.used, state.mixed, state.new
    totals, before = state.totals, state.doubts
    told_pulls, told_means = state.told_pulls, state.told_means
    choices = state.choices
    over = (state.time + 1) % state.steps == 0
    for agent in range(agents):
        arm = choices[agent]
        reward = totals[agent, arm] - before[agent, arm]
        before[agent, arm] = totals[agent, arm]
        for part in (SUMS, COUNTS):
            gain = reward if part == SUMS else 1.0
            new[part, agent, arm] += gain
            used[part, agent, arm] += gain / agents
        for arm in range(arms):
            for part in (SUMS, COUNTS):
                state.mixed_before[part, agent, arm] = mixed[part, agent, arm]
                mixed[part, agent, arm] = state.next[part, agent, arm]
            if over:
                end_stage(state, agent, arm)
            count = mixed[COUNTS, agent, arm]
            told_pulls[agent, arm] = count
            told_means[agent, arm] = mixed[SUMS, agent, arm] / count if count > 0.0 else 0.0


@lru_cache(maxsize=16)
def second_eigenvalue(content: bytes, agents: int) -> float:
    """|λ₂|, the second largest of a mixing matrix by its content, as all runs on a graph have it in common."""
    values = np.sort(np.abs(np.linalg.eigvalsh(np.frombuffer(content).reshape(agents, agents))))
    return float(values[-2]) if agents > 1 else 0.0


@dataclass(frozen=True)
class Dducb(Baseline):
    """DDUCB: sums and counts mixed in stages, accelerated or plain, with trimming (Martínez-Rubio et al. 2019)."""

    state = MixingState
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

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, MixingState)
        second = second_eigenvalue(mixing_matrix(adjacency(state)).tobytes(), state.agents)
        plain = self.plain or second < ROUNDING  # one step is exact, and nothing is left to accelerate
        state.eta, state.plain, state.steps, state.second = self.eta, plain, self.steps(state.agents, second), second
        state.mixed = np.stack([state.totals, state.pulls])
        state.used = state.mixed / state.agents
        state.doubts[:] = state.totals
