"""Periodic: means swing around those that are given, one arm after the other."""

import math
from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Words
from byzmab.drifts.base import Drift


@compiled
def move(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """a sin 2π (t / period + k / M) is added to arm k of M."""
    for arm in range(given.size):
        shifts[arm] = params[1] * math.sin(2.0 * math.pi * (time / params[0] + arm / given.size))


@dataclass(frozen=True)
class Periodic(Drift):
    """Each mean swings by an amplitude around the one given, the arms one after the other."""

    parameters = "periodic:5000,0.1, the rounds of a period, at least 2, and the amplitude in [0, 1]; 0.1 if not given"
    move = staticmethod(move)
    period: float
    amplitude: float = 0.1

    def __post_init__(self) -> None:
        if not (2.0 <= self.period < math.inf and 0.0 <= self.amplitude <= 1.0):
            raise self.misunderstood(self.to_text())
