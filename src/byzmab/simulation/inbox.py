"""Inboxes: who is heard in this round, which reports are remembered, and in which rows they stand."""

from typing import Any

import numpy as np

from byzmab.core.board import first_row, integers, table, words
from byzmab.core.compiler import compiled_apart
from byzmab.core.draws import fold, keep_some

# What there may be too little room for; the caller makes more and plays on.
# With FAULT it cannot go on: the board tells why.
ENOUGH, EDGES, INBOXES, LIES, FAULT = range(5)


@compiled_apart
def pick_subsets(board: Any) -> None:
    """Every agent hears `subset` of its neighbours, drawn anew in every round."""
    agents = board.agents
    starts = integers(board.graph_starts, agents + 1)
    graph = integers(board.graph, board.edge_room)
    fresh_starts = integers(board.fresh_starts, agents + 1)
    fresh = integers(board.fresh, board.edge_room)
    rng = words(board.rng, 1)
    key = fold(board.subset_key, board.sent)
    edges = 0
    for receiver in range(agents):
        fresh_starts[receiver] = edges
        degree = starts[receiver + 1] - starts[receiver]
        for place in range(degree):
            fresh[edges + place] = graph[starts[receiver] + place]
        if degree > board.subset:
            rng[0] = fold(key, receiver)
            keep_some(rng, fresh[edges : edges + degree], board.subset)
        edges += min(degree, board.subset)
    fresh_starts[agents] = board.edges = edges


@compiled_apart
def keep_history(board: Any) -> None:
    """Copy this round's tallies to where they can be read while they are remembered or under way."""
    agents, arms = board.agents, board.arms
    first = first_row(board, board.time)
    pulls, means = table(board.pulls, agents, arms), table(board.means, agents, arms)
    told_pulls = table(board.told_pulls, board.history * agents, arms)
    told_means = table(board.told_means, board.history * agents, arms)
    for agent in range(agents):
        for arm in range(arms):
            told_pulls[first + agent, arm] = pulls[agent, arm]
            told_means[first + agent, arm] = means[agent, arm]


@compiled_apart
def fill_inboxes(board: Any) -> int:
    """Without memory: the reports heard now, and a row for each of them."""
    agents, byzantine, sent = board.agents, np.uint64(board.byzantine), board.sent
    entries = integers(board.fresh_starts, agents + 1)[agents]
    if entries > board.heard_room:
        return INBOXES
    heard = words(board.heard, board.heard_room)  # no sign, no test for negative indices
    rows = words(board.heard_rows, board.heard_room)
    first_honest, next_lie = np.uint64(first_row(board, sent)), np.uint64(board.history * agents)
    room = next_lie + np.uint64(board.lie_room)
    for entry in range(np.uint64(entries)):
        sender = heard[entry]
        if sender < byzantine:
            if next_lie == room:
                return LIES
            rows[entry] = next_lie
            next_lie += np.uint64(1)
        else:
            rows[entry] = first_honest + sender
    return ENOUGH


@compiled_apart
def remember(board: Any) -> int:
    """With memory: merge the reports heard now with those that are not too old, both by ascending sender."""
    agents, byzantine, sent, memory = board.agents, board.byzantine, board.sent, board.memory
    fresh_starts = integers(board.fresh_starts, agents + 1)
    fresh = integers(board.fresh, board.edge_room)
    starts = integers(board.heard_starts, agents + 1)
    entries = starts[agents]
    if entries + fresh_starts[agents] > board.heard_room:
        return INBOXES
    lies = board.lies - board.free
    for edge in range(fresh_starts[agents]):
        lies += fresh[edge] < byzantine
    if lies > board.lie_room:
        return LIES
    heard = integers(board.heard, board.heard_room)
    heard_at = integers(board.heard_at, board.heard_room)
    rows = integers(board.heard_rows, board.heard_room)
    old_starts = integers(board.spare_starts, agents + 1)
    old = integers(board.spare, board.heard_room)
    old_at = integers(board.spare_at, board.heard_room)
    old_rows = integers(board.spare_rows, board.heard_room)
    free_rows = integers(board.free_rows, board.lie_room)
    for agent in range(agents + 1):
        old_starts[agent] = starts[agent]
    for entry in range(entries):
        old[entry], old_at[entry], old_rows[entry] = heard[entry], heard_at[entry], rows[entry]
    first_honest, first_lie = first_row(board, sent), board.history * agents
    entries = 0
    for agent in range(agents):
        starts[agent] = entries
        past, end_past = old_starts[agent], old_starts[agent + 1]
        edge, end_edge = fresh_starts[agent], fresh_starts[agent + 1]
        while past < end_past or edge < end_edge:
            known = past < end_past and (edge == end_edge or old[past] <= fresh[edge])
            heard_now = edge < end_edge and (past == end_past or fresh[edge] <= old[past])
            sender = old[past] if known else fresh[edge]
            row = old_rows[past] if known else -1
            at = sent if heard_now else old_at[past]
            past += known
            edge += heard_now
            if sent - at > memory:
                if sender < byzantine:
                    free_rows[board.free] = row
                    board.free += 1
                continue
            if heard_now and sender >= byzantine:
                row = first_honest + sender
            elif row < 0 and board.free > 0:
                board.free -= 1
                row = free_rows[board.free]
            elif row < 0:
                row = first_lie + board.lies
                board.lies += 1
            heard[entries], heard_at[entries], rows[entries] = sender, at, row
            entries += 1
    starts[agents] = entries
    return ENOUGH
