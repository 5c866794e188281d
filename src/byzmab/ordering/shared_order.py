"""The honest agents' reports on an arm, ordered once for all who hear them.

On a complete graph everyone hears the same honest reports but its own, and on a nearly complete one all but a few.
By decreasing pulls, those that pass a receiver's step A, κ n_j ≥ n_i, are the first `n_consistent`. Receivers are
taken by growing n_consistent, so that reports are only ever admitted to the extremes (ordering/extremes.py), and what
lies between these is told by differences of running sums. A receiver costs its lies, the extremes and a binary
search: f + log N, however many it hears. For filters with a centre receivers are taken by decreasing pulls, and those
alike are told one by one what any of them may drop (ordering/droppable.py).
"""

import math
from typing import NamedTuple

from byzmab.core.compiler import compiled
from byzmab.core.report import NO_MIDDLE, Floats, Integers, Middle
from byzmab.core.sorting import precedes
from byzmab.ordering.droppable import (
    Droppable,
    Rule,
    clear_range,
    find_droppable,
    index_of,
    median_of,
    serves,
    sort_means,
    widen,
)
from byzmab.ordering.extremes import Extremes, admit, clear


class SharedOrder(NamedTuple):
    """The reports on the arm in hand, and how many of them each agent hears."""

    by_pulls: Integers  # arms × honest agents: the senders by decreasing pulls
    missing_starts: Integers  # agents + 1: where the list of each receiver begins
    missing: Integers  # the honest agents that a receiver does not hear, itself among them
    kept_pulls: Floats  # agents × arms: n as told where that is kept; no rows where reports are tallies
    kept_means: Floats  # agents × arms: x̄ of the same
    extremes: Extremes
    droppable: Droppable
    # of the arm in hand
    own_pulls: Floats  # agents: n
    own_means: Floats  # agents: x̄
    told_pulls: Floats  # agents: n as told
    told_means: Floats  # agents: x̄ as told
    pulls: Floats  # honest agents: n, decreasing
    means: Floats  # honest agents: x̄, in the same order
    means_before: Floats  # honest agents + 1: the sum of all means before a rank
    pulls_from: Floats  # honest agents + 1: the sum of all pulls from a rank on
    rewards_from: Floats  # honest agents + 1: the same of pulls × means
    senders: Integers  # honest agents: whose they are
    ranks: Integers  # agents: where each sender stands
    n_consistent: Integers  # agents: how many of the reports pass a receiver's step A
    n_at_least_own: Integers  # agents: how many of them have as many pulls as the receiver or more
    queue: Integers  # agents: the receivers by growing n_consistent, without step A by growing n_at_least_own
    starts: Integers  # honest agents + 2: where those of equal ones begin in the queue
    admitted: Integers  # 1: how many reports were admitted to the extremes
    # of the receiver in hand
    lie_pulls: Floats  # Byzantine agents: the lies that pass
    lie_means: Floats  # Byzantine agents
    absent: Integers  # agents: 1 for those that it does not hear


class Told(NamedTuple):
    """Honest reports that are told one by one, by mean, equal means by pulls."""

    pulls: Floats
    means: Floats
    senders: Integers


@compiled
def load_arm(shared: SharedOrder, pulls: Floats, means: Floats, arm: int) -> None:
    """Take the reports on an arm in hand, with their sums; the extremes are empty."""
    normal = shared.senders.size
    for agent in range(shared.queue.size):
        shared.own_pulls[agent], shared.own_means[agent] = pulls[agent, arm], means[agent, arm]
    for agent in range(shared.kept_pulls.shape[0]):
        shared.told_pulls[agent], shared.told_means[agent] = (
            shared.kept_pulls[agent, arm],
            shared.kept_means[agent, arm],
        )
    for rank in range(normal):
        sender = shared.by_pulls[arm, rank]
        shared.senders[rank], shared.ranks[sender] = sender, rank
        shared.pulls[rank], shared.means[rank] = shared.told_pulls[sender], shared.told_means[sender]
    shared.means_before[0], shared.pulls_from[normal], shared.rewards_from[normal] = 0.0, 0.0, 0.0
    for rank in range(normal):
        shared.means_before[rank + 1] = shared.means_before[rank] + shared.means[rank]
    for rank in range(normal - 1, -1, -1):  # from the fewest pulls on, so that small ones lose no digit to large ones
        shared.pulls_from[rank] = shared.pulls_from[rank + 1] + shared.pulls[rank]
        shared.rewards_from[rank] = shared.rewards_from[rank + 1] + shared.pulls[rank] * shared.means[rank]
    shared.admitted[0] = 0
    clear(shared.extremes)
    clear_range(shared.droppable)


