"""The crowd: the normal agents' reports on an arm, ordered once for all who hear them.

On a complete graph everyone hears the same honest reports but its own, and on a nearly complete one all but a few.
By decreasing pulls, those that pass a receiver's step A, κ n_j ≥ n_i, are the first ones: its *reach*. Receivers are
taken by growing reach, so that reports are only ever admitted to the ends (core/ends.py), and what lies between the
ends is told by differences of running sums. A receiver costs its lies, the ends and a binary search: f + log N,
however many it hears.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.board import integer_table, integers, table
from byzmab.core.compiler import compiled, compiled_apart
from byzmab.core.ends import NO_MIDDLE, Ends, Middle, admit, clear, comes_first
from byzmab.core.report import Floats, Integers


class Crowd(NamedTuple):
    """The reports on the arm in hand, and who hears how many of them."""

    order: Integers  # arms × normal agents: the senders by decreasing pulls
    unheard_starts: Integers  # agents + 1: where the list of each receiver begins
    unheard: Integers  # the normal agents whom a receiver does not hear, itself among them
    ends: Ends
    # of the arm in hand
    own_pulls: Floats  # agents: n
    own_means: Floats  # agents: x̄
    pulls: Floats  # normal agents: n, decreasing
    means: Floats  # normal agents: x̄, in the same order
    means_before: Floats  # normal agents + 1: the sum of all means before a place
    pulls_from: Floats  # normal agents + 1: the sum of all pulls from a place on
    rewards_from: Floats  # normal agents + 1: the same of pulls × means
    senders: Integers  # normal agents: whose they are
    places: Integers  # agents: where each sender stands
    reaches: Integers  # agents: how many of the reports pass a receiver's step A
    levels: Integers  # agents: how many of them have as many pulls as the receiver or more
    queue: Integers  # agents: the receivers by growing reach
    starts: Integers  # normal agents + 2: where those of a reach begin in the queue
    # of the receiver in hand
    lie_pulls: Floats  # liars: the lies that pass
    lie_means: Floats  # liars
    absent: Integers  # agents: 1 for those whom it does not hear


class Room(NamedTuple):
    """Where a dense board keeps its crowd: few enough arrays to be passed to attacks."""

    order: Integers  # these three as in the crowd
    unheard_starts: Integers
    unheard: Integers
    kept: int  # how many ends
    floats: Floats  # FLOAT_ROWS × (agents + 2)
    integers: Integers  # INTEGER_ROWS × (agents + 2)


FLOAT_ROWS, INTEGER_ROWS = 11, 10


@compiled
def room_of(board: Any) -> Room:
    """A board's room for a crowd."""
    agents, normal = board.agents, board.agents - board.byzantine
    return Room(
        integer_table(board.by_pulls, board.arms, normal),
        integers(board.unheard_starts, agents + 1),
        integers(board.unheard, board.edge_room),
        # f on either side when those unheard are left out, and one more for attacks that stay just inside
        min(2 * (max(board.f, 1) + 1 + board.most_unheard), normal),
        table(board.crowd_floats, FLOAT_ROWS, agents + 2),
        integer_table(board.crowd_integers, INTEGER_ROWS, agents + 2),
    )


@compiled
def open_crowd(room: Room) -> Crowd:
    """The crowd that stands in a room."""
    agents, normal, kept = room.unheard_starts.size - 1, room.order.shape[1], room.kept
    reals, wholes = room.floats, room.integers
    return Crowd(
        room.order,
        room.unheard_starts,
        room.unheard,
        Ends(reals[0, :kept], reals[1, :kept], wholes[0, :kept], wholes[1, :1], wholes[2, :agents]),
        reals[2, :agents],
        reals[3, :agents],
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
        reals[9, : agents - normal],
        reals[10, : agents - normal],
        wholes[9, :agents],
    )


