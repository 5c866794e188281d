"""The normal agents' reports on an arm, ordered once for all who hear them.

On a complete graph everyone hears the same honest reports but its own, and on a nearly complete one all but a few.
By decreasing pulls, those that pass a receiver's step A, κ n_j ≥ n_i, are the first `n_consistent`. Receivers are
taken by growing n_consistent, so that reports are only ever admitted to the extremes (core/extremes.py), and what
lies between these is told by differences of running sums. A receiver costs its lies, the extremes and a binary
search: f + log N, however many it hears.
"""

import math
from typing import NamedTuple

from byzmab.core.compiler import compiled
from byzmab.core.extremes import Extremes, admit, clear, comes_first
from byzmab.core.report import NO_MIDDLE, Floats, Integers, Middle


class SharedOrder(NamedTuple):
    """The reports on the arm in hand, and who hears how many of them."""

    by_pulls: Integers  # arms × normal agents: the senders by decreasing pulls
    missing_starts: Integers  # agents + 1: where the list of each receiver begins
    missing: Integers  # the normal agents whom a receiver does not hear, itself among them
    extremes: Extremes
    # of the arm in hand
    own_pulls: Floats  # agents: n
    own_means: Floats  # agents: x̄
    pulls: Floats  # normal agents: n, decreasing
    means: Floats  # normal agents: x̄, in the same order
    means_before: Floats  # normal agents + 1: the sum of all means before a rank
    pulls_from: Floats  # normal agents + 1: the sum of all pulls from a rank on
    rewards_from: Floats  # normal agents + 1: the same of pulls × means
    senders: Integers  # normal agents: whose they are
    ranks: Integers  # agents: where each sender stands
    n_consistent: Integers  # agents: how many of the reports pass a receiver's step A
    n_at_least_own: Integers  # agents: how many of them have as many pulls as the receiver or more
    queue: Integers  # agents: the receivers by growing n_consistent
    starts: Integers  # normal agents + 2: where those of equal n_consistent begin in the queue
    # of the receiver in hand
    lie_pulls: Floats  # liars: the lies that pass
    lie_means: Floats  # liars
    absent: Integers  # agents: 1 for those whom it does not hear


@compiled
def load_arm(shared: SharedOrder, pulls: Floats, means: Floats, arm: int) -> None:
    """Take the reports on an arm in hand, with their sums; the extremes are empty."""
    normal = shared.senders.size
    for agent in range(shared.queue.size):
        shared.own_pulls[agent], shared.own_means[agent] = pulls[agent, arm], means[agent, arm]
    for rank in range(normal):
        sender = shared.by_pulls[arm, rank]
        shared.senders[rank], shared.ranks[sender] = sender, rank
        shared.pulls[rank], shared.means[rank] = shared.own_pulls[sender], shared.own_means[sender]
    shared.means_before[0], shared.pulls_from[normal], shared.rewards_from[normal] = 0.0, 0.0, 0.0
    for rank in range(normal):
        shared.means_before[rank + 1] = shared.means_before[rank] + shared.means[rank]
    for rank in range(normal - 1, -1, -1):  # from the fewest pulls on, so that small ones lose no digit to large ones
        shared.pulls_from[rank] = shared.pulls_from[rank + 1] + shared.pulls[rank]
        shared.rewards_from[rank] = shared.rewards_from[rank + 1] + shared.pulls[rank] * shared.means[rank]
    clear(shared.extremes)


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
    """Find how many reports pass step A of every receiver, and queue the receivers by it."""
    normal, agents = shared.senders.size, shared.queue.size
    for consistent in range(normal + 2):
        shared.starts[consistent] = 0
    own, kappa, at_least, consistent = -1.0, 0.0, 0, normal
    for number in range(agents):
        # by decreasing pulls, so that most have as many as the one before; liars come last
        receiver = shared.senders[number] if number < normal else number - normal
        if shared.own_pulls[receiver] != own or kappas[receiver] != kappa:
            own, kappa = shared.own_pulls[receiver], kappas[receiver]
            at_least = passing(shared.pulls, 1.0, own)
            if consistency:
                consistent = passing(shared.pulls, kappa, own)
        shared.n_consistent[receiver], shared.n_at_least_own[receiver] = consistent, at_least
        shared.starts[consistent + 1] += 1
    for consistent in range(normal):
        shared.starts[consistent + 1] += shared.starts[consistent]
    for receiver in range(agents):
        consistent = shared.n_consistent[receiver]
        shared.queue[shared.starts[consistent]] = receiver
        shared.starts[consistent] += 1


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
    """Mark those whom a receiver does not hear, or take the marks away."""
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        shared.absent[shared.missing[item]] = mark


@compiled
def merge_heard(shared: SharedOrder, receiver: int, lies: int, pulls: Floats, means: Floats) -> tuple[int, Middle]:
    """Merge the extremes that a receiver hears with its sorted lies; return how many there are, and the middle.

    The middle is all that is consistent, less the extremes and those missing. What is taken away is honest, and so
    costs no digit; a lie is never among it.
    """
    extremes, own = shared.extremes, shared.own_pulls[receiver]
    consistent, at_least = shared.n_consistent[receiver], shared.n_at_least_own[receiver]
    size = consistent - extremes.size[0]
    total = shared.means_before[consistent]
    weight = at_least * own + shared.pulls_from[at_least] - shared.pulls_from[consistent]
    rewards = shared.means_before[at_least] * own + shared.rewards_from[at_least] - shared.rewards_from[consistent]
    count, lie = 0, 0
    mark_missing(shared, receiver, 1)
    for rank in range(extremes.size[0]):
        mean, claimed = extremes.means[rank], extremes.pulls[rank]
        worth = min(claimed, own)
        total, weight, rewards = total - mean, weight - worth, rewards - worth * mean
        if shared.absent[extremes.senders[rank]] == 1:
            continue
        while lie < lies and comes_first(shared.lie_means[lie], shared.lie_pulls[lie], mean, claimed):
            pulls[count], means[count] = shared.lie_pulls[lie], shared.lie_means[lie]
            count, lie = count + 1, lie + 1
        pulls[count], means[count] = claimed, mean
        count += 1
    mark_missing(shared, receiver, 0)
    for left in range(lie, lies):
        pulls[count], means[count] = shared.lie_pulls[left], shared.lie_means[left]
        count += 1
    for item in range(shared.missing_starts[receiver], shared.missing_starts[receiver + 1]):
        rank = shared.ranks[shared.missing[item]]
        if rank < consistent and extremes.held[shared.missing[item]] == 0:
            mean, worth = shared.means[rank], min(shared.pulls[rank], own)
            size, total, weight, rewards = size - 1, total - mean, weight - worth, rewards - worth * mean
    return count, Middle(size, total, weight, rewards) if size > 0 else NO_MIDDLE


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