@compiled
def passing(pulls: Floats, kappa: float, least: float) -> int:
    """How many of some decreasing counts have κ n_j ≥ the least that passes."""
    first, left = 0, pulls.size
    while left > 0:
        half = (left + 1) // 2
        first += half if kappa * pulls[first + half - 1] >= least else 0
        left -= half
    return first


@compiled
def queue_receivers(shared: SharedOrder, kappas: Floats, consistency: bool) -> None:
    """Find how many reports pass step A of every receiver, and how many have its pulls; queue the receivers by it."""
    normal, agents = shared.senders.size, shared.queue.size
    for consistent in range(normal + 2):
        shared.starts[consistent] = 0
    own, kappa, at_least, consistent = -1.0, 0.0, 0, normal
    for number in range(agents):
        # by decreasing pulls, so that most have as many as the one before; Byzantine agents come last
        receiver = shared.senders[number] if number < normal else number - normal
        if shared.own_pulls[receiver] != own or kappas[receiver] != kappa:
            own, kappa = shared.own_pulls[receiver], kappas[receiver]
            at_least = passing(shared.pulls, 1.0, own)
            if consistency:
                consistent = passing(shared.pulls, kappa, own)
        shared.n_consistent[receiver], shared.n_at_least_own[receiver] = consistent, at_least
        shared.starts[(consistent if consistency else at_least) + 1] += 1
    for number in range(normal):
        shared.starts[number + 1] += shared.starts[number]
    for receiver in range(agents):
        number = shared.n_consistent[receiver] if consistency else shared.n_at_least_own[receiver]
        shared.queue[shared.starts[number]] = receiver
        shared.starts[number] += 1


@compiled
def admit_first(shared: SharedOrder, admitted: int, consistent: int) -> int:
    """Admit the first `consistent` reports as far as they were not yet; return how many are admitted now."""
    extremes, half = shared.extremes, shared.extremes.senders.size // 2
    for rank in range(admitted, consistent):
        mean = shared.means[rank]
        if extremes.size[0] < extremes.senders.size or mean <= extremes.means[half - 1] or mean >= extremes.means[half]:
            admit(extremes, shared.senders[rank], shared.pulls[rank], mean)
    return max(admitted, consistent)


@compiled
def mark_missing(shared: SharedOrder, receiver: int, mark: int) -> None:
    """Mark those that a receiver does not hear, or take the marks away."""
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        shared.absent[shared.missing[item]] = mark


@compiled
def middle_without(shared: SharedOrder, receiver: int, consistent: int, told: Told, centre: float) -> Middle:
    """The first `consistent` reports together, less those told one by one; those missing are still in it.

    What is taken away is honest, and so costs no digit; a lie is never among it.
    """
    own, at_least = shared.own_pulls[receiver], shared.n_at_least_own[receiver]
    total, above = shared.means_before[consistent], at_least
    weight = at_least * own + shared.pulls_from[at_least] - shared.pulls_from[consistent]
    rewards = shared.means_before[at_least] * own + shared.rewards_from[at_least] - shared.rewards_from[consistent]
    for index in range(told.pulls.size):
        mean, worth = told.means[index], min(told.pulls[index], own)
        total, weight, rewards = total - mean, weight - worth, rewards - worth * mean
        above -= told.pulls[index] >= own
    return Middle(consistent - told.pulls.size, total, weight, rewards, above, centre)


@compiled
def without_report(middle: Middle, own: float, count: float, mean: float) -> Middle:
    """The middle less one honest report."""
    worth = min(count, own)
    return Middle(
        middle.size - 1,
        middle.means - mean,
        middle.pulls - worth,
        middle.rewards - worth * mean,
        middle.at_least_own - (count >= own),
        middle.centre,
    )


@compiled
def merge_lies(shared: SharedOrder, receiver: int, lies: int, told: Told, pulls: Floats, means: Floats) -> int:
    """Merge sorted reports, as far as a receiver hears them, with its sorted lies; return how many there are."""
    count, lie = 0, 0
    mark_missing(shared, receiver, 1)
    for item in range(told.pulls.size):
        if shared.absent[told.senders[item]] == 1:
            continue
        mean, claimed = told.means[item], told.pulls[item]
        while lie < lies and precedes(shared.lie_means[lie], shared.lie_pulls[lie], mean, claimed):
            pulls[count], means[count] = shared.lie_pulls[lie], shared.lie_means[lie]
            count, lie = count + 1, lie + 1
        pulls[count], means[count] = claimed, mean
        count += 1
    mark_missing(shared, receiver, 0)
    for left in range(lie, lies):
        pulls[count], means[count] = shared.lie_pulls[left], shared.lie_means[left]
        count += 1
    return count


