"""Walk: every mean takes a random step in every round."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.draws import normal
from byzmab.core.report import Floats, Words
from byzmab.drifts.base import Drift

MOST = 0.5  # σ


@compiled
def reflected(value: float) -> float:
    """A number from −1 to 2, mirrored at 0 and 1 into [0, 1]; farther ones are clipped."""
    value = -value if value < 0.0 else 2.0 - value if value > 1.0 else value
    return min(max(value, 0.0), 1.0)


@compiled
def move(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """One normal step of standard deviation σ for each arm; the ends of [0, 1] reflect."""
    for arm in range(given.size):
        shifts[arm] = reflected(given[arm] + shifts[arm] + params[0] * normal(rng)) - given[arm]


@dataclass(frozen=True)
class Walk(Drift):
    """A random walk of each mean, with normal steps of standard deviation σ, reflected at 0 and 1."""

    parameters = "walk:0.002, σ of a step, above 0 and at most 0.5"
    move = staticmethod(move)
    sigma: float

    def __post_init__(self) -> None:
        if not 0.0 < self.sigma <= MOST:
            raise self.misunderstood(self.sigma)
