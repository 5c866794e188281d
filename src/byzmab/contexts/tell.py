"""Tell: what normal agents report, and what receivers keep of it: the rules of engine/tell.py for statistics."""

from typing import Any

from byzmab.core.compiler import compiled, compiled_borrowing_noinline, compiled_noinline
from byzmab.core.report import Floats, Words
from byzmab.core.tell import NO_GROWTH, is_due
from byzmab.engine.state import cube, first_row, floats, integers, table, word_table
from byzmab.engine.tell import PER_EDGE, count_hearers, kept_row


@compiled
def told_rows(state: Any) -> int:
    """How many rows hold reports."""
    return int(state.history * state.agents + state.lie_capacity)


@compiled_borrowing_noinline
def copy_if_new(state: Any, row: Floats, told: Floats, versions: Words, arm: int) -> None:
    """Put a report on an arm in its place, as a new version where it is another one."""
    same = True
    for index in range(row.size):
        same &= row[index] == told[index]
        told[index] = row[index]
    if not same:
        state.changes += 1
        versions[arm] = state.changes


@compiled_noinline
def keep_statistics(state: Any) -> None:
    """Copy this round's statistics to where they can be read while they are remembered or under way."""
    agents, arms, numbers = state.agents, state.arms, state.row_size
    own = cube(state.statistics, agents, arms, numbers)
    told = cube(state.told_statistics, state.history * agents, arms, numbers)
    versions = word_table(state.told_versions, state.history * agents, arms)
    first = first_row(state, state.time)
    for agent in range(agents):
        for arm in range(arms):
            copy_if_new(state, own[agent, arm], told[first + agent, arm], versions[first + agent], arm)


@compiled_noinline
def take_statistics(state: Any, row: int, report: Floats, hearers: int) -> None:
    """Keep what is due of a report, and count it as told to so many.

    Silence on an arm: by growth the receiver goes by what it was told before, and in a whole report the arm is silent.
    """
    rows, arms = told_rows(state), state.arms
    told, versions = (
        cube(state.told_statistics, rows, arms, state.row_size),
        word_table(state.told_versions, rows, arms),
    )
    growth, count = floats(state.growth, 1)[0], 0
    if growth == NO_GROWTH:
        due_times = integers(state.due_times, rows)
        if state.sent >= due_times[row]:
            due_times[row], count = state.sent + state.tell_rounds, arms
            for arm in range(arms):
                copy_if_new(state, report[arm], told[row, arm], versions[row], arm)
    else:
        for arm in range(arms):
            if is_due(report[arm, 0], told[row, arm, 0], growth):
                copy_if_new(state, report[arm], told[row, arm], versions[row], arm)
                count += 1
    state.messages += hearers if count > 0 else 0
    state.arms_told += hearers * count


def tell_statistics(state: Any) -> None:
    """Let normal agents tell what is due; where reports are kept."""
    agents, first = state.agents, first_row(state, state.sent)
    sent = cube(state.told_statistics, state.history * agents, state.arms, state.row_size)
    if state.kept == PER_EDGE:
        starts, in_edges = integers(state.in_edge_starts, agents + 1), integers(state.in_edges, state.edge_capacity)
        for receiver in range(agents):
            for edge in range(starts[receiver], starts[receiver + 1]):
                sender = in_edges[edge]
                if sender >= state.byzantine:
                    take_statistics(state, kept_row(state, receiver, sender), sent[first + sender], 1)
        return
    if state.begun == 0:
        count_hearers(state)
    hearers = integers(state.out_degrees, agents)
    for sender in range(state.byzantine, agents):
        take_statistics(state, kept_row(state, 0, sender), sent[first + sender], hearers[sender])


@compiled
def own_statistics(state: Any) -> Floats:
    """Every agent's statistics now."""
    return cube(state.statistics, state.agents, state.arms, state.row_size)


@compiled
def own_pulls(state: Any) -> Floats:
    """Every agent's pulls now."""
    return table(state.pulls, state.agents, state.arms)
