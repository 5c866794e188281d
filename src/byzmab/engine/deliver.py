"""Deliver: who is heard in this round, which reports are remembered, and in which rows they stand."""

import numpy as np

from byzmab.core.compiler import compiled_noinline
from byzmab.core.draws import fold, keep_some
from byzmab.engine.state import State, first_row
from byzmab.engine.tell import PER_EDGE, PER_SENDER, first_lie_row, kept_row
from byzmab.engine.typed import unsigned

# What a round comes to: ENOUGH, or the array that must grow before it can go on; with FAULT it cannot, and
# `state.fault` says why.
ENOUGH, EDGES, INBOXES, LIES, FAULT = range(5)


@compiled_noinline
def pick_subsets(state: State) -> None:
    """Let every agent hear `subset` of its neighbours, drawn anew in every round."""
    agents = state.agents
    starts = state.graph_starts
    graph = state.graph
    in_edge_starts = state.in_edge_starts
    in_edges = state.in_edges
    rng = state.rng
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
def keep_history(state: State) -> None:
    """Copy this round's tallies to where they can be read while they are remembered or under way."""
    agents, arms = state.agents, state.arms
    first = first_row(state, state.time)
    pulls, means = state.pulls, state.means
    told_pulls = state.told_pulls
    told_means = state.told_means
    for agent in range(agents):
        for arm in range(arms):
            told_pulls[first + agent, arm] = pulls[agent, arm]
            told_means[first + agent, arm] = means[agent, arm]


@compiled_noinline
def fill_inboxes(state: State) -> int:
    """Without memory: give each report heard now a row; return ENOUGH, or the array to grow first."""
    agents, sent = state.agents, state.sent
    entries = state.in_edge_starts[agents]
    if entries > state.inbox_capacity:
        return INBOXES
    senders = unsigned(state.inbox_senders)  # no sign, no test for negative indices
    rows = unsigned(state.inbox_rows)
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
def fill_kept_inboxes(state: State) -> int:
    """`fill_inboxes` where what was sent is kept per edge: each report has a row of its own for ever."""
    starts = state.in_edge_starts
    if starts[state.agents] > state.inbox_capacity:
        return INBOXES
    senders = state.inbox_senders
    rows = state.inbox_rows
    for receiver in range(state.agents):
        for entry in range(starts[receiver], starts[receiver + 1]):
            rows[entry] = kept_row(state, receiver, senders[entry])
    return ENOUGH


@compiled_noinline
def remember(state: State) -> int:
    """With memory: merge the reports heard now with those that are not too old, both by ascending sender.

    Return ENOUGH, or the array to grow first.
    """
    agents, byzantine, sent, memory = state.agents, state.byzantine, state.sent, state.memory
    in_edge_starts = state.in_edge_starts
    in_edges = state.in_edges
    starts = state.inbox_starts
    entries = starts[agents]
    if entries + in_edge_starts[agents] > state.inbox_capacity:
        return INBOXES
    kept = state.kept == PER_EDGE  # every report has a row of its own for ever
    lies = state.lies - state.free
    for edge in range(in_edge_starts[agents]):
        lies += in_edges[edge] < byzantine
    if lies > state.lie_capacity and not kept:
        return LIES
    senders = state.inbox_senders
    times = state.inbox_times
    rows = state.inbox_rows
    old_starts = state.previous_inbox_starts
    old = state.previous_inbox_senders
    old_at = state.previous_inbox_times
    old_rows = state.previous_inbox_rows
    free_rows = state.free_rows
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
def deliver(state: State) -> int:
    """Deliver this round's reports; return ENOUGH, or the array that must grow first."""
    if state.subset > 0:
        pick_subsets(state)
    if state.memory > 0:
        return remember(state)
    if state.begun == 0 or state.stable_inbox == 0:
        return fill_kept_inboxes(state) if state.kept == PER_EDGE else fill_inboxes(state)
    return ENOUGH
