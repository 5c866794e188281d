"""The loop that lets every agent of a dense board believe: arm by arm, with reports ordered once for all of them."""

from typing import Any

import numpy as np

from byzmab.core.board import ALL_BITS, BAD_BELIEF, EVERY_ROUND, floats, integers, table, words
from byzmab.core.compiler import compiled
from byzmab.core.crowd import Crowd, admit_within, gather, hear, line_up, open_crowd, room_of
from byzmab.core.ends import Middle
from byzmab.core.report import LEAST_PULLS, Floats, Integers, Words
from byzmab.core.sorting import sort_reports


def believe_dense(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, middle: Middle, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """Stands for the filter's own function in the loop below."""
    raise NotImplementedError


@compiled
def union(news: Words) -> np.uint64:
    """A word with the bits of all arms on which some report changed."""
    bits = np.uint64(0)
    for word in news:
        bits |= word
    return bits


@compiled
def take_lies(
    crowd: Crowd, told_pulls: Floats, told_means: Floats, rows: Integers, arm: int, kappa: float, least: float
) -> int:
    """Take the lies on an arm that pass, sorted, from the rows that a receiver hears; how many there are."""
    agents, lies = crowd.queue.size, 0
    for row in rows:
        if row < agents:
            break  # an honest report; liars come first
        crowd.lie_pulls[lies], crowd.lie_means[lies] = told_pulls[row, arm], told_means[row, arm]
        lies += kappa * told_pulls[row, arm] >= least
    sort_reports(crowd.lie_pulls[:lies], crowd.lie_means[:lies])
    return lies


def believe_all_densely(board: Any) -> None:
    """Every agent believes anew of every arm on which some report changed."""
    agents, arms, room = board.agents, board.arms, board.agents + board.lie_room
    own_pulls = table(board.pulls, agents, arms)
    own_means = table(board.means, agents, arms)
    told_pulls = table(board.told_pulls, room, arms)
    told_means = table(board.told_means, room, arms)
    starts = integers(board.heard_starts, agents + 1)
    rows = integers(board.heard_rows, board.heard_room)
    kappas = floats(board.kappas, agents)
    pulls = floats(board.heard_pulls, board.voices)
    means = floats(board.heard_means, board.voices)
    estimates = table(board.estimates, agents, arms)
    weights = table(board.weights, agents, arms)
    doubts = table(board.doubts, agents, arms)
    crowd = open_crowd(room_of(board))
    consistency = board.consistency == 1
    follow = board.settled == 1 and board.stale_when != EVERY_ROUND
    stale = union(words(board.news, room)) if follow else ALL_BITS
    for arm in range(arms):
        if not (stale >> np.uint64(arm & 63)) & np.uint64(1):
            continue
        gather(crowd, own_pulls, own_means, arm)
        line_up(crowd, kappas, consistency)
        admitted = 0
        for agent in crowd.queue:
            own = crowd.own_pulls[agent]
            kappa, least = (kappas[agent], own) if consistency else (1.0, LEAST_PULLS)
            admitted = admit_within(crowd, admitted, crowd.reaches[agent])
            heard = rows[starts[agent] : starts[agent + 1]]
            lies = take_lies(crowd, told_pulls, told_means, heard, arm, kappa, least)
            count, middle = hear(crowd, agent, lies, pulls, means)
            estimates[agent, arm], weights[agent, arm], doubts[agent, arm] = believe_dense(
                own, crowd.own_means[agent], pulls[:count], means[:count], middle, board.f, kappas[agent], board.time
            )
            if not (weights[agent, arm] > 0.0 and estimates[agent, arm] + doubts[agent, arm] < np.inf):
                board.fault = BAD_BELIEF
