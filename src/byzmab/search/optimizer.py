"""The optimizer: proposes points of a branch and is told what they are worth. cmaes and Optuna do the work."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from byzmab.core.errors import BadInput, unknown
from byzmab.core.report import Floats
from byzmab.search.space import Point

SAMPLERS = {"tpe": "TPESampler", "random": "RandomSampler"}  # Optuna's names
CMA_ES = "cma-es"
DEFAULT = CMA_ES  # finds more than the others in as many trials: docs/concepts/attack-search.md
FIRST_STEP = 1.0 / 6.0  # of CMA-ES, as a share of every coordinate's range

Bounds = Mapping[str, tuple[float, float]]
Tried = Sequence[tuple[Point, float]]  # points and what they are worth


class Optimizer(Protocol):
    """Proposes points, beginning near the best of those tried; the same seed and answers give the same points."""

    def ask(self) -> Point:
        """The point to try next."""

    def tell(self, worth: float) -> None:
        """Say what the point asked for last is worth."""


class CmaEs:
    """CMA-ES (Hansen 2016) on the unit cube of the coordinates."""

    def __init__(self, bounds: Bounds, tried: Tried, seed: int) -> None:
        self._names = tuple(bounds)
        self._low, high = (np.array([ends[side] for ends in bounds.values()]) for side in (0, 1))
        self._range = high - self._low
        start = max(tried, key=lambda item: item[1])[0]
        mean = (np.array([start[name] for name in self._names]) - self._low) / self._range
        cube = np.tile([0.0, 1.0], (mean.size, 1))
        self._cma = import_module("cmaes").CMA(mean=mean, sigma=FIRST_STEP, bounds=cube, seed=seed)
        self._generation: list[tuple[Floats, float]] = []
        self._asked = mean

    def ask(self) -> Point:
        """The point to try next."""
        self._asked = self._cma.ask()
        return dict(zip(self._names, (self._low + self._asked * self._range).tolist(), strict=True))

    def tell(self, worth: float) -> None:
        """Say what the point asked for last is worth."""
        self._generation.append((self._asked, -worth))  # it minimises
        if len(self._generation) == self._cma.population_size:
            self._cma.tell(self._generation)
            self._generation = []


class Sampler:
    """One of Optuna's samplers, which is told of the points tried."""

    def __init__(self, bounds: Bounds, tried: Tried, seed: int, name: str) -> None:
        optuna = import_module("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = getattr(optuna.samplers, SAMPLERS[name])(seed=seed)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._distributions = {
            name: optuna.distributions.FloatDistribution(low, high) for name, (low, high) in bounds.items()
        }
        for point, worth in tried:
            known = {"params": dict(point), "distributions": self._distributions, "value": worth}
            self._study.add_trial(optuna.trial.create_trial(**known))
        self._trial: Any = None

    def ask(self) -> Point:
        """The point to try next."""
        self._trial = self._study.ask(self._distributions)
        return dict(self._trial.params)

    def tell(self, worth: float) -> None:
        """Say what the point asked for last is worth."""
        self._study.tell(self._trial, worth)


def open_optimizer(name: str, bounds: Bounds, tried: Tried, seed: int) -> Optimizer:
    """The optimizer of a name."""
    return CmaEs(bounds, tried, seed) if name == CMA_ES else Sampler(bounds, tried, seed, name)


def check_optimizer(name: str) -> None:
    """Raise BadInput for an optimizer that is not known or not installed; to be called before a long search."""
    if name not in (CMA_ES, *SAMPLERS):
        raise unknown("optimizer", name, (CMA_ES, *SAMPLERS))
    for package in ("optuna", "cmaes"):
        if find_spec(package) is None:
            raise BadInput(f"attack search needs {package}, which is missing: pip install 'byzmab[search]'")
