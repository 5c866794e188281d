"""Believe at contexts: a filter over pairs, or a baseline, for every agent."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.baselines.contexts.base import ContextBaseline, believe_combined
from byzmab.contexts.tell import told_rows
from byzmab.core.compiler import specialize
from byzmab.core.contexts.believe import PAIRS, Inbox, Reading, Scratch, believe_at
from byzmab.core.contexts.comparing import TERMS
from byzmab.core.contexts.statistics import row_size
from byzmab.core.filters.base import Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Belief
from byzmab.engine.audit import believes_anyone, f_of_agent
from byzmab.engine.state import BAD_BELIEF, StateType, cube, floats, table, word_table, words

MOST_KNOWN = 16  # dimensions: up to here a loop is compiled for every d, so that loops over small matrices are unrolled
DIMENSIONS = 0  # d where it is known when the loop is compiled; `specialize` puts it here


def believe_all_at(state: Any) -> None:
    """Let every agent believe of every arm at the context that it sees."""
    agents, arms, d, rows = state.agents, state.arms, DIMENSIONS or state.context, told_rows(state)
    own, told = cube(state.statistics, agents, arms, row_size(d)), cube(state.told_statistics, rows, arms, row_size(d))
    versions = word_table(state.versions, agents, arms)
    told_versions = word_table(state.told_versions, rows, arms)
    starts, inbox_rows = words(state.inbox_starts, agents + 1), words(state.inbox_rows, state.inbox_capacity)
    contexts, kappas = table(state.contexts, agents, d), floats(state.kappas, agents)
    params, ridge = floats(state.filter_params, state.filter_params_size), floats(state.ridge, 1)[0]
    stamps = word_table(state.stamps, agents * arms, PAIRS + state.max_inbox)
    factors = cube(state.factors, agents, arms, d * d + 2 * d)
    terms, pairs = cube(state.terms, agents * arms, TERMS, state.max_inbox), table(state.pairs, 3, state.max_inbox)
    estimates, weights = table(state.estimates, agents, arms), table(state.weights, agents, arms)
    doubts, trials = table(state.doubts, agents, arms), table(state.trial, agents, 1 + arms)
    own_estimates, own_weights = table(state.own_estimates, agents, arms), table(state.own_weights, agents, arms)
    for agent in range(agents):
        first, end = starts[agent], starts[agent + 1] if believes_anyone(state, agent, 0) else starts[agent]
        reading = Reading(
            ridge,
            state.shares,
            state.vetting == 1,
            state.consistency == 1,
            f_of_agent(state, agent, 0),
            kappas[agent],
            state.time,
            state.expects * np.int64(end - first),
        )
        scratch = Scratch(
            stamps[agent * arms : (agent + 1) * arms],
            factors[agent],
            terms[agent * arms : (agent + 1) * arms],
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
    """`believe_all_at` with a filter's or a baseline's own function in it; BadInput where that has a mistake."""
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
