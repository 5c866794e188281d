"""Tell: what honest agents report, and what receivers keep of it: the rules of engine/tell.py for statistics."""

from byzmab.core.compiler import compiled_borrowing_noinline, compiled_noinline
from byzmab.core.report import Floats, Words
from byzmab.core.tell import NO_GROWTH, is_due
from byzmab.engine.state import State, first_row
from byzmab.engine.tell import PER_EDGE, count_hearers, kept_row


@compiled_borrowing_noinline
def copy_if_new(state: State, row: Floats, told: Floats, versions: Words, arm: int) -> None:
    """Put a report on an arm in its place, as a new version where it is another one."""
    same = True
    for index in range(row.size):
        same &= row[index] == told[index]
        told[index] = row[index]
    if not same:
        state.changes += 1
        versions[arm] = state.changes


@compiled_noinline
def keep_statistics(state: State) -> None:
    """Copy this round's statistics to where they can be read while they are remembered or under way."""
    agents, arms = state.agents, state.arms
    own = state.statistics
    told = state.told_statistics
    versions = state.told_versions
    first = first_row(state, state.time)
    for agent in range(agents):
        for arm in range(arms):
            copy_if_new(state, own[agent, arm], told[first + agent, arm], versions[first + agent], arm)


@compiled_noinline
def take_statistics(state: State, row: int, report: Floats, hearers: int) -> None:
    """Keep what is due of a report, and count it as told to so many.

    Silence on an arm: by growth the receiver goes by what it was told before, and in a whole report the arm is silent.
    """
    arms = state.arms
    told, versions = (
        state.told_statistics,
        state.told_versions,
    )
    growth, count = state.growth, 0
    if growth == NO_GROWTH:
        due_times = state.due_times
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


def tell_statistics(state: State) -> None:
    """Let honest agents tell what is due; where reports are kept."""
    agents, first = state.agents, first_row(state, state.sent)
    sent = state.told_statistics
    if state.kept == PER_EDGE:
        starts, in_edges = state.in_edge_starts, state.in_edges
        for receiver in range(agents):
            for edge in range(starts[receiver], starts[receiver + 1]):
                sender = in_edges[edge]
                if sender >= state.byzantine:
                    take_statistics(state, kept_row(state, receiver, sender), sent[first + sender], 1)
        return
    if state.begun == 0:
        count_hearers(state)
    hearers = state.out_degrees
    for sender in range(state.byzantine, agents):
        take_statistics(state, kept_row(state, 0, sender), sent[first + sender], hearers[sender])
