"""See: the context of every agent in this round, and the mean of every arm there.

Without data a context is (1, u)/√2 with u on the unit sphere: uniform, or leaning to the agent's own direction. In one
dimension it is 1. With data it is one of the rows, each equally likely.
"""

import math

from byzmab.core.compiler import compiled_noinline
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.draws import below, fold, normal
from byzmab.core.report import Floats, Words
from byzmab.engine.state import State


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
def see_all(state: State, number: int) -> None:
    """Let every agent see its context of this number."""
    agents, arms, d = state.agents, state.arms, state.context
    contexts, means = state.contexts, state.context_means
    leans, parameters = state.leans, state.parameters
    pool, pool_means = state.pool_contexts, state.pool_means
    rng = state.rng
    for agent in range(agents):
        rng[0] = fold(fold(state.context_key, agent), number)
        if pool.shape[0] > 0:
            row = below(rng, pool.shape[0])
            for a in range(d):
                contexts[agent, a] = pool[row, a]
            for arm in range(arms):
                means[agent, arm] = pool_means[row, arm]
        else:
            draw_context(rng, leans[agent], contexts[agent])
            for arm in range(arms):
                mean = NEUTRAL + dot(contexts[agent], parameters[arm])
                means[agent, arm] = min(max(mean, 0.0), 1.0)  # but for rounding, it is
