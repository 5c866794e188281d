"""Pull and record at contexts: rewards, own statistics, and regret against the best arm at each context."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from numba import types

from byzmab.contexts.see import see_all
from byzmab.contexts.tell import own_pulls, own_statistics
from byzmab.core.compiler import compiled_as, compiled_noinline, specialize
from byzmab.core.contexts.statistics import observe
from byzmab.core.contexts.trial import judge
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.engine.pull import draw_last, draw_one_of, draw_reward, kinds_of
from byzmab.engine.state import BAD_REWARD, StateType, floats, integers, table, word_table, words
from byzmab.rewards.base import Pull, Rewards


def pull_all_at(state: Any) -> None:
    """Let every agent pull the arm it chose at its context, and reward it."""
    agents, arms, run, ridge = state.agents, state.arms, state.run, floats(state.ridge, 1)[0]
    own, pulls, versions = own_statistics(state), own_pulls(state), word_table(state.versions, agents, arms)
    contexts, means = table(state.contexts, agents, state.context), table(state.context_means, agents, arms)
    totals, trials = table(state.context_totals, agents, state.context), table(state.trial, agents, 1 + arms)
    keys, kinds = words(state.reward_keys, agents * arms), integers(state.reward_kinds, agents)
    starts, ends = integers(state.reward_starts, agents), integers(state.reward_ends, agents)
    params = floats(state.reward_params, state.reward_params_size)
    choices, regret = integers(state.choices, agents), floats(state.regret_totals, agents)
    rng = words(state.rng, 1)
    for agent in range(agents):
        arm = choices[agent]
        number, mean = int(pulls[agent, arm]), means[agent, arm]
        rng[0] = fold(keys[agent * arms + arm], number)
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
def first_pulls_at(state: Any, pull: Any) -> None:
    """Time 0: let every agent pull every arm once, each at a context of its own. These pulls are outside the regret."""
    agents, arms = state.agents, state.arms
    keys, policy_keys = words(state.reward_keys, agents * arms), words(state.policy_keys, agents)
    choices, regret = integers(state.choices, agents), floats(state.regret_totals, agents)
    for agent in range(agents):
        policy_keys[agent] = fold(state.policy_key, agent)
        reward_key = fold(state.reward_key, agent)
        for arm in range(arms):
            keys[agent * arms + arm] = fold(reward_key, arm)
    for arm in range(arms):
        for agent in range(agents):
            choices[agent] = arm
        see_all(state, arm)
        pull(state)
    for agent in range(agents):
        regret[agent] = 0.0


@compiled_noinline
def record_at(state: Any) -> None:
    """Record regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = state.agents, state.arms, state.byzantine, state.time
    normal, pulls = agents - byzantine, own_pulls(state)
    if time == integers(state.grid, state.grid_size)[state.recorded]:
        totals, regret = floats(state.regret_totals, agents), table(state.regret, normal, state.grid_size)
        for agent in range(normal):
            regret[agent, state.recorded] = totals[byzantine + agent]
        state.recorded += 1
    thirds, ends = integers(state.thirds, 3 * normal * arms), integers(state.third_ends, 3)
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[(third * normal + agent) * arms + arm] = int(pulls[byzantine + agent, arm]) - 1
