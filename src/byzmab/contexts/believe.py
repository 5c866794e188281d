"""Believe at contexts: a filter over pairs, or an algorithm, for every agent."""

from functools import cache
from typing import Any

from numba import types

from byzmab.baselines.contexts.base import ContextBaseline, believe_combined
from byzmab.core.compiler import specialize
from byzmab.core.contexts.believe import Inbox, Reading, Scratch, believe_at
from byzmab.core.contexts.statistics import row_size
from byzmab.core.filters.base import Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Belief
from byzmab.engine.audit import believes_anyone, f_of_agent
from byzmab.engine.state import BAD_BELIEF, State, StateType
from byzmab.engine.typed import unsigned, with_last

MOST_KNOWN = 16  # dimensions: up to here a loop is compiled for every d, so that loops over small matrices are unrolled
DIMENSIONS = 0  # d where it is known when the loop is compiled; `specialize` puts it here


def believe_all_at(state: State) -> None:
    """Let every agent believe of every arm at the context that it sees."""
    d = DIMENSIONS or state.context
    own, told = with_last(state.statistics, row_size(d)), with_last(state.told_statistics, row_size(d))
    versions, told_versions = state.versions, state.told_versions
    starts, inbox_rows = unsigned(state.inbox_starts), unsigned(state.inbox_rows)
    contexts, kappas = with_last(state.contexts, d), state.kappas
    params, ridge = state.filter_params, state.ridge
    stamps, factors = state.stamps, with_last(state.factors, d * d + 2 * d)
    terms, pairs = state.terms, state.pairs
    estimates, weights = state.estimates, state.weights
    doubts, trials = state.doubts, state.trial
    own_estimates, own_weights = state.own_estimates, state.own_weights
    for agent in range(state.agents):
        first, end = starts[agent], starts[agent + 1] if believes_anyone(state, agent, 0) else starts[agent]
        reading = Reading(
            ridge,
            state.shares,
            state.vetting == 1,
            state.consistency == 1,
            f_of_agent(state, agent, 0),
            kappas[agent],
            state.time,
            state.expects * int(end - first),
        )
        scratch = Scratch(
            stamps[agent],
            factors[agent],
            terms[agent],
            pairs,
            trials[agent],
        )
        sound = believe_at(
            own[agent],
            versions[agent],
            Inbox(told, told_versions, inbox_rows[first:end]),
            contexts[agent],
            reading,
            params,
            scratch,
            Belief(estimates[agent], weights[agent], doubts[agent], own_estimates[agent], own_weights[agent]),
        )
        if not sound:
            state.fault = BAD_BELIEF


def believing_at(by: Filter | ContextBaseline, d: int) -> Any:
    """`believe_all_at` with a filter's or an algorithm's own function in it; BadInput where that has a mistake."""
    check_functions(by.kind, by.functions())
    if isinstance(by, ContextBaseline):
        return _combining(type(by).combine)
    return _believing(by.played("believe"), d if d <= MOST_KNOWN else 0)


@cache
def _believing(believe: Any, d: int) -> Any:
    inner, known = specialize(believe_at, borrows=True, believe=believe), (("DIMENSIONS", d),)
    return specialize(believe_all_at, types.void(StateType), borrows=True, numbers=known, believe_at=inner)


@cache
def _combining(combine: Any) -> Any:
    inner = specialize(believe_combined, combine=combine)
    return specialize(believe_all_at, types.void(StateType), believe_at=inner)
