"""Drifts: how the arms' means change from round to round; the contract, then each of them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import normal
from byzmab.core.mistakes import Contract, nothing
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats, Words

MOST = 0.5  # σ of a step of a walk

MOVE = Contract(
    {"given": np.empty(0), "time": 0, "params": np.empty(0), "rng": np.zeros(1, np.uint64), "shifts": np.empty(0)},
    "nothing",
    nothing,
)


@dataclass(frozen=True)
class Drift(Plugin):
    """Moves the arms' means away from those that are given.

    It provides one compiled function, which is called once a round, before anybody hears or chooses:

        move(given, time, params, rng, shifts)

    `given` are the means of the arms as given for round `time`, which counts from 1. `shifts` holds what was added to
    them in the round before, at first 0, and is to hold what is added now; a sum outside [0, 1] is clipped. Where
    agents differ, `given` is what they have in common, and each agent's means are moved alike. `params` are the
    drift's fields. `rng` is a random stream of the run and round: nothing depends on the algorithm.
    """

    kind: ClassVar[str] = "drift"
    function: ClassVar[str] = "move"
    move: ClassVar[Any]
    moves: ClassVar[bool] = True  # False where shifts are always 0

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "move", cls.move, MOVE


@compiled
def stay(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """Nothing is added."""


@dataclass(frozen=True)
class Still(Drift):
    """Means stay as they are given."""

    move = staticmethod(stay)
    moves = False


@compiled
def move_by_steps(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """From round r · `every` on, arm k has the mean that was given to arm k − r."""
    steps = time // int(params[0])
    for arm in range(given.size):
        shifts[arm] = given[(arm - steps) % given.size] - given[arm]


@dataclass(frozen=True)
class Steps(Drift):
    """Every so many rounds all means move on by one arm, so that another one is the best."""

    parameters = "steps:2000, the rounds from one step to the next, at least 1"
    move = staticmethod(move_by_steps)
    every: int

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise self.misunderstood(self.every)


@compiled
def reflected(value: float) -> float:
    """A number from −1 to 2, mirrored at 0 and 1 into [0, 1]; farther ones are clipped."""
    value = -value if value < 0.0 else 2.0 - value if value > 1.0 else value
    return min(max(value, 0.0), 1.0)


@compiled
def walk(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """One normal step of standard deviation σ for each arm; the ends of [0, 1] reflect."""
    for arm in range(given.size):
        shifts[arm] = reflected(given[arm] + shifts[arm] + params[0] * normal(rng)) - given[arm]


@dataclass(frozen=True)
class Walk(Drift):
    """A random walk of each mean, with normal steps of standard deviation σ, reflected at 0 and 1."""

    parameters = "walk:0.002, σ of a step, above 0 and at most 0.5"
    move = staticmethod(walk)
    sigma: float

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma <= MOST:
            raise self.misunderstood(self.sigma)


@compiled
def swing(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """a sin 2π (t / period + k / M) is added to arm k of M."""
    for arm in range(given.size):
        shifts[arm] = params[1] * math.sin(2.0 * math.pi * (time / params[0] + arm / given.size))


@dataclass(frozen=True)
class Periodic(Drift):
    """Each mean swings by an amplitude around the one given, the arms one after the other."""

    parameters = "periodic:5000,0.1, the rounds of a period, at least 2, and the amplitude in [0, 1]; 0.1 if not given"
    move = staticmethod(swing)
    period: float
    amplitude: float = 0.1

    def __post_init__(self) -> None:
        if not (2.0 <= self.period < math.inf and 0.0 <= self.amplitude <= 1.0):
            raise self.misunderstood(self.to_text())
