"""Beside: means next to the receiver's own, so near that no test can tell them from an honest report."""

import math
from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.attacks.crafted import mean_off
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The receiver's own mean, some of its standard errors down on its best arm and up elsewhere."""
    best = world.bests[receiver]
    for arm in range(report.pulls.size):
        own = world.pulls[receiver, arm]
        report.pulls[arm] = own + 1.0
        report.means[arm] = mean_off(world.means[receiver, arm], params[0], own, arm != best)


@dataclass(frozen=True)
class Beside(Attack):
    """The receiver's own mean, half a standard error down on the best arm and up elsewhere."""

    parameters = "beside:0.5, how many of the receiver's standard errors off its own mean; 0.5 if not given"
    lie = staticmethod(lie)
    sees_edges = False
    errors: float = 0.5

    def __post_init__(self) -> None:
        if not -math.inf < self.errors < math.inf:
            raise self.misunderstood(self.errors)
