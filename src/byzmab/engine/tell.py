"""Tell: what honest agents report, and what receivers keep of it, where not everything is told in every round.

A report is told whole every k rounds, or on an arm as soon as its count has grown by a share δ since the receiver was
last told. In between the receiver goes by what it was told: an edge over which nothing comes says that nothing is
due. Receivers hold everyone to this rule, so that a lie, too, is taken only where it is due. Where everything is told
in every round (`tell every`) nothing is kept, and reports are tallies.
"""

import math

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats
from byzmab.core.tell import NO_GROWTH, is_due
from byzmab.engine.dirty import ALL_BITS, NO_BITS, fill, mark
from byzmab.engine.state import State, first_row

# Where what was told is kept. All who always hear an agent were told the same, so that one row is enough for them.
NOT_KEPT, PER_SENDER, PER_EDGE = range(3)


@compiled
def kept_row(state: State, receiver: int, sender: int) -> int:
    """The row in which what an honest agent told a receiver is kept."""
    first = state.history * state.agents
    return int(first + sender if state.kept == PER_SENDER else first + receiver * state.agents + sender)


@compiled
def first_lie_row(state: State) -> int:
    """The first row of lies; per edge these stand among the others."""
    return int(state.history * state.agents + (state.agents if state.kept == PER_SENDER else 0))


@compiled
def tallies_sent(state: State) -> tuple[Floats, Floats]:
    """Every agent's pulls and means at the time of sending."""
    first = first_row(state, state.sent)
    pulls, means = state.told_pulls, state.told_means
    return pulls[first : first + state.agents], means[first : first + state.agents]


@compiled
def take(state: State, row: int, pulls: Floats, means: Floats, first: int, end: int, hearers: int) -> None:
    """Keep what is due of a report, mark it dirty, and count it as told to so many; only arms first..end-1 can be due.

    A count that is not positive, like a mean that is no finite number, is silence: by growth the receiver goes by what
    it was told before, and in a whole report the arm is silent.
    """
    told_pulls = state.told_pulls[row]
    told_means = state.told_means[row]
    growth = state.growth
    dirty, arms = state.dirty[row], 0
    fill(dirty, NO_BITS)
    if growth == NO_GROWTH:
        due_times = state.due_times
        if state.sent >= due_times[row]:
            due_times[row] = state.sent + state.tell_rounds
            fill(dirty, ALL_BITS)
            arms = pulls.size
            for arm in range(arms):
                speaks = pulls[arm] > 0.0 and -math.inf < means[arm] < math.inf
                told_pulls[arm], told_means[arm] = (pulls[arm], means[arm]) if speaks else (0.0, 0.0)
    else:
        for arm in range(first, end):
            if is_due(pulls[arm], told_pulls[arm], growth) and -math.inf < means[arm] < math.inf:
                told_pulls[arm], told_means[arm] = pulls[arm], means[arm]
                mark(dirty, arm)
                arms += 1
    state.told_now += arms
    state.messages += hearers if arms > 0 else 0
    state.arms_told += hearers * arms


@compiled_noinline
def count_hearers(state: State) -> None:
    """Count by how many every agent is heard; the graph is always the same."""
    agents = state.agents
    out_degrees = state.out_degrees
    in_edges, end = state.in_edges, state.in_edge_starts[agents]
    for edge in range(end):
        if state.dense == 0 or in_edges[edge] < state.byzantine:
            out_degrees[in_edges[edge]] += 1
    if state.dense == 1:  # of honest agents those who do not hear them are listed
        missing = state.missing
        for sender in range(state.byzantine, agents):
            out_degrees[sender] = agents
        for item in range(state.missing_starts[agents]):
            out_degrees[missing[item]] -= 1


@compiled_noinline
def tell_everyone(state: State) -> None:
    """Let every honest agent tell all who hear it, and who were told the same before, what is due of its tally."""
    agents, arms, kept = state.agents, state.arms, kept_row(state, 0, 0)
    pulls, means = tallies_sent(state)
    told_pulls = state.told_pulls
    dirty, last = state.dirty, state.last
    hearers, growth = state.out_degrees, state.growth
    first = first_row(state, state.sent)
    # told as soon as it is due, only the arm pulled last can have become so
    one_arm = growth != NO_GROWTH and state.stable_inbox == 1
    for sender in range(state.byzantine, agents):
        arm, row = last[first + sender], kept + sender
        fill(dirty[row], NO_BITS)
        if not one_arm or arm < 0:
            take(state, row, pulls[sender], means[sender], 0, arms, hearers[sender])
        elif is_due(pulls[sender, arm], told_pulls[row, arm], growth):
            take(state, row, pulls[sender], means[sender], arm, arm + 1, hearers[sender])


@compiled_noinline
def tell_each(state: State) -> None:
    """Let every honest agent tell each agent that hears it in this round what is due to that one."""
    starts = state.in_edge_starts
    in_edges = state.in_edges
    pulls, means = tallies_sent(state)
    for receiver in range(state.agents):
        for edge in range(starts[receiver], starts[receiver + 1]):
            sender = in_edges[edge]
            if sender >= state.byzantine:
                take(state, kept_row(state, receiver, sender), pulls[sender], means[sender], 0, state.arms, 1)


def tell_tallies(state: State) -> None:
    """Count what honest agents tell where nothing is kept: in every round their tallies, which need no telling."""
    state.messages += state.edges
    state.arms_told += state.edges * state.arms


def tell_all(state: State) -> None:
    """Let honest agents tell what is due; where reports are kept."""
    state.told_now = 0
    if state.kept == PER_EDGE:
        tell_each(state)
        return
    if state.begun == 0:
        count_hearers(state)
    tell_everyone(state)
