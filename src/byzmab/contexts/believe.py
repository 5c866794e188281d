"""Believe at contexts: a filter over pairs, or a baseline, for every agent."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.baselines.contexts.base import ContextBaseline, believe_combined
from byzmab.contexts.tell import own_statistics, told_rows
from byzmab.core.compiler import specialize
from byzmab.core.contexts.believe import Inbox, Reading, Scratch, believe_at
from byzmab.core.contexts.comparing import TERMS
from byzmab.core.filters.base import Filter
from byzmab.core.liars import f_for
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Belief
from byzmab.engine.state import BAD_BELIEF, StateType, cube, floats, table, word_table, words


def believe_all_at(state: Any) -> None:
    """Let every agent believe of every arm at the context that it sees."""
    agents, arms, d, rows = state.agents, state.arms, state.context, told_rows(state)
    own, versions = own_statistics(state), word_table(state.versions, agents, arms)
    told = cube(state.told_statistics, rows, arms, state.row_size)
    told_versions = word_table(state.told_versions, rows, arms)
    starts, inbox_rows = words(state.inbox_starts, agents + 1), words(state.inbox_rows, state.inbox_capacity)
    contexts, kappas = table(state.contexts, agents, d), floats(state.kappas, agents)
    params, ridge = floats(state.filter_params, state.filter_params_size), floats(state.ridge, 1)[0]
    stamps, factors = word_table(state.stamps, 2 * agents, arms), cube(state.factors, agents, arms, d * d + d)
    terms, pairs = cube(state.terms, agents * arms, TERMS, state.max_inbox), table(state.pairs, 3, state.max_inbox)
    estimates, weights = table(state.estimates, agents, arms), table(state.weights, agents, arms)
    doubts, trials = table(state.doubts, agents, arms), table(state.trial, agents, 1 + arms)
    for agent in range(agents):
        heard: Any = np.int64(starts[agent + 1] - starts[agent])
        reading = Reading(
            ridge,
            state.shares,
            state.vetting == 1,
            state.consistency == 1,
            f_for(state.f, heard),
            kappas[agent],
            state.time,
            state.expects * heard,
        )
        scratch = Scratch(
            stamps[2 * agent : 2 * agent + 2],
            factors[agent],
            terms[agent * arms : (agent + 1) * arms],
            pairs,
            trials[agent],
        )
        sound = believe_at(
            own[agent],
            versions[agent],
            Inbox(told, told_versions, inbox_rows[starts[agent] : starts[agent + 1]]),
            contexts[agent],
            reading,
            params,
            scratch,
            Belief(estimates[agent], weights[agent], doubts[agent]),
        )
        if not sound:
            state.fault = BAD_BELIEF


def believing_at(by: Filter | ContextBaseline) -> Any:
    """`believe_all_at` with a filter's or a baseline's own function in it; BadInput where that has a mistake."""
    check_functions(by.kind, by.functions())
    return _combining(type(by).combine) if isinstance(by, ContextBaseline) else _believing(type(by).believe)


@cache
def _believing(believe: Any) -> Any:
    inner = specialize(believe_at, believe=believe)
    return specialize(believe_all_at, types.void(StateType), believe_at=inner)


@cache
def _combining(combine: Any) -> Any:
    inner = specialize(believe_combined, combine=combine)
    return specialize(believe_all_at, types.void(StateType), believe_at=inner)