@compiled_apart
def list_unheard(board: Any, receiver: int, heard: Integers, count: int) -> int:
    """List the normal agents that a receiver does not hear, itself included; how many of its edges to keep."""
    starts = integers(board.unheard_starts, board.agents + 1)
    unheard = integers(board.unheard, board.edge_room)
    liars = 0
    while liars < count and heard[liars] < board.byzantine:
        liars += 1
    end, edge = starts[receiver], liars
    for other in range(board.byzantine, board.agents):
        if edge < count and heard[edge] == other:
            edge += 1
        else:
            unheard[end] = other
            end += 1
    starts[receiver + 1] = end
    board.most_unheard = max(board.most_unheard, end - starts[receiver])
    return count if board.lists_edges == 1 else liars


@compiled_apart
def order_reports(board: Any) -> None:
    """Keep the normal agents of every arm by decreasing pulls.

    Only those who pulled an arm have moved, and all as far, so that they are in order among themselves like the
    others: what is left to do is to merge two ordered lists.
    """
    agents, arms, normal = board.agents, board.arms, board.agents - board.byzantine
    pulls, last = table(board.pulls, agents, arms), integers(board.last, agents)
    order = integer_table(board.by_pulls, arms, normal)
    moved, stayed = np.empty(normal, np.int64), np.empty(normal, np.int64)
    for arm in range(arms):
        risen, still = 0, 0
        for agent in order[arm]:
            if last[agent] == arm:
                moved[risen] = agent
                risen += 1
            else:
                stayed[still] = agent
                still += 1
        up, down = 0, 0
        for place in range(normal if risen > 0 else 0):
            if down == still or (up < risen and pulls[moved[up], arm] >= pulls[stayed[down], arm]):
                order[arm, place] = moved[up]
                up += 1
            else:
                order[arm, place] = stayed[down]
                down += 1


@compiled
def gather(crowd: Crowd, pulls: Floats, means: Floats, arm: int) -> None:
    """Take the reports on an arm in hand, with their sums; nobody is admitted to the ends."""
    normal = crowd.senders.size
    for agent in range(crowd.queue.size):
        crowd.own_pulls[agent], crowd.own_means[agent] = pulls[agent, arm], means[agent, arm]
    for place in range(normal):
        sender = crowd.order[arm, place]
        crowd.senders[place], crowd.places[sender] = sender, place
        crowd.pulls[place], crowd.means[place] = crowd.own_pulls[sender], crowd.own_means[sender]
    crowd.means_before[0], crowd.pulls_from[normal], crowd.rewards_from[normal] = 0.0, 0.0, 0.0
    for place in range(normal):
        crowd.means_before[place + 1] = crowd.means_before[place] + crowd.means[place]
    for place in range(normal - 1, -1, -1):  # from the fewest pulls on, so that small ones lose no digit to large ones
        crowd.pulls_from[place] = crowd.pulls_from[place + 1] + crowd.pulls[place]
        crowd.rewards_from[place] = crowd.rewards_from[place + 1] + crowd.pulls[place] * crowd.means[place]
    clear(crowd.ends)


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
def line_up(crowd: Crowd, kappas: Floats, consistency: bool) -> None:
    """Find the reach of every receiver, and queue them by it."""
    normal, agents = crowd.senders.size, crowd.queue.size
    for reach in range(normal + 2):
        crowd.starts[reach] = 0
    own, kappa, level, reach = -1.0, 0.0, 0, normal
    for number in range(agents):
        # by decreasing pulls, so that most have as many as the one before; liars come last
        receiver = crowd.senders[number] if number < normal else number - normal
        if crowd.own_pulls[receiver] != own or kappas[receiver] != kappa:
            own, kappa = crowd.own_pulls[receiver], kappas[receiver]
            level = passing(crowd.pulls, 1.0, own)
            if consistency:
                reach = passing(crowd.pulls, kappa, own)
        crowd.reaches[receiver], crowd.levels[receiver] = reach, level
        crowd.starts[reach + 1] += 1
    for reach in range(normal):
        crowd.starts[reach + 1] += crowd.starts[reach]
    for receiver in range(agents):
        reach = crowd.reaches[receiver]
        crowd.queue[crowd.starts[reach]] = receiver
        crowd.starts[reach] += 1


