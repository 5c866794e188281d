"""Believe where nearly everyone hears everyone: arm by arm, with reports ordered once for all of them."""

import numpy as np

from byzmab.core.believe import is_sound
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.differences import is_due, limit_others, measure_difference
from byzmab.core.filters.base import EVERY_ROUND
from byzmab.core.filters.trimmed import believe_dense  # `specialize` puts the filter's own in its place
from byzmab.core.report import LEAST_PULLS, Belief, Floats, Heard, Integers, Words
from byzmab.core.sorting import sort_reports
from byzmab.engine.audit import expelled_by
from byzmab.engine.dirty import ALL_BITS, NO_BITS, WORD, bit_of, is_marked, span_of
from byzmab.engine.state import BAD_BELIEF, State
from byzmab.engine.tell import NOT_KEPT
from byzmab.engine.tell import tell_tallies as tell  # `specialize` puts that of reports that are kept in its place
from byzmab.ordering.droppable import Droppable, Rule
from byzmab.ordering.extremes import Extremes
from byzmab.ordering.shared_order import SharedOrder, load_arm, merge_extremes, queue_receivers


@compiled
def kept_reports(state: State) -> tuple[Floats, Floats]:
    """What every agent told all who hear it, agents × arms; no rows where reports are tallies."""
    agents = state.agents
    first, end = (0, 0) if state.kept == NOT_KEPT else (agents, 2 * agents)
    pulls, means = state.told_pulls, state.told_means
    return pulls[first:end], means[first:end]


@compiled
def shared_order_of(state: State) -> SharedOrder:
    """Return the shared order of a state."""
    # f on either side when those missing are left out, and one more for attacks that stay just inside
    kept = min(2 * (max(state.f, 1) + 1 + state.most_missing), state.honest)
    kept_pulls, kept_means = kept_reports(state)
    return SharedOrder(
        state.by_pulls,
        state.missing_starts,
        state.missing,
        kept_pulls,
        kept_means,
        Extremes(
            state.extreme_pulls[:kept],
            state.extreme_means[:kept],
            state.extreme_senders[:kept],
            state.extreme_count,
            state.extreme_held,
        ),
        Droppable(
            state.droppable_pulls,
            state.droppable_means,
            state.droppable_senders,
            state.droppable_count,
            state.droppable_ranks,
            state.droppable_served,
            state.sorted_means,
            state.ranks_by_mean,
            state.extra_means,
            state.gap_ranks,
            state.highest_influences,
            state.lowest_influences,
        ),
        state.arm_own_pulls,
        state.arm_own_means,
        state.arm_told_pulls,
        state.arm_told_means,
        state.ranked_pulls,
        state.ranked_means,
        state.means_before,
        state.pulls_from,
        state.rewards_from,
        state.ranked_senders,
        state.sender_ranks,
        state.n_consistent,
        state.n_at_least_own,
        state.receiver_queue,
        state.queue_starts,
        state.admitted,
        state.passing_lie_pulls,
        state.passing_lie_means,
        state.absent,
    )


@compiled_noinline
def list_missing(state: State, receiver: int, heard: Integers, count: int) -> int:
    """List the honest agents that a receiver does not hear, itself included; return how many of its edges to keep."""
    starts = state.missing_starts
    missing = state.missing
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
def sort_by_pulls(agents: Integers, pulls: Floats, arm: int) -> None:
    """Put agents in the order of decreasing pulls of an arm."""
    names, counts = np.empty(agents.size), np.empty(agents.size)
    for index in range(agents.size):
        names[index], counts[index] = agents[index], -pulls[agents[index], arm]
    sort_reports(names, counts)
    for index in range(agents.size):
        agents[index] = int(names[index])


@compiled_noinline
def order_reports(state: State) -> None:
    """Keep the honest agents of every arm by decreasing pulls.

    Only those who pulled an arm have moved, and all as far, so that they are in order among themselves like the
    others: what is left to do is to merge two ordered lists. Where reports are kept those moved who told the arm,
    and they are put in order first.
    """
    agents, arms, normal = state.agents, state.arms, state.agents - state.byzantine
    kept = state.kept != NOT_KEPT
    rows = agents if kept else 0  # before those of the reports
    pulls = state.told_pulls[rows:]
    dirty, last = state.dirty, state.last
    order = state.by_pulls
    moved, stayed = np.empty(normal, np.int64), np.empty(normal, np.int64)
    for arm in range(arms):
        risen, still = 0, 0
        for agent in order[arm]:
            if is_marked(dirty[agents + agent], arm) if kept else last[agent] == arm:
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


def tell_and_order(state: State) -> None:
    """Let honest agents tell what is due, and keep them in order."""
    tell(state)
    order_reports(state)


@compiled
def union(dirty: Words, word: int) -> np.uint64:
    """Return a word with the bits of those of its arms on which some report changed."""
    bits = NO_BITS
    for row in range(dirty.shape[0]):
        bits |= dirty[row, word]
    return np.uint64(bits)


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
            break  # an honest report; Byzantine agents come first
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


@compiled
def limit_all(state: State, follow: bool, due: bool) -> None:
    """Let every agent limit what others are worth to it, by how much it differs from them; on dirty arms if asked."""
    pulls, means, differences = state.pulls, state.means, state.differences
    estimates, weights, doubts = state.estimates, state.weights, state.doubts
    for agent in range(state.agents):
        belief = Belief(estimates[agent], weights[agent], doubts[agent], means[agent], pulls[agent])
        if due:
            differences[agent] = measure_difference(pulls[agent], means[agent], belief)
        for word in range(state.dirty_words):
            dirty = union(state.dirty, word) if follow else ALL_BITS
            limit_others(pulls[agent], means[agent], dirty, span_of(word, state.arms), differences[agent], belief)


def believe_all_dense(state: State) -> None:
    """Let every agent believe anew of every arm on which some report changed."""
    agents, arms = state.agents, state.arms
    own_pulls = state.pulls
    own_means = state.means
    told_pulls = state.told_pulls
    told_means = state.told_means
    starts = state.inbox_starts
    inbox_rows = state.inbox_rows
    inbox_senders = state.inbox_senders
    kappas = state.kappas
    params = state.filter_params
    pulls = state.work_pulls
    means = state.work_means
    estimates = state.estimates
    weights = state.weights
    doubts = state.doubts
    shared = shared_order_of(state)
    consistency = state.consistency == 1
    follow = state.stable_inbox == 1 and state.depends_on != EVERY_ROUND
    rule = Rule(min(state.f + state.most_missing, agents), *drops(params, state.time))
    due = is_due(state.agent_spread, state.time, state.epoch)
    follow &= not due
    dirty = ALL_BITS
    for arm in range(arms):
        if follow and arm % WORD == 0:
            dirty = union(state.dirty, arm // WORD)
        if not dirty & bit_of(arm):
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
            heard = Heard(pulls[:count], means[:count], own, own_mean, f, kappa, state.time, silent, params, None)
            estimates[agent, arm], weights[agent, arm], doubts[agent, arm] = believe_dense(heard, middle)
            if not is_sound(estimates[agent, arm], weights[agent, arm], doubts[agent, arm]):
                state.fault = BAD_BELIEF
    if state.agent_spread != 0.0:
        limit_all(state, follow, due)
