"""Pull and record at contexts: rewards, own statistics, and regret against the best arm at each context."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from numba import types

from byzmab.contexts.see import see_all
from byzmab.core.compiler import compiled_as, compiled_noinline, specialize
from byzmab.core.contexts.statistics import observe
from byzmab.core.contexts.trial import judge
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.engine.pull import draw_last, draw_one_of, draw_reward, kinds_of
from byzmab.engine.state import BAD_REWARD, State, StateType
from byzmab.worlds.rewards import Pull, Rewards


def pull_all_at(state: State) -> None:
    """Let every agent pull the arm it chose at its context, and reward it."""
    agents, arms, run, ridge = state.agents, state.arms, state.run, state.ridge
    own, pulls, versions = state.statistics, state.pulls, state.versions
    contexts, means = state.contexts, state.context_means
    totals, trials = state.context_totals, state.trial
    keys, kinds = state.reward_keys, state.reward_kinds
    starts, ends = state.reward_starts, state.reward_ends
    params = state.reward_params
    choices, regret = state.choices, state.losses
    rng = state.rng
    for agent in range(agents):
        arm = choices[agent]
        number, mean = int(pulls[agent, arm]), means[agent, arm]
        rng[0] = fold(keys[agent, arm], number)
        drawn = Pull(run, agent, arm, number, mean, mean)
        value = draw_reward(kinds[agent], drawn, params[starts[agent] : ends[agent]], rng)
        if not 0.0 <= value <= 1.0:
            state.fault = state.fault or BAD_REWARD  # the first fault is told
            value = 0.0
        best = mean
        for other in range(arms):
            best = max(best, means[agent, other])
        judge(trials[agent], own[agent, arm], arm, contexts[agent], value)
        observe(own[agent, arm], contexts[agent], value, ridge)
        for a in range(state.context):
            totals[agent, a] += contexts[agent, a]
        state.changes += 1
        versions[agent, arm] = state.changes
        pulls[agent, arm] += 1.0
        regret[agent] += best - mean


def pulling_at(rewards: Sequence[Rewards]) -> Any:
    """`pull_all_at` with the functions of all kinds of rewards in it; BadInput where one has a mistake."""
    for item in rewards:
        check_functions(item.kind, item.functions())
    return _pulling(tuple(kinds_of(rewards)))


@cache
def _pulling(functions: tuple[Any, ...]) -> Any:
    *others, last = functions
    draw = specialize(draw_last, reward=last)
    for function in reversed(others):
        draw = specialize(draw_one_of, reward=function, draw_rest=draw)
    return specialize(pull_all_at, types.void(StateType), draw_reward=draw)


@compiled_as(types.void(StateType, types.FunctionType(types.void(StateType))))
def first_pulls_at(state: State, pull: Any) -> None:
    """Time 0: let every agent pull every arm once, each at a context of its own. These pulls are outside the regret."""
    agents, arms = state.agents, state.arms
    keys, policy_keys = state.reward_keys, state.policy_keys
    choices, regret = state.choices, state.losses
    for agent in range(agents):
        policy_keys[agent] = fold(state.policy_key, agent)
        reward_key = fold(state.reward_key, agent)
        for arm in range(arms):
            keys[agent, arm] = fold(reward_key, arm)
    for arm in range(arms):
        for agent in range(agents):
            choices[agent] = arm
        see_all(state, arm)
        pull(state)
    for agent in range(agents):
        regret[agent] = 0.0


@compiled_noinline
def record_at(state: State) -> None:
    """Record regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = state.agents, state.arms, state.byzantine, state.time
    normal, pulls = agents - byzantine, state.pulls
    if time == state.grid[state.recorded]:
        totals, regret = state.losses, state.regret
        for agent in range(normal):
            regret[agent, state.recorded] = totals[byzantine + agent]
        state.recorded += 1
    thirds, ends = state.thirds, state.third_ends
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[third, agent, arm] = int(pulls[byzantine + agent, arm]) - 1
