"""Pull and record: rewards, own tallies, and what is kept of a run."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled, compiled_as, compiled_noinline, specialize
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Floats, Words
from byzmab.engine.dirty import ALL_BITS, NO_BITS, fill, mark
from byzmab.engine.recent import keep_recent
from byzmab.engine.state import BAD_REWARD, State, StateType, first_row
from byzmab.worlds.bernoulli import reward  # `specialize` puts that of other rewards in its place
from byzmab.worlds.rewards import Pull, Rewards


@compiled
def own_tallies(state: State) -> tuple[Floats, Floats, Floats]:
    """What every agent ever saw itself of every arm: pulls, the total of its rewards, their mean."""
    return state.ever_pulls, state.ever_totals, state.ever_means


def draw_last(kind: int, pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of a pull, of the last kind or the only one."""
    return float(reward(pull, params, rng))


def draw_one_of(kind: int, pull: Pull, params: Floats, rng: Words) -> float:
    """The reward of a pull, of this kind or of one of those behind it."""
    return float(reward(pull, params, rng)) if kind == 0 else draw_rest(kind - 1, pull, params, rng)


draw_reward = draw_rest = compiled(draw_last)  # `specialize` puts those of other kinds in their place


@compiled_as(types.void(StateType, types.FunctionType(types.void(StateType))))
def first_pulls(state: State, pull: Any) -> None:
    """Time 0: let every agent pull every arm once. These pulls are outside the regret."""
    agents, arms = state.agents, state.arms
    keys = state.reward_keys
    policy_keys, dirty = state.policy_keys, state.dirty
    choices, numbers = state.choices, state.numbers
    for agent in range(agents):
        policy_keys[agent] = fold(state.policy_key, numbers[agent])
        reward_key = fold(state.reward_key, numbers[agent])
        for arm in range(arms):
            keys[agent, arm] = fold(reward_key, arm)
    for arm in range(arms):
        for agent in range(agents):
            choices[agent] = arm
        pull(state)
    last = state.last
    for report in range(last.size):
        last[report] = -1
    for agent in range(agents):
        choices[agent] = 0
        fill(dirty[agent], ALL_BITS)


def pull_all(state: State) -> None:
    """Let every agent pull the arm it chose, and reward it."""
    agents, run = state.agents, state.run
    pulls, totals, means = own_tallies(state)
    keys, kinds = state.reward_keys, state.reward_kinds
    starts, ends = state.reward_starts, state.reward_ends
    params = state.reward_params
    own_means, prepared = state.own_means, state.prepared
    choices, numbers = state.choices, state.numbers
    values, dirty = state.values, state.dirty
    rng = state.rng
    last = state.last
    first = first_row(state, state.time + 1)
    for agent in range(agents):
        arm = choices[agent]
        count = pulls[agent, arm]
        number = int(count)
        rng[0] = fold(keys[agent, arm], number)
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
        fill(dirty[agent], NO_BITS)
        mark(dirty[agent], arm)
        last[first + agent] = arm


def pull_and_forget(state: State) -> None:
    """`pull_all` where tallies forget: what is left of them is brought up to date, too."""
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
def add_losses(state: State) -> None:
    """Add to every agent's regret what its latest pull fell short of its best arm of that round."""
    agents, own_means = state.agents, state.own_means
    losses, bests, choices = (
        state.losses,
        state.bests,
        state.choices,
    )
    for agent in range(agents):
        losses[agent] += own_means[agent, bests[agent]] - own_means[agent, choices[agent]]


@compiled
def regret_of(state: State, agent: int, pulls: Floats) -> float:
    """An agent's regret against its best arm, where means do not change; the first pull of each arm is outside."""
    own_means = state.own_means[agent]
    best, total = own_means[state.bests[agent]], 0.0
    for arm in range(state.arms):
        total += (pulls[arm] - 1.0) * (best - own_means[arm])
    return total


@compiled
def record(state: State) -> None:
    """Record regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = state.agents, state.arms, state.byzantine, state.time
    pulls = state.ever_pulls
    normal = agents - byzantine
    if state.moves == 1:
        add_losses(state)
    if time == state.grid[state.recorded]:
        regret, losses = state.regret, state.losses
        for agent in range(normal):
            row = byzantine + agent
            regret[agent, state.recorded] = losses[row] if state.moves == 1 else regret_of(state, row, pulls[row])
        state.recorded += 1
    thirds = state.thirds
    ends = state.third_ends
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[third, agent, arm] = int(pulls[byzantine + agent, arm]) - 1
