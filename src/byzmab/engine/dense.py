"""Believe where nearly everyone hears everyone: arm by arm, with reports ordered once for all of them."""

from typing import Any

import numpy as np

from byzmab.core.believe import ALL_ARMS
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.droppable import Droppable, Rule
from byzmab.core.extremes import Extremes
from byzmab.core.filters.base import EVERY_ROUND
from byzmab.core.filters.trimmed import believe_dense  # `specialize` puts the filter's own in its place
from byzmab.core.report import LEAST_PULLS, Floats, Heard, Integers, Words
from byzmab.core.shared_order import SharedOrder, load_arm, merge_extremes, queue_receivers
from byzmab.core.sorting import sort_reports
from byzmab.engine.audit import expelled_by
from byzmab.engine.state import BAD_BELIEF, floats, integer_table, integers, table, words
from byzmab.engine.tell import NOT_KEPT
from byzmab.engine.tell import tell_tallies as tell  # `specialize` puts that of reports that are kept in its place

FLOAT_ROWS, INTEGER_ROWS = 21, 13  # of the two tables in which a SharedOrder is kept
SPARE = 4  # columns beyond one for each agent


@compiled
def kept_reports(state: Any) -> tuple[Floats, Floats]:
    """What every agent told all who hear it, agents × arms; no rows where reports are tallies."""
    agents, rows = state.agents, state.agents + state.lie_capacity
    first, end = (0, 0) if state.kept == NOT_KEPT else (agents, 2 * agents)
    pulls, means = table(state.told_pulls, rows, state.arms), table(state.told_means, rows, state.arms)
    return pulls[first:end], means[first:end]


@compiled
def shared_order_of(state: Any) -> SharedOrder:
    """The shared order of a state, in views of its two tables."""
    agents, normal = state.agents, state.agents - state.byzantine
    # f on either side when those missing are left out, and one more for attacks that stay just inside
    kept = min(2 * (max(state.f, 1) + 1 + state.most_missing), normal)
    reals = table(state.order_floats, FLOAT_ROWS, agents + SPARE)
    wholes = integer_table(state.order_integers, INTEGER_ROWS, agents + SPARE)
    kept_pulls, kept_means = kept_reports(state)
    told = 2 if state.kept == NOT_KEPT else 19  # tallies themselves, or what was kept of them
    return SharedOrder(
        integer_table(state.by_pulls, state.arms, normal),
        integers(state.missing_starts, agents + 1),
        integers(state.missing, state.edge_capacity),
        kept_pulls,
        kept_means,
        Extremes(reals[0, :kept], reals[1, :kept], wholes[0, :kept], wholes[1, :1], wholes[2, :agents]),
        Droppable(
            reals[11, :normal],
            reals[12, :normal],
            wholes[10, :normal],
            wholes[1, 1:2],
            wholes[11, :normal],
            reals[13, :SPARE],
            reals[14, :normal],
            reals[18, :normal],
            reals[15, : agents + 1],
            wholes[12, :agents],
            reals[16, :normal],
            reals[17, :normal],
        ),
        reals[2, :agents],
        reals[3, :agents],
        reals[told, :agents],
        reals[told + 1, :agents],
        reals[4, :normal],
        reals[5, :normal],
        reals[6, : normal + 1],
        reals[7, : normal + 1],
        reals[8, : normal + 1],
        wholes[3, :normal],
        wholes[4, :agents],
        wholes[5, :agents],
        wholes[6, :agents],
        wholes[7, :agents],
        wholes[8, : normal + 2],
        wholes[1, 2:3],
        reals[9, : agents - normal],
        reals[10, : agents - normal],
        wholes[9, :agents],
    )


@compiled_noinline
def list_missing(state: Any, receiver: int, heard: Integers, count: int) -> int:
    """List the normal agents that a receiver does not hear, itself included; return how many of its edges to keep."""
    starts = integers(state.missing_starts, state.agents + 1)
    missing = integers(state.missing, state.edge_capacity)
    liars = 0
    while liars < count and heard[liars] < state.byzantine:
        liars += 1
    end, edge = starts[receiver], liars
    for other in range(state.byzantine, state.agents):
        if edge < count and heard[edge] == other:
            edge += 1
        else:
            missing[end] = other
            end += 1
    starts[receiver + 1] = end
    state.most_missing = max(state.most_missing, end - starts[receiver])
    return count if state.lists_edges == 1 else liars


@compiled
def is_told(dirty: np.uint64, arm: int) -> bool:
    """Whether the bit of an arm is set."""
    return bool((dirty >> np.uint64(arm & 63)) & np.uint64(1))


@compiled
def sort_by_pulls(agents: Integers, pulls: Floats, arm: int) -> None:
    """Put agents in the order of decreasing pulls of an arm."""
    names, counts = np.empty(agents.size), np.empty(agents.size)
    for index in range(agents.size):
        names[index], counts[index] = agents[index], -pulls[agents[index], arm]
    sort_reports(names, counts)
    for index in range(agents.size):
        agents[index] = int(names[index])


