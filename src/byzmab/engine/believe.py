"""Believe: what every agent makes of what it heard, on the arms where something changed."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.core.believe import ALL_ARMS, believe_agent
from byzmab.core.compiler import compiled, specialize
from byzmab.core.filters.base import EVERY_ROUND, Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Belief
from byzmab.core.shared_order import merge_droppable
from byzmab.engine.audit import believes_anyone, expelled_by, f_of_agent
from byzmab.engine.dense import believe_all_dense
from byzmab.engine.digest import believe_all_digested
from byzmab.engine.state import BAD_BELIEF, StateType, floats, table, words


@compiled
def dirty_arms(state: Any, agent: int, first: np.uint64, end: np.uint64) -> np.uint64:
    """A word with the bits of those arms on which something changed that an agent knows or hears."""
    arms = state.arms
    every_arm = ALL_ARMS if arms > 63 else (np.uint64(1) << np.uint64(arms)) - np.uint64(1)
    if state.stable_inbox == 0 or state.depends_on == EVERY_ROUND:
        return every_arm
    dirty_rows = words(state.dirty, state.history * state.agents + state.lie_capacity)
    inbox_rows = words(state.inbox_rows, state.inbox_capacity)
    dirty = dirty_rows[agent] & every_arm
    for entry in range(first, end):
        dirty |= dirty_rows[inbox_rows[entry]] & every_arm
        if dirty == every_arm:
            break
    return np.uint64(dirty)


def believe_all(state: Any) -> None:
    """Let every agent believe anew of every arm on which something changed that matters to the filter.

    `specialize` puts `believe_agent` with the filter's own function in the place of the one below.
    """
    agents, arms, rows = state.agents, state.arms, state.history * state.agents + state.lie_capacity
    own_pulls = table(state.pulls, agents, arms)
    own_means = table(state.means, agents, arms)
    told_pulls = table(state.told_pulls, rows, arms)
    told_means = table(state.told_means, rows, arms)
    # indices are read as words, which have no sign: numba then leaves out the test for negative ones
    starts = words(state.inbox_starts, agents + 1)
    inbox_rows = words(state.inbox_rows, state.inbox_capacity)
    kappas = floats(state.kappas, agents)
    params = floats(state.filter_params, state.filter_params_size)
    work = floats(state.work_pulls, state.max_inbox), floats(state.work_means, state.max_inbox)
    estimates = table(state.estimates, agents, arms)
    weights = table(state.weights, agents, arms)
    doubts = table(state.doubts, agents, arms)
    for agent in range(agents):
        expelled = expelled_by(state, agent)
        first, end = starts[agent], starts[agent + 1] if believes_anyone(state, agent, expelled) else starts[agent]
        heard: Any = np.int64(end - first)
        dirty = dirty_arms(state, agent, first, starts[agent + 1])  # an expulsion may end all trust
        sound = believe_agent(
            own_pulls[agent],
            own_means[agent],
            told_pulls,
            told_means,
            inbox_rows,
            first,
            end,
            dirty,
            state.consistency == 1,
            f_of_agent(state, agent, expelled),
            kappas[agent],
            state.clock,
            state.expects * (heard - expelled),
            params,
            work,
            Belief(estimates[agent], weights[agent], doubts[agent], own_means[agent], own_pulls[agent]),
        )
        if not sound:
            state.fault = BAD_BELIEF


def believing(filter: Filter, dense: bool, digested: bool) -> Any:
    """`believe_all`, or the dense or digested one, with a filter's own function in it; BadInput where that is wrong."""
    check_functions(filter.kind, filter.functions())
    if digested:
        return _believing_digested(filter.played("digest"), filter.played("believe_digest"))
    if dense:
        return _believing_dense(filter.played("believe_dense"), filter.played("drops"))
    return _believing(filter.played("believe"))


@cache
def _believing(believe: Any) -> Any:
    inner = specialize(believe_agent, believe=believe)
    return specialize(believe_all, types.void(StateType), believe_agent=inner)


@cache
def _believing_dense(believe_dense: Any, drops: Any) -> Any:
    centred = {} if drops is None else {"drops": drops, "merge": merge_droppable}
    return specialize(believe_all_dense, types.void(StateType), believe_dense=believe_dense, **centred)


@cache
def _believing_digested(digest: Any, believe_digest: Any) -> Any:
    return specialize(believe_all_digested, types.void(StateType), digest=digest, believe_digest=believe_digest)
