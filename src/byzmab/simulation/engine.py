"""The compiled round loop: the whole network, one run, to be stopped and resumed at any round.

Graph, attack, filter and policy come in as function pointers and are each called once per round; the
loops over agents and arms are woven around their small functions (core/compiler.py). A new plug-in
therefore compiles alone, and yet costs no call per agent or arm.
"""

from typing import Any

from numba import types

from byzmab.core.board import BoardType, first_row, floats, integers, table, words
from byzmab.core.compiler import compiled, compiled_apart, compiled_as
from byzmab.core.crowd import order_reports
from byzmab.core.draws import fold
from byzmab.simulation.inbox import EDGES, ENOUGH, FAULT, fill_inboxes, keep_history, pick_subsets, remember
from byzmab.simulation.rewards import reward

EVERY_ARM = -1  # all bits of a word of news set
LOOP = types.FunctionType(types.void(BoardType))
DRAWING_LOOP = types.FunctionType(types.boolean(BoardType))


@compiled_as(types.void(BoardType))
def start(board: Any) -> None:
    """Time 0: every agent pulls every arm once. These pulls are outside the regret."""
    agents, arms = board.agents, board.arms
    pulls = table(board.pulls, agents, arms)
    totals = table(board.totals, agents, arms)
    means = table(board.means, agents, arms)
    keys = words(board.reward_keys, agents * arms)
    kinds, knobs = integers(board.reward_kinds, agents), floats(board.reward_knobs, agents)
    truths = floats(board.truths, arms)
    news = words(board.news, agents)
    rng = words(board.rng, 1)
    last = integers(board.last, board.history * agents)
    for place in range(last.size):
        last[place] = -1
    policy_keys = words(board.policy_keys, agents)
    for agent in range(agents):
        news[agent] = EVERY_ARM
        policy_keys[agent] = fold(board.policy_key, agent)
        reward_key = fold(board.reward_key, agent)
        for arm in range(arms):
            keys[agent * arms + arm] = fold(reward_key, arm)
            value = reward(kinds[agent], knobs[agent], truths[arm], fold(keys[agent * arms + arm], 0), rng)
            pulls[agent, arm], totals[agent, arm], means[agent, arm] = 1.0, value, value


@compiled_apart
def exchange(board: Any, draw: Any, lie: Any) -> int:
    """Everyone hears its neighbours; tells what there was too little room for."""
    board.sent = board.time - board.delay
    if board.sent < 0:
        return ENOUGH
    first = board.begun == 0
    if (first or board.time_varying == 1) and not draw(board):
        return EDGES
    if board.fault != 0:
        return FAULT
    if board.subset > 0:
        pick_subsets(board)
    if board.memory > 0:
        shortage = remember(board)
        if shortage != ENOUGH:
            return shortage
    elif first or board.settled == 0:
        shortage = fill_inboxes(board)
        if shortage != ENOUGH:
            return shortage
    if board.dense == 1:
        order_reports(board)
    if board.byzantine > 0:
        lie(board)
    board.begun = 1
    board.messages += board.edges
    return ENOUGH


@compiled
def pull_all(board: Any) -> None:
    """Every agent pulls the arm it chose and is rewarded."""
    agents, arms = board.agents, board.arms
    pulls = table(board.pulls, agents, arms)
    totals = table(board.totals, agents, arms)
    means = table(board.means, agents, arms)
    keys = words(board.reward_keys, agents * arms)
    kinds, knobs = integers(board.reward_kinds, agents), floats(board.reward_knobs, agents)
    truths = floats(board.truths, arms)
    choices = integers(board.choices, agents)
    news = words(board.news, agents)
    rng = words(board.rng, 1)
    last = integers(board.last, board.history * agents)
    first = first_row(board, board.time + 1)
    for agent in range(agents):
        arm = choices[agent]
        count = pulls[agent, arm]
        total = totals[agent, arm] + reward(
            kinds[agent], knobs[agent], truths[arm], fold(keys[agent * arms + arm], int(count)), rng
        )
        pulls[agent, arm] = count + 1.0
        totals[agent, arm] = total
        means[agent, arm] = total / (count + 1.0)
        news[agent] = 1 << (arm & 63)
        last[first + agent] = arm


@compiled
def record(board: Any) -> None:
    """Write down regret on the grid of rounds, and pulls at the end of each third."""
    agents, arms, byzantine, time = board.agents, board.arms, board.byzantine, board.time
    pulls = table(board.pulls, agents, arms)
    normal = agents - byzantine
    if time == integers(board.grid, board.grid_size)[board.recorded]:
        truths = floats(board.truths, arms)
        best = truths[0]
        for arm in range(arms):
            best = max(best, truths[arm])
        regret = table(board.regret, normal, board.grid_size)
        for agent in range(normal):
            total = 0.0
            for arm in range(arms):
                total += (pulls[byzantine + agent, arm] - 1.0) * (best - truths[arm])
            regret[agent, board.recorded] = total
        board.recorded += 1
    thirds = integers(board.thirds, 3 * normal * arms)
    ends = integers(board.third_ends, 3)
    for third in range(3):
        if time == ends[third]:
            for agent in range(normal):
                for arm in range(arms):
                    thirds[(third * normal + agent) * arms + arm] = int(pulls[byzantine + agent, arm]) - 1


PLAY = types.int64(BoardType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP)


@compiled_as(PLAY)
def play(board: Any, until: int, draw: Any, lie: Any, believe: Any, choose: Any) -> int:
    """Play up to a round; ENOUGH when it is reached, else what to make room for before playing on."""
    while board.time < until:
        if board.history > 1:
            keep_history(board)
        if board.epoch == 1 or board.time % board.epoch == 0:
            if board.hears == 1:
                shortage = exchange(board, draw, lie)
                if shortage != ENOUGH:
                    return shortage
            believe(board)
            choose(board)
            if board.fault != 0:
                return FAULT
        pull_all(board)
        board.time += 1
        record(board)
    return ENOUGH


@compiled_as(PLAY)
def play_baseline(board: Any, until: int, draw: Any, lie: Any, decide: Any, update: Any) -> int:
    """The same for a baseline, which decides from what it heard and tells something else than its tally."""
    while board.time < until:
        shortage = exchange(board, draw, lie)
        if shortage != ENOUGH:
            return shortage
        decide(board)
        pull_all(board)
        update(board)
        board.time += 1
        record(board)
    return ENOUGH