@compiled_noinline
def order_reports(state: Any) -> None:
    """Keep the normal agents of every arm by decreasing pulls.

    Only those who pulled an arm have moved, and all as far, so that they are in order among themselves like the
    others: what is left to do is to merge two ordered lists. Where reports are kept those moved who told the arm,
    and they are put in order first.
    """
    agents, arms, normal = state.agents, state.arms, state.agents - state.byzantine
    kept = state.kept != NOT_KEPT
    rows = agents if kept else 0  # before those of the reports
    pulls = table(state.told_pulls, rows + agents, arms)[rows:]
    dirty, last = words(state.dirty, rows + agents), integers(state.last, agents)
    order = integer_table(state.by_pulls, arms, normal)
    moved, stayed = np.empty(normal, np.int64), np.empty(normal, np.int64)
    for arm in range(arms):
        risen, still = 0, 0
        for agent in order[arm]:
            if is_told(dirty[agents + agent], arm) if kept else last[agent] == arm:
                moved[risen] = agent
                risen += 1
            else:
                stayed[still] = agent
                still += 1
        if kept:
            sort_by_pulls(moved[:risen], pulls, arm)
        up, down = 0, 0
        for rank in range(normal if risen > 0 else 0):
            if down == still or (up < risen and pulls[moved[up], arm] >= pulls[stayed[down], arm]):
                order[arm, rank] = moved[up]
                up += 1
            else:
                order[arm, rank] = stayed[down]
                down += 1


def tell_and_order(state: Any) -> None:
    """Let normal agents tell what is due, and keep them in order."""
    tell(state)
    order_reports(state)


@compiled
def union(dirty: Words) -> np.uint64:
    """A word with the bits of all arms on which some report changed."""
    bits = np.uint64(0)
    for word in dirty:
        bits |= word
    return bits


@compiled
def take_lies(
    shared: SharedOrder,
    told_pulls: Floats,
    told_means: Floats,
    rows: Integers,
    senders: Integers,
    arm: int,
    kappa: float,
    least: float,
) -> tuple[int, int]:
    """Take the lies on an arm that pass, sorted, from a receiver's inbox; return how many, and how many are silent."""
    byzantine, lies, silent = shared.queue.size - shared.senders.size, 0, 0
    for entry in range(rows.size):
        if senders[entry] >= byzantine:
            break  # an honest report; liars come first
        row = rows[entry]
        shared.lie_pulls[lies], shared.lie_means[lies] = told_pulls[row, arm], told_means[row, arm]
        lies += kappa * told_pulls[row, arm] >= least
        silent += told_pulls[row, arm] <= 0.0
    sort_reports(shared.lie_pulls[:lies], shared.lie_means[:lies])
    return lies, silent


@compiled
def drops_extremes(params: Floats, time: int) -> tuple[float, bool]:
    """Nothing but extreme means, which the shared order knows already."""
    return np.inf, False


merge, drops = merge_extremes, drops_extremes  # `specialize` puts others in their place for filters with a centre


def believe_all_dense(state: Any) -> None:
    """Let every agent believe anew of every arm on which some report changed."""
    agents, arms, rows = state.agents, state.arms, state.agents + state.lie_capacity
    own_pulls = table(state.pulls, agents, arms)
    own_means = table(state.means, agents, arms)
    told_pulls = table(state.told_pulls, rows, arms)
    told_means = table(state.told_means, rows, arms)
    starts = integers(state.inbox_starts, agents + 1)
    inbox_rows = integers(state.inbox_rows, state.inbox_capacity)
    inbox_senders = integers(state.inbox_senders, state.inbox_capacity)
    kappas = floats(state.kappas, agents)
    params = floats(state.filter_params, state.filter_params_size)
    pulls = floats(state.work_pulls, state.max_inbox)
    means = floats(state.work_means, state.max_inbox)
    estimates = table(state.estimates, agents, arms)
    weights = table(state.weights, agents, arms)
    doubts = table(state.doubts, agents, arms)
    shared = shared_order_of(state)
    consistency = state.consistency == 1
    follow = state.stable_inbox == 1 and state.depends_on != EVERY_ROUND
    rule = Rule(min(state.f + state.most_missing, agents), *drops(params, state.time))
    dirty = union(words(state.dirty, rows)) if follow else ALL_ARMS
    for arm in range(arms):
        if not (dirty >> np.uint64(arm & 63)) & np.uint64(1):
            continue
        load_arm(shared, own_pulls, own_means, arm)
        queue_receivers(shared, kappas, consistency)
        for agent in shared.queue:
            own, kappa = shared.own_pulls[agent], kappas[agent]
            factor, least = (kappa, own) if consistency else (1.0, LEAST_PULLS)
            first, end = starts[agent], starts[agent + 1]
            lies, silent = take_lies(
                shared, told_pulls, told_means, inbox_rows[first:end], inbox_senders[first:end], arm, factor, least
            )
            count, middle = merge(shared, agent, lies, rule, pulls, means)
            own_mean = shared.own_means[agent]
            expelled = expelled_by(state, agent)
            f, silent = max(0, state.f - expelled), state.expects * (silent - expelled)
            heard = Heard(pulls[:count], means[:count], own, own_mean, f, kappa, state.time, silent, params)
            estimates[agent, arm], weights[agent, arm], doubts[agent, arm] = believe_dense(heard, middle)
            if not (weights[agent, arm] > 0.0 and estimates[agent, arm] + doubts[agent, arm] < np.inf):
                state.fault = BAD_BELIEF
