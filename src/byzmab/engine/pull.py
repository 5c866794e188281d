"""Pull and record: rewards, own tallies, and what is kept of a run."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled, compiled_as, compiled_noinline, specialize
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Floats, Words
from byzmab.engine.recent import EVERY_ARM, keep_recent
from byzmab.engine.state import BAD_REWARD, StateType, first_row, floats, integers, table, words
from byzmab.rewards.base import Pull, Rewards
from byzmab.rewards.bernoulli import reward  # `specialize` puts that of other rewards in its place


@compiled
def own_tallies(state: Any) -> tuple[Floats, Floats, Floats]:
    """What every agent ever saw itself of every arm: pulls, the total of its rewards, their mean."""
    agents, arms = state.agents, state.arms
    pulls, totals = table(state.ever_pulls, agents, arms), table(state.ever_totals, agents, arms)
    return pulls, totals, table(state.ever_means, agents, arms)


def draw_last(kind: int, pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of a pull, of the last kind or the only one."""
    return float(reward(pull, params, rng))


def draw_one_of(kind: int, pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of a pull, of this kind or of one of those behind it."""
    return float(reward(pull, params, rng)) if kind == 0 else draw_rest(kind - 1, pull, params, rng)


draw_reward = draw_rest = compiled(draw_last)  # `specialize` puts those of other kinds in their place


@compiled_as(types.void(StateType, types.FunctionType(types.void(StateType))))
def first_pulls(state: Any, pull: Any) -> None:
    """Time 0: let every agent pull every arm once. These pulls are outside the regret."""
    agents, arms = state.agents, state.arms
    keys = words(state.reward_keys, agents * arms)
    policy_keys, dirty = words(state.policy_keys, agents), words(state.dirty, agents)
    choices, numbers = integers(state.choices, agents), integers(state.numbers, agents)
    for agent in range(agents):
        policy_keys[agent] = fold(state.policy_key, numbers[agent])
        reward_key = fold(state.reward_key, numbers[agent])
        for arm in range(arms):
            keys[agent * arms + arm] = fold(reward_key, arm)
    for arm in range(arms):
        for agent in range(agents):
            choices[agent] = arm
        pull(state)
    last = integers(state.last, state.history * agents)
    for report in range(last.size):
        last[report] = -1
    for agent in range(agents):
        choices[agent] = 0
        dirty[agent] = EVERY_ARM


def pull_all(state: Any) -> None:
    """Let every agent pull the arm it chose, and reward it."""
    agents, arms, run = state.agents, state.arms, state.run
    pulls, totals, means = own_tallies(state)
    keys, kinds = words(state.reward_keys, agents * arms), integers(state.reward_kinds, agents)
    starts, ends = integers(state.reward_starts, agents), integers(state.reward_ends, agents)
    params = floats(state.reward_params, state.reward_params_size)
    own_means, prepared = table(state.own_means, agents, arms), table(state.prepared, agents, arms)
    choices, numbers = integers(state.choices, agents), integers(state.numbers, agents)
    values, dirty = floats(state.values, agents), words(state.dirty, agents)
    rng = words(state.rng, 1)
    last = integers(state.last, state.history * agents)
    first = first_row(state, state.time + 1)
    for agent in range(agents):
        arm = choices[agent]
        count = pulls[agent, arm]
        number = int(count)
        rng[0] = fold(keys[agent * arms + arm], number)
        drawn = Pull(run, numbers[agent], arm, number, own_means[agent, arm], prepared[agent, arm])
        value = draw_reward(kinds[agent], drawn, params[starts[agent] : ends[agent]], rng)
        if not 0.0 <= value <= 1.0:
            state.fault = state.fault or BAD_REWARD  # the first fault is told
            value = 0.0
        values[agent] = value
        total = totals[agent, arm] + value
        pulls[agent, arm] = count + 1.0
        totals[agent, arm] = total
        means[agent, arm] = total / (count + 1.0)
        dirty[agent] = 1 << (arm & 63)
        last[first + agent] = arm


def pull_and_forget(state: Any) -> None:
    """The same where tallies forget: what is left of them is brought up to date, too."""
    pull_all(state)
    keep_recent(state)


def pulling(rewards: Sequence[Rewards], forgets: bool) -> Any:
    """`pull_all` with the functions of all kinds of rewards in it; BadInput where one has a mistake."""
    for item in rewards:
        check_functions(item.kind, item.functions())
    return _pulling(tuple(kinds_of(rewards)), forgets)


def kinds_of(rewards: Sequence[Rewards]) -> dict[Any, int]:
    """The functions of some rewards, each once, with their numbers."""
    functions = dict.fromkeys(type(item).reward for item in rewards)
    return {function: kind for kind, function in enumerate(functions)}


@cache
def _pulling(functions: tuple[Any, ...], forgets: bool) -> Any:
    *others, last = functions
    draw = specialize(draw_last, reward=last)
    for function in reversed(others):
        draw = specialize(draw_one_of, reward=function, draw_rest=draw)
    if forgets:
        return specialize(pull_and_forget, types.void(StateType), pull_all=specialize(pull_all, draw_reward=draw))
    return specialize(pull_all, types.void(StateType), draw_reward=draw)


@compiled_noinline
def add_losses(state: Any) -> None:
    """Add to every agent's regret what its latest pull fell short of its best arm of that round."""
    agents, own_means = state.agents, table(state.own_means, state.agents, state.arms)
    losses, bests, choices = (
        floats(state.losses, agents),
        integers(state.bests, agents),
        integers(state.choices, agents),
    )
    for agent in range(agents):
        losses[agent] += own_means[agent, bests[agent]] - own_means[agent, choices[agent]]


@compiled
def regret_of(state: Any, agent: int, pulls: Floats) -> float:
    """An agent's regret against its best arm, where means do not change; the first pull of each arm is outside."""
    own_means = table(state.own_means, state.agents, state.arms)[agent]
    best, total = own_means[integers(state.bests, state.agents)[agent]], 0.0
    for arm in range(state.arms):
        total += (pulls[arm] - 1.0) * (best - own_means[arm])
    return total


@compiled
def record(state: Any) -> None:
    """Record regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = state.agents, state.arms, state.byzantine, state.time
    pulls = table(state.ever_pulls, agents, arms)
    normal = agents - byzantine
    if state.moves == 1:
        add_losses(state)
    if time == integers(state.grid, state.grid_size)[state.recorded]:
        regret, losses = table(state.regret, normal, state.grid_size), floats(state.losses, agents)
        for agent in range(normal):
            row = byzantine + agent
            regret[agent, state.recorded] = losses[row] if state.moves == 1 else regret_of(state, row, pulls[row])
        state.recorded += 1
    thirds = integers(state.thirds, 3 * normal * arms)
    ends = integers(state.third_ends, 3)
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[(third * normal + agent) * arms + arm] = int(pulls[byzantine + agent, arm]) - 1
