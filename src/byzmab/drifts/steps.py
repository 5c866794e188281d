"""Steps: every so many rounds each mean moves on to the next arm."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Words
from byzmab.drifts.base import Drift


@compiled
def move(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """From round r · `every` on, arm k has the mean that was given to arm k − r."""
    steps = time // int(params[0])
    for arm in range(given.size):
        shifts[arm] = given[(arm - steps) % given.size] - given[arm]


@dataclass(frozen=True)
class Steps(Drift):
    """Every so many rounds all means move on by one arm, so that another one is the best."""

    parameters = "steps:2000, the rounds from one step to the next, at least 1"
    move = staticmethod(move)
    every: int

    def __post_init__(self) -> None:
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise self.misunderstood(self.every)
