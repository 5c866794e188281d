"""Pull and record: rewards, own tallies, and what is kept of a run."""

from typing import Any

from numba import types

from byzmab.core.compiler import compiled, compiled_as
from byzmab.core.draws import fold
from byzmab.core.report import Floats, Integers, Words
from byzmab.engine.rewards import reward
from byzmab.engine.state import StateType, first_row, floats, integers, table, words

EVERY_ARM = -1  # all bits of a dirty word set


@compiled
def own_tallies(state: Any) -> tuple[Floats, Floats, Floats]:
    """What every agent knows itself of every arm: pulls, the total of its rewards, their mean."""
    agents, arms = state.agents, state.arms
    pulls, totals = table(state.pulls, agents, arms), table(state.totals, agents, arms)
    return pulls, totals, table(state.means, agents, arms)


@compiled
def reward_sources(state: Any) -> tuple[Words, Integers, Floats, Floats]:
    """What rewards are drawn from: the keys of luck, each agent's distribution and its parameter, the true means."""
    agents, arms = state.agents, state.arms
    keys, kinds = words(state.reward_keys, agents * arms), integers(state.reward_kinds, agents)
    return keys, kinds, floats(state.reward_params, agents), floats(state.true_means, arms)


@compiled_as(types.void(StateType))
def first_pulls(state: Any) -> None:
    """Time 0: let every agent pull every arm once. These pulls are outside the regret."""
    agents, arms = state.agents, state.arms
    pulls, totals, means = own_tallies(state)
    keys, kinds, params, true_means = reward_sources(state)
    dirty = words(state.dirty, agents)
    rng = words(state.rng, 1)
    last = integers(state.last, state.history * agents)
    for report in range(last.size):
        last[report] = -1
    policy_keys = words(state.policy_keys, agents)
    for agent in range(agents):
        dirty[agent] = EVERY_ARM
        policy_keys[agent] = fold(state.policy_key, agent)
        reward_key = fold(state.reward_key, agent)
        for arm in range(arms):
            keys[agent * arms + arm] = fold(reward_key, arm)
            value = reward(kinds[agent], params[agent], true_means[arm], fold(keys[agent * arms + arm], 0), rng)
            pulls[agent, arm], totals[agent, arm], means[agent, arm] = 1.0, value, value


@compiled
def pull_all(state: Any) -> None:
    """Let every agent pull the arm it chose, and reward it."""
    agents, arms = state.agents, state.arms
    pulls, totals, means = own_tallies(state)
    keys, kinds, params, true_means = reward_sources(state)
    choices = integers(state.choices, agents)
    dirty = words(state.dirty, agents)
    rng = words(state.rng, 1)
    last = integers(state.last, state.history * agents)
    first = first_row(state, state.time + 1)
    for agent in range(agents):
        arm = choices[agent]
        count = pulls[agent, arm]
        total = totals[agent, arm] + reward(
            kinds[agent], params[agent], true_means[arm], fold(keys[agent * arms + arm], int(count)), rng
        )
        pulls[agent, arm] = count + 1.0
        totals[agent, arm] = total
        means[agent, arm] = total / (count + 1.0)
        dirty[agent] = 1 << (arm & 63)
        last[first + agent] = arm


@compiled
def record(state: Any) -> None:
    """Record regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = state.agents, state.arms, state.byzantine, state.time
    pulls = table(state.pulls, agents, arms)
    normal = agents - byzantine
    if time == integers(state.grid, state.grid_size)[state.recorded]:
        true_means = floats(state.true_means, arms)
        best = true_means[0]
        for arm in range(arms):
            best = max(best, true_means[arm])
        regret = table(state.regret, normal, state.grid_size)
        for agent in range(normal):
            total = 0.0
            for arm in range(arms):
                total += (pulls[byzantine + agent, arm] - 1.0) * (best - true_means[arm])
            regret[agent, state.recorded] = total
        state.recorded += 1
    thirds = integers(state.thirds, 3 * normal * arms)
    ends = integers(state.third_ends, 3)
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[(third * normal + agent) * arms + arm] = int(pulls[byzantine + agent, arm]) - 1
