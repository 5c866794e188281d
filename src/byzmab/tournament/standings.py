"""The outcome of a tournament: regret relative to solo, with its standard error, and each filter's worst case."""

import time
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.liars import TooFewNeighbours
from byzmab.core.report import Floats
from byzmab.experiment.assumptions import unwarned
from byzmab.results.statistics import describe, ratio_of_means
from byzmab.sweep.run import Announce, Progress, run_sweep
from byzmab.sweep.store import ResultStore
from byzmab.tournament.field import Cell, Field

REDDEST_WHITE = 1.01  # a ratio that is surely above 1 is drawn at least as this one
ERRORS = 2.0  # standard errors above 1 from which on agents did surely worse than alone


class Score(NamedTuple):
    """Regret at the horizon over that of the same agents alone, with the same luck."""

    ratio: float
    stderr: float | None  # None for one run
    regret: Floats  # by run

    @property
    def surely_hurts(self) -> bool:
        """Whether they did worse by more than chance explains: above 1 by more than two standard errors."""
        return self.stderr is not None and self.ratio - ERRORS * self.stderr > 1.0

    @property
    def shade(self) -> float:
        """The ratio as maps colour it: above 1, which is red, only where agents surely did worse than alone."""
        return max(self.ratio, REDDEST_WHITE) if self.surely_hurts else min(self.ratio, 1.0)


@dataclass(frozen=True)
class Standings:
    """All scores of a tournament."""

    field: Field
    scores: Mapping[Cell, Score]
    seconds: float

    def worst(self, **fixed: Any) -> dict[str, Cell]:
        """Every filter's worst case, among all cells or those with some of their parts fixed."""
        worst: dict[str, Cell] = {}
        for cell, score in self.scores.items():
            if any(getattr(cell, name) != value for name, value in fixed.items()) or np.isnan(score.ratio):
                continue
            if cell.filter not in worst or score.ratio > self.scores[worst[cell.filter]].ratio:
                worst[cell.filter] = cell
        return worst

    def above_solo(self) -> dict[str, list[Cell]]:
        """The verdict on every filter: the cells, worst first, in which agents did surely worse than alone."""
        verdict: dict[str, list[Cell]] = {name: [] for name in self.field.filters}
        for cell, score in self.scores.items():
            if score.surely_hurts:
                verdict[cell.filter].append(cell)
        return {name: sorted(cells, key=lambda cell: -self.scores[cell].ratio) for name, cells in verdict.items()}

    def cells_of(self, filter: str) -> int:
        """In how many cells a filter plays."""
        return sum(cell.filter == filter for cell in self.scores)

    def summary(self) -> dict[str, Any]:
        """The numbers of `byzmab tournament --json`."""
        return {
            "cells": [self._row(cell) for cell in self.scores],
            "above_solo": {name: [*map(self._row, cells)] for name, cells in self.above_solo().items()},
            "worst": {name: self._row(cell) for name, cell in self.worst().items()},
            "seconds": self.seconds,
        }

    def _row(self, cell: Cell) -> dict[str, Any]:
        score = self.scores[cell]
        ratio = None if np.isnan(score.ratio) else score.ratio
        return {**cell._asdict(), "relative": ratio, "stderr": score.stderr, "regret": describe(score.regret)}


def play(
    field: Field,
    store: ResultStore,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Standings:
    """Play all matches of a field that the store does not hold yet, and score them."""
    began = time.perf_counter()
    matches, solos = field.matches(), field.solos()
    with unwarned(TooFewNeighbours):  # some graphs are too sparse for f, and that is part of the question
        run_sweep([*solos.values(), *matches.values()], store, executor, workers, progress, announce)
    alone = {key: _final(store, experiment) for key, experiment in solos.items()}
    scores = {
        cell: score(_final(store, experiment), alone[cell.policy, cell.agents]) for cell, experiment in matches.items()
    }
    return Standings(field, scores, time.perf_counter() - began)


def _final(store: ResultStore, experiment: Any) -> Floats:
    return store.read(experiment).network_regret[:, -1]


def score(regret: Floats, alone: Floats) -> Score:
    """The ratio of mean regrets with its error, over runs that met the same luck."""
    return Score(*ratio_of_means(regret, alone), regret)