@compiled
def merge_extremes(
    shared: SharedOrder, receiver: int, lies: int, rule: Rule, pulls: Floats, means: Floats
) -> tuple[int, Middle]:
    """Merge the extremes that a receiver hears with its sorted lies; return how many there are, and the middle.

    The middle is all that is consistent, less the extremes and those missing.
    """
    extremes, own, consistent = shared.extremes, shared.own_pulls[receiver], shared.n_consistent[receiver]
    shared.admitted[0] = admit_first(shared, shared.admitted[0], consistent)
    size = extremes.size[0]
    told = Told(extremes.pulls[:size], extremes.means[:size], extremes.senders[:size])
    middle = middle_without(shared, receiver, consistent, told, math.nan)
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        rank = shared.ranks[shared.missing[item]]
        if rank < consistent and extremes.held[shared.missing[item]] == 0:
            middle = without_report(middle, own, shared.pulls[rank], shared.means[rank])
    return merge_lies(shared, receiver, lies, told, pulls, means), middle if middle.size > 0 else NO_MIDDLE


@compiled
def centre_of(shared: SharedOrder, receiver: int, lies: int) -> float:
    """The median of a receiver's own mean, the honest means that it hears, and its sorted lies."""
    droppable, own_mean = shared.droppable, shared.own_means[receiver]
    lie, gap = lies, 0
    while lie > 0 and shared.lie_means[lie - 1] > own_mean:
        droppable.extras[lie] = shared.lie_means[lie - 1]
        lie -= 1
    droppable.extras[lie] = own_mean
    for before in range(lie):
        droppable.extras[before] = shared.lie_means[before]
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        index, hole = index_of(shared.told_means[shared.missing[item]], droppable.sorted_means), gap
        while hole > 0 and droppable.gaps[hole - 1] > index:
            droppable.gaps[hole] = droppable.gaps[hole - 1]
            hole -= 1
        droppable.gaps[hole] = index
        gap += 1
    return median_of(droppable.sorted_means, droppable.gaps[:gap], droppable.extras[: lies + 1])


@compiled
def merge_droppable(
    shared: SharedOrder, receiver: int, lies: int, rule: Rule, pulls: Floats, means: Floats
) -> tuple[int, Middle]:
    """Merge what a receiver hears and may drop with its sorted lies; return how many, and all others together."""
    droppable, own, normal = shared.droppable, shared.own_pulls[receiver], shared.senders.size
    if shared.admitted[0] == 0:  # the first receiver of the arm
        shared.admitted[0] = normal
        sort_means(droppable, shared.means)
    centre = centre_of(shared, receiver, lies)
    if not serves(droppable, own, centre):
        widen(droppable, own, centre)
        find_droppable(droppable, shared.pulls, shared.means, shared.senders, rule)
    size = droppable.size[0]
    told = Told(droppable.pulls[:size], droppable.means[:size], droppable.senders[:size])
    middle = middle_without(shared, receiver, normal, told, centre)
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        rank = shared.ranks[shared.missing[item]]
        if droppable.is_told[rank] == 0:
            middle = without_report(middle, own, shared.pulls[rank], shared.means[rank])
    nobody = Middle(0, 0.0, 0.0, 0.0, 0, centre)
    return merge_lies(shared, receiver, lies, told, pulls, means), middle if middle.size > 0 else nobody


@compiled
def mean_from_end(shared: SharedOrder, receiver: int, rank: int, low: bool) -> float:
    """The honest mean at a rank, from 0, counted from the low or the high end of what a receiver hears.

    The last one where there are not so many, and NaN where there is none.
    """
    extremes, found = shared.extremes, math.nan
    mark_missing(shared, receiver, 1)
    for step in range(extremes.size[0]):
        end = step if low else extremes.size[0] - 1 - step
        if shared.absent[extremes.senders[end]] == 0:
            found = extremes.means[end]
            rank -= 1
            if rank < 0:
                break
    mark_missing(shared, receiver, 0)
    return found
