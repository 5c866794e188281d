"""Believe: what every agent makes of what it heard, on the arms where something changed."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.core.believe import Inbox, Own, Reading, believe_agent
from byzmab.core.compiler import compiled, compiled_noinline, specialize
from byzmab.core.differences import is_due, limit_others, measure_difference, measure_neighbour
from byzmab.core.filters.base import EVERY_ROUND, Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Belief
from byzmab.engine.audit import believes_anyone, expelled_by, f_of_agent
from byzmab.engine.dense import believe_all_dense
from byzmab.engine.digest import believe_all_digested
from byzmab.engine.dirty import ALL_BITS, NO_BITS, WORD, bit_of, span_of
from byzmab.engine.state import BAD_BELIEF, State, StateType
from byzmab.engine.typed import unsigned
from byzmab.ordering.shared_order import merge_droppable


@compiled
def dirty_arms(state: State, agent: int, first: np.uint64, end: np.uint64, word: int) -> np.uint64:
    """Return a word with the bits of those of its arms on which something changed that an agent knows or receives."""
    arms = state.arms - WORD * word
    every_arm = ALL_BITS if arms >= WORD else bit_of(arms) - np.uint64(1)
    if (
        state.stable_inbox == 0
        or state.depends_on == EVERY_ROUND
        or is_due(state.agent_spread, state.time, state.epoch)
    ):
        return every_arm
    dirty_rows = state.dirty
    inbox_rows = unsigned(state.inbox_rows)
    dirty = dirty_rows[agent, word] & every_arm
    for entry in range(first, end):
        dirty |= dirty_rows[inbox_rows[entry], word] & every_arm
        if dirty == every_arm:
            break
    return np.uint64(dirty)


@compiled_noinline
def measure_neighbours(state: State, agent: int) -> None:
    """Measure how far each neighbour that an agent hears now differs from it."""
    pulls, means, told_pulls, told_means = state.pulls, state.means, state.told_pulls, state.told_means
    rows, senders, starts = state.inbox_rows, state.inbox_senders, state.inbox_starts
    differences = state.neighbour_differences
    for entry in range(starts[agent], starts[agent + 1]):
        row = rows[entry]
        differences[agent, senders[entry]] = measure_neighbour(
            pulls[agent], means[agent], told_pulls[row], told_means[row]
        )


def believe_all(state: State) -> None:
    """Let every agent believe anew of every arm on which something changed that matters to the filter.

    `specialize` puts `believe_agent` with the filter's own function in the place of the one below.
    """
    own_pulls = state.pulls
    own_means = state.means
    told_pulls = state.told_pulls
    told_means = state.told_means
    # indices are read as words, which have no sign: numba then leaves out the test for negative ones
    starts = unsigned(state.inbox_starts)
    inbox_rows = unsigned(state.inbox_rows)
    kappas = state.kappas
    params = state.filter_params
    work = state.work_pulls, state.work_means
    estimates = state.estimates
    weights = state.weights
    doubts = state.doubts
    differences, neighbour_differences = state.differences, state.neighbour_differences
    senders = unsigned(state.inbox_senders)
    due = is_due(state.agent_spread, state.time, state.epoch)
    for agent in range(state.agents):
        expelled = expelled_by(state, agent)
        first, end = starts[agent], starts[agent + 1] if believes_anyone(state, agent, expelled) else starts[agent]
        heard: Any = np.int64(end - first)
        reading = Reading(
            state.consistency == 1,
            f_of_agent(state, agent, expelled),
            kappas[agent],
            state.clock,
            state.expects * (heard - expelled),
        )
        if due and state.compared > 0:
            measure_neighbours(state, agent)
        belief = Belief(estimates[agent], weights[agent], doubts[agent], own_means[agent], own_pulls[agent])
        for word in range(state.dirty_words):
            dirty = dirty_arms(state, agent, first, starts[agent + 1], word)  # an expulsion may end all trust
            if dirty == NO_BITS:
                continue
            sound = believe_agent(
                Own(own_pulls[agent], own_means[agent]),
                Inbox(told_pulls, told_means, inbox_rows, first, end, senders, neighbour_differences[agent]),
                dirty,
                span_of(word, state.arms),
                reading,
                params,
                work,
                belief,
            )
            if not sound:
                state.fault = BAD_BELIEF
        if state.agent_spread == 0.0:
            continue
        if due:
            differences[agent] = measure_difference(own_pulls[agent], own_means[agent], belief)
        for word in range(state.dirty_words):
            dirty, span = dirty_arms(state, agent, first, starts[agent + 1], word), span_of(word, state.arms)
            limit_others(own_pulls[agent], own_means[agent], dirty, span, differences[agent], belief)


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
