"""What a policy is, and the loop that lets every agent of a board choose."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from numba import types

from byzmab.core.board import BAD_CHOICE, BoardType, integers, table, words
from byzmab.core.compiler import compiled, weave
from byzmab.core.draws import below, fold
from byzmab.core.plugins import Plugin
from byzmab.core.report import Belief, Floats, Words

TIED = 1e-12  # indices closer than this count as equal


@dataclass(frozen=True)
class Policy(Plugin):
    """Chooses an arm from a belief.

    A policy provides one compiled function:

        choose(belief, time, rng) -> arm

    It may also say in plain Python, by `explain`, what every arm was worth in that choice.
    """

    kind: ClassVar[str] = "policy"
    function: ClassVar[str] = "choose"
    choose: ClassVar[Any]
    worth: ClassVar[str] = "index"  # what `explain` tells: the index, whose largest is chosen, or the chance

    @staticmethod
    def explain(belief: Belief, time: int, rng: Words) -> Floats | None:
        """What every arm is worth to `choose` with the same luck; None where a user's own policy does not tell."""
        return None

    def loop(self) -> Any:
        """The compiled loop over all agents of a board."""
        return _loop(type(self).choose)


@cache
def _loop(function: Any) -> Any:
    return weave(choose_all, types.void(BoardType), choose=function)


def choose(belief: Belief, time: int, rng: Words) -> int:
    """Stands for the policy's own function in the loop below."""
    raise NotImplementedError


def choose_all(board: Any) -> None:
    """Every agent chooses the arm it pulls next."""
    agents, arms, time = board.agents, board.arms, board.time
    estimates = table(board.estimates, agents, arms)
    weights = table(board.weights, agents, arms)
    doubts = table(board.doubts, agents, arms)
    keys = words(board.policy_keys, agents)
    choices = integers(board.choices, agents)
    rng = words(board.rng, 1)
    for agent in range(agents):
        rng[0] = fold(keys[agent], time)
        choices[agent] = choose(Belief(estimates[agent], weights[agent], doubts[agent]), time, rng)
        if not 0 <= choices[agent] < arms:
            board.fault = board.fault or BAD_CHOICE  # the first fault is told
            choices[agent] = 0


@compiled
def pick_tied(index: Floats, best: float, rng: Words) -> int:
    """One of the arms whose index is tied with the best, each equally likely."""
    tied = 0
    first = -1
    for arm in range(index.size):
        if index[arm] >= best - TIED:
            tied += 1
            if first < 0:
                first = arm
    if tied == 1:
        return first
    skip = below(rng, tied)
    for arm in range(first, index.size):
        if index[arm] >= best - TIED:
            if skip == 0:
                return arm
            skip -= 1
    return first


@compiled
def argmax_at_random(index: Floats, rng: Words) -> int:
    """The arm with the largest index, ties broken uniformly at random."""
    best = index[0]
    for arm in range(1, index.size):
        best = max(best, index[arm])
    return pick_tied(index, best, rng)
