"""A run whose width g is recorded: per agent and arm the largest g(t) ln t, from which the paper's bound follows."""

import math
from typing import Any

import numpy as np
from numba import types

from byzmab.core.board import BoardType, table
from byzmab.core.compiler import compiled_as
from byzmab.core.report import Floats
from byzmab.simulation.engine import DRAWING_LOOP, LOOP, play
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.inbox import ENOUGH
from byzmab.simulation.stage import Stage

TABLE = types.Array(types.float64, 2, "C")


@compiled_as(types.int64(BoardType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP, TABLE))
def play_widely(board: Any, until: int, draw: Any, lie: Any, believe: Any, choose: Any, largest: Floats) -> int:
    """Play round by round, recording g = n / w; beliefs are of the round's beginning, pulls already of its end."""
    agents, arms = board.agents, board.arms
    before = np.empty((agents, arms))
    while board.time < until:
        pulls = table(board.pulls, agents, arms)
        for agent in range(agents):
            for arm in range(arms):
                before[agent, arm] = pulls[agent, arm]
        shortage = play(board, board.time + 1, draw, lie, believe, choose)
        if shortage != ENOUGH:
            return shortage
        log_time = math.log(board.time)
        weights = table(board.weights, agents, arms)
        for agent in range(agents):
            for arm in range(arms):
                wide = before[agent, arm] / weights[agent, arm] * log_time
                largest[agent, arm] = max(largest[agent, arm], wide)
    return ENOUGH


class WideStage(Stage):
    """A stage that records the largest g(t) ln t of every agent and arm. Not for baselines, which have no g."""

    def __init__(self, experiment: Experiment, run: int) -> None:
        super().__init__(experiment, run)
        self.largest: Floats = np.zeros((experiment.parts.agents, experiment.parts.arms))
        self._play = self._play_widely

    def _play_widely(self, record: Any, until: int, draw: Any, lie: Any, believe: Any, choose: Any) -> int:
        return play_widely(record, until, draw, lie, believe, choose, self.largest)
