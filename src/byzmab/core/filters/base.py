"""What a filter is, and the loop that lets every agent of a board believe."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numba import types

from byzmab.core.board import (
    ALL_BITS,
    ANY_REPORT,
    BAD_BELIEF,
    CONSISTENT_MEANS,
    EVERY_ROUND,
    BoardType,
    floats,
    table,
    words,
)
from byzmab.core.compiler import weave
from byzmab.core.filters.dense import believe_all_densely
from byzmab.core.filters.fates import Fate
from byzmab.core.plugins import Plugin
from byzmab.core.report import LEAST_PULLS, Floats

__all__ = ["ANY_REPORT", "CONSISTENT_MEANS", "EVERY_ROUND", "Filter"]


@dataclass(frozen=True)
class Filter(Plugin):
    """Turns one's own tally and the reports heard on an arm into a belief.

    A filter provides one compiled function for one arm:

        believe(own_pulls, own_mean, pulls, means, f, kappa, time) -> (estimate, weight, doubt)

    `pulls` and `means` hold the reports with at least one pull, in any order; the function may use them
    up. With `consistency` they are only those that pass the paper's step A, κ n_j ≥ n_i. Where nobody is
    heard the belief must be (own_mean, own_pulls, 0). A filter may also say in plain Python, by `explain`, what
    became of each of these reports.

    Where nearly everyone hears everyone, the reports on an arm can be ordered once for all receivers. A filter
    that asks no more than this of them may provide a second function, which is then used:

        believe_dense(own_pulls, own_mean, pulls, means, middle, f, kappa, time) -> (estimate, weight, doubt)

    `pulls` and `means` are now sorted by mean, equal means by pulls, and `middle`, a `byzmab.core.ends.Middle`, sums
    up reports that belong somewhere between them. At least f on either side of it are told one by one.
    """

    kind: ClassVar[str] = "filter"
    function: ClassVar[str] = "believe"
    believe: ClassVar[Any]
    believe_dense: ClassVar[Any] = None
    stale_when: ClassVar[int] = EVERY_ROUND  # which changes matter: see byzmab.core.board
    consistency: ClassVar[bool] = False  # whether step A comes first; some attacks look at it
    hears: ClassVar[bool] = True
    trims: ClassVar[bool] = True  # whether it drops reports by f, so that f asks for a number of neighbours

    def __init_subclass__(cls) -> None:
        """A filter derived from a dense one that believes otherwise is not dense, unless it says how."""
        if "believe" in vars(cls) and "believe_dense" not in vars(cls):
            cls.believe_dense = None

    def loop(self) -> Any:
        """The compiled loop over all agents of a board."""
        return _loop(type(self).believe)

    def dense_loop(self) -> Any:
        """The same for a board on which reports are ordered once for all."""
        return _dense_loop(type(self).believe_dense)

    @staticmethod
    def explain(
        own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
    ) -> dict[int, Fate]:
        """What became of each report that `believe` was given, by its place among them."""
        return dict.fromkeys(range(pulls.size), Fate.HEARD)

    def fates(
        self, own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
    ) -> list[Fate]:
        """What became of each report on an arm, the silent and the inconsistent included."""
        heard = pulls > 0.0
        used = heard & (kappa * pulls >= own_pulls) if self.consistency else heard
        fates = [Fate.INCONSISTENT if loud else Fate.SILENT for loud in heard]
        places = np.flatnonzero(used)
        told = self.explain(own_pulls, own_mean, pulls[places], means[places], f, kappa, time)
        for number, fate in told.items():
            fates[places[number]] = fate
        return fates


@cache
def _loop(function: Any) -> Any:
    return weave(believe_all, types.void(BoardType), believe=function)


@cache
def _dense_loop(function: Any) -> Any:
    return weave(believe_all_densely, types.void(BoardType), believe_dense=function)


def believe(
    own_pulls: float, own_mean: float, pulls: Floats, means: Floats, f: int, kappa: float, time: int
) -> tuple[float, float, float]:
    """Stands for the filter's own function in the loop below."""
    raise NotImplementedError


def believe_all(board: Any) -> None:
    """Every agent believes anew of every arm on which something changed that matters to the filter."""
    agents, arms, room = board.agents, board.arms, board.history * board.agents + board.lie_room
    own_pulls = table(board.pulls, agents, arms)
    own_means = table(board.means, agents, arms)
    told_pulls = table(board.told_pulls, room, arms)
    told_means = table(board.told_means, room, arms)
    news = words(board.news, room)
    # places are read as words, which have no sign: numba then leaves out the test for negative indices
    starts = words(board.heard_starts, agents + 1)
    rows = words(board.heard_rows, board.heard_room)
    kappas = floats(board.kappas, agents)
    pulls = floats(board.heard_pulls, board.voices)
    means = floats(board.heard_means, board.voices)
    estimates = table(board.estimates, agents, arms)
    weights = table(board.weights, agents, arms)
    doubts = table(board.doubts, agents, arms)
    follow = board.settled == 1 and board.stale_when != EVERY_ROUND
    every_arm = ALL_BITS if arms > 63 else (np.uint64(1) << np.uint64(arms)) - np.uint64(1)
    for agent in range(agents):
        stale = news[agent] & every_arm
        if follow:
            for entry in range(starts[agent], starts[agent + 1]):
                stale |= news[rows[entry]] & every_arm
                if stale == every_arm:
                    break
        else:
            stale = every_arm
        for arm in range(np.uint64(arms)):
            if not (stale >> (arm & np.uint64(63))) & np.uint64(1):
                continue
            own = own_pulls[agent, arm]
            # step A, κ n_j ≥ n_i, or without it just n_j > 0: a report of zero pulls is silence
            kappa, least = (kappas[agent], own) if board.consistency == 1 else (1.0, LEAST_PULLS)
            count = np.uint64(0)
            for entry in range(starts[agent], starts[agent + 1]):
                row = rows[entry]
                pulls[count] = told_pulls[row, arm]
                means[count] = told_means[row, arm]
                count += np.uint64(kappa * told_pulls[row, arm] >= least)
            estimates[agent, arm], weights[agent, arm], doubts[agent, arm] = believe(
                own, own_means[agent, arm], pulls[:count], means[:count], board.f, kappas[agent], board.time
            )
            if not (weights[agent, arm] > 0.0 and estimates[agent, arm] + doubts[agent, arm] < np.inf):
                board.fault = BAD_BELIEF
