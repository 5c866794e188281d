"""Deliver: who is heard in this round, which reports are remembered, and in which rows they stand."""

from typing import Any

import numpy as np

from byzmab.core.compiler import compiled_noinline
from byzmab.core.draws import fold, keep_some
from byzmab.engine.state import first_row, integers, table, words
from byzmab.engine.tell import PER_EDGE, PER_SENDER, first_lie_row, kept_row

# What a round comes to: ENOUGH, or the array that must grow before it can go on; with FAULT it cannot, and
# `state.fault` says why.
ENOUGH, EDGES, INBOXES, LIES, FAULT = range(5)


@compiled_noinline
def pick_subsets(state: Any) -> None:
    """Let every agent hear `subset` of its neighbours, drawn anew in every round."""
    agents = state.agents
    starts = integers(state.graph_starts, agents + 1)
    graph = integers(state.graph, state.edge_capacity)
    in_edge_starts = integers(state.in_edge_starts, agents + 1)
    in_edges = integers(state.in_edges, state.edge_capacity)
    rng = words(state.rng, 1)
    key = fold(state.subset_key, state.sent)
    edges = 0
    for receiver in range(agents):
        in_edge_starts[receiver] = edges
        degree = starts[receiver + 1] - starts[receiver]
        for edge in range(degree):
            in_edges[edges + edge] = graph[starts[receiver] + edge]
        if degree > state.subset:
            rng[0] = fold(key, receiver)
            keep_some(rng, in_edges[edges : edges + degree], state.subset)
        edges += min(degree, state.subset)
    in_edge_starts[agents] = state.edges = edges


@compiled_noinline
def keep_history(state: Any) -> None:
    """Copy this round's tallies to where they can be read while they are remembered or under way."""
    agents, arms = state.agents, state.arms
    first = first_row(state, state.time)
    pulls, means = table(state.pulls, agents, arms), table(state.means, agents, arms)
    told_pulls = table(state.told_pulls, state.history * agents, arms)
    told_means = table(state.told_means, state.history * agents, arms)
    for agent in range(agents):
        for arm in range(arms):
            told_pulls[first + agent, arm] = pulls[agent, arm]
            told_means[first + agent, arm] = means[agent, arm]


@compiled_noinline
def fill_inboxes(state: Any) -> int:
    """Without memory: give each report heard now a row; return ENOUGH, or the array to grow first."""
    agents, sent = state.agents, state.sent
    entries = integers(state.in_edge_starts, agents + 1)[agents]
    if entries > state.inbox_capacity:
        return INBOXES
    senders = words(state.inbox_senders, state.inbox_capacity)  # no sign, no test for negative indices
    rows = words(state.inbox_rows, state.inbox_capacity)
    first_honest = np.uint64(kept_row(state, 0, 0) if state.kept == PER_SENDER else first_row(state, sent))
    next_lie, room = np.uint64(first_lie_row(state)), np.uint64(state.history * agents + state.lie_capacity)
    liars = np.uint64(0 if state.common_lies == 1 else state.byzantine)  # those with a row for each receiver
    for entry in range(np.uint64(entries)):
        sender = senders[entry]
        if sender < liars:
            if next_lie == room:
                return LIES
            rows[entry] = next_lie
            next_lie += np.uint64(1)
        else:
            rows[entry] = first_honest + sender
    return ENOUGH


@compiled_noinline
def fill_kept_inboxes(state: Any) -> int:
    """The same where what was told is kept per edge: each report has a row of its own for ever."""
    starts = integers(state.in_edge_starts, state.agents + 1)
    if starts[state.agents] > state.inbox_capacity:
        return INBOXES
    senders = integers(state.inbox_senders, state.inbox_capacity)
    rows = integers(state.inbox_rows, state.inbox_capacity)
    for receiver in range(state.agents):
        for entry in range(starts[receiver], starts[receiver + 1]):
            rows[entry] = kept_row(state, receiver, senders[entry])
    return ENOUGH


@compiled_noinline
def remember(state: Any) -> int:
    """With memory: merge the reports heard now with those that are not too old, both by ascending sender.

    Return ENOUGH, or the array to grow first.
    """
    agents, byzantine, sent, memory = state.agents, state.byzantine, state.sent, state.memory
    in_edge_starts = integers(state.in_edge_starts, agents + 1)
    in_edges = integers(state.in_edges, state.edge_capacity)
    starts = integers(state.inbox_starts, agents + 1)
    entries = starts[agents]
    if entries + in_edge_starts[agents] > state.inbox_capacity:
        return INBOXES
    kept = state.kept == PER_EDGE  # every report has a row of its own for ever
    lies = state.lies - state.free
    for edge in range(in_edge_starts[agents]):
        lies += in_edges[edge] < byzantine
    if lies > state.lie_capacity and not kept:
        return LIES
    senders = integers(state.inbox_senders, state.inbox_capacity)
    times = integers(state.inbox_times, state.inbox_capacity)
    rows = integers(state.inbox_rows, state.inbox_capacity)
    old_starts = integers(state.previous_inbox_starts, agents + 1)
    old = integers(state.previous_inbox_senders, state.inbox_capacity)
    old_at = integers(state.previous_inbox_times, state.inbox_capacity)
    old_rows = integers(state.previous_inbox_rows, state.inbox_capacity)
    free_rows = integers(state.free_rows, state.lie_capacity)
    for agent in range(agents + 1):
        old_starts[agent] = starts[agent]
    for entry in range(entries):
        old[entry], old_at[entry], old_rows[entry] = senders[entry], times[entry], rows[entry]
    first_honest, first_lie = first_row(state, sent), state.history * agents
    entries = 0
    for agent in range(agents):
        starts[agent] = entries
        past, end_past = old_starts[agent], old_starts[agent + 1]
        edge, end_edge = in_edge_starts[agent], in_edge_starts[agent + 1]
        while past < end_past or edge < end_edge:
            known = past < end_past and (edge == end_edge or old[past] <= in_edges[edge])
            heard_now = edge < end_edge and (past == end_past or in_edges[edge] <= old[past])
            sender = old[past] if known else in_edges[edge]
            row = old_rows[past] if known else -1
            at = sent if heard_now else old_at[past]
            past += known
            edge += heard_now
            if sent - at > memory:
                if sender < byzantine and not kept:
                    free_rows[state.free] = row
                    state.free += 1
                continue
            if kept:
                row = kept_row(state, agent, sender)
            elif heard_now and sender >= byzantine:
                row = first_honest + sender
            elif row < 0 and state.free > 0:
                state.free -= 1
                row = free_rows[state.free]
            elif row < 0:
                row = first_lie + state.lies
                state.lies += 1
            senders[entries], times[entries], rows[entries] = sender, at, row
            entries += 1
    starts[agents] = entries
    return ENOUGH


@compiled_noinline
def deliver(state: Any) -> int:
    """Deliver this round's reports; return ENOUGH, or the array that must grow first."""
    if state.subset > 0:
        pick_subsets(state)
    if state.memory > 0:
        return remember(state)
    if state.begun == 0 or state.stable_inbox == 0:
        return fill_kept_inboxes(state) if state.kept == PER_EDGE else fill_inboxes(state)
    return ENOUGH
