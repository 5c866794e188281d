"""See: the context of every agent in this round, and the mean of every arm there.

Without data a context is (1, u)/√2 with u on the unit sphere: uniform, or leaning to the agent's own direction. In one
dimension it is 1. With data it is one of the rows, each equally likely.
"""

import math
from typing import Any

from byzmab.core.compiler import compiled_noinline
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.draws import below, fold, normal
from byzmab.core.report import Floats, Words
from byzmab.engine.state import table, words


@compiled_noinline
def draw_context(rng: Words, lean: Floats, out: Floats) -> None:
    """Draw a context of length 1: a constant, and a direction."""
    length = 0.0
    for a in range(1, out.size):
        out[a] = normal(rng) + lean[a - 1]
        length += out[a] * out[a]
    out[0] = math.sqrt(0.5) if out.size > 1 else 1.0
    for a in range(1, out.size):
        out[a] *= math.sqrt(0.5 / length)


@compiled_noinline
def see_all(state: Any, number: int) -> None:
    """Let every agent see its context of this number."""
    agents, arms, d = state.agents, state.arms, state.context
    contexts, means = table(state.contexts, agents, d), table(state.context_means, agents, arms)
    leans, parameters = table(state.leans, agents, d), table(state.parameters, arms, d)
    pool, pool_means = table(state.pool_contexts, state.pool_size, d), table(state.pool_means, state.pool_size, arms)
    rng = words(state.rng, 1)
    for agent in range(agents):
        rng[0] = fold(fold(state.context_key, agent), number)
        if state.pool_size > 0:
            row = below(rng, state.pool_size)
            for a in range(d):
                contexts[agent, a] = pool[row, a]
            for arm in range(arms):
                means[agent, arm] = pool_means[row, arm]
        else:
            draw_context(rng, leans[agent], contexts[agent])
            for arm in range(arms):
                mean = NEUTRAL + dot(contexts[agent], parameters[arm])
                means[agent, arm] = min(max(mean, 0.0), 1.0)  # but for rounding, it is
