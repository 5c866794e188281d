"""Restarts: several optimizers, each in a part of the family, and whose turn it is."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from byzmab.search.optimizer import Optimizer, open_optimizer
from byzmab.search.space import Family, Point

RACE = 0.5  # the share of the trials in which all restarts take turns; the best of them has the rest


class Restarts:
    """Optimizers that begin in different parts of the family: first in turn, then the best of them alone."""

    def __init__(self, space: Family, name: str, seed: int, wanted: int) -> None:
        self.space, self.name, self.seed, self.wanted = space, name, seed, wanted
        self.tried: list[tuple[Any, Point, float]] = []  # the starts
        self._best: list[float] = []  # of each optimizer, so far

    def turns(self, trials: int) -> Iterator[tuple[Any, Optimizer, int]]:
        """Whose turn it is in each of so many trials: a branch, its optimizer and its number."""
        optimizers = [self._open(number, branch) for number, branch in enumerate(self._branches())]
        for trial in range(trials):
            racing = trial < RACE * trials
            number = trial % len(optimizers) if racing else max(range(len(optimizers)), key=self._best.__getitem__)
            yield *optimizers[number], number

    def told(self, number: int, worth: float) -> None:
        """Write down what an optimizer's trial was worth."""
        self._best[number] = max(self._best[number], worth)

    def _branches(self) -> list[Any]:
        """A branch for every restart, from the one whose starts are worth most; again from the first where it ends."""
        worth: dict[Any, float] = {}
        for branch, _, value in self.tried:
            worth[branch] = max(worth.get(branch, value), value)
        ranked = sorted(worth, key=lambda branch: -worth[branch])
        return [ranked[number % len(ranked)] for number in range(self.wanted)]

    def _open(self, number: int, branch: Any) -> tuple[Any, Optimizer]:
        tried = [(point, worth) for other, point, worth in self.tried if other == branch]
        self._best.append(max(worth for _, worth in tried))
        seed = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        return branch, open_optimizer(self.name, self.space.bounds(branch), tried, seed)