@compiled
def admit_within(crowd: Crowd, admitted: int, reach: int) -> int:
    """Admit all reports within a reach that were not yet; how many are admitted now."""
    ends, half = crowd.ends, crowd.ends.senders.size // 2
    for place in range(admitted, reach):
        mean = crowd.means[place]
        if ends.size[0] < ends.senders.size or mean <= ends.means[half - 1] or mean >= ends.means[half]:
            admit(ends, crowd.senders[place], crowd.pulls[place], mean)
    return max(admitted, reach)


@compiled
def mark_unheard(crowd: Crowd, receiver: int, mark: int) -> None:
    """Mark those whom a receiver does not hear, or take the marks away."""
    for item in range(crowd.unheard_starts[receiver], crowd.unheard_starts[receiver + 1]):
        crowd.absent[crowd.unheard[item]] = mark


@compiled
def hear(crowd: Crowd, receiver: int, lies: int, pulls: Floats, means: Floats) -> tuple[int, Middle]:
    """Merge the ends that a receiver hears with its sorted lies; how many there are, and the middle.

    The middle is all within reach, less the ends and those unheard. What is taken away is honest, and so costs no
    digit; a lie is never among it.
    """
    ends, reach, level, own = crowd.ends, crowd.reaches[receiver], crowd.levels[receiver], crowd.own_pulls[receiver]
    size = reach - ends.size[0]
    total = crowd.means_before[reach]
    weight = level * own + crowd.pulls_from[level] - crowd.pulls_from[reach]
    rewards = crowd.means_before[level] * own + crowd.rewards_from[level] - crowd.rewards_from[reach]
    count, lie = 0, 0
    mark_unheard(crowd, receiver, 1)
    for place in range(ends.size[0]):
        mean, claimed = ends.means[place], ends.pulls[place]
        worth = min(claimed, own)
        total, weight, rewards = total - mean, weight - worth, rewards - worth * mean
        if crowd.absent[ends.senders[place]] == 1:
            continue
        while lie < lies and comes_first(crowd.lie_means[lie], crowd.lie_pulls[lie], mean, claimed):
            pulls[count], means[count] = crowd.lie_pulls[lie], crowd.lie_means[lie]
            count, lie = count + 1, lie + 1
        pulls[count], means[count] = claimed, mean
        count += 1
    mark_unheard(crowd, receiver, 0)
    for left in range(lie, lies):
        pulls[count], means[count] = crowd.lie_pulls[left], crowd.lie_means[left]
        count += 1
    for item in range(crowd.unheard_starts[receiver], crowd.unheard_starts[receiver + 1]):
        place = crowd.places[crowd.unheard[item]]
        if place < reach and ends.held[crowd.unheard[item]] == 0:
            mean, worth = crowd.means[place], min(crowd.pulls[place], own)
            size, total, weight, rewards = size - 1, total - mean, weight - worth, rewards - worth * mean
    return count, Middle(size, total, weight, rewards) if size > 0 else NO_MIDDLE


@compiled
def mean_from_end(crowd: Crowd, receiver: int, place: int, low: bool) -> float:
    """The mean at a place, from 0, counted from the low or the high end of what a receiver hears in the crowd.

    The last one where there are not so many, and NaN where there is none.
    """
    ends, found = crowd.ends, math.nan
    mark_unheard(crowd, receiver, 1)
    for step in range(ends.size[0]):
        end = step if low else ends.size[0] - 1 - step
        if crowd.absent[ends.senders[end]] == 0:
            found = ends.means[end]
            place -= 1
            if place < 0:
                break
    mark_unheard(crowd, receiver, 0)
    return found
