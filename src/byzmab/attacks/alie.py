"""A little is enough: means just outside what honest agents see, too close to be told apart.

Baruch, Baruch & Goldberg 2019, carried over to bandits: c standard deviations against the truth.
"""

import math
from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words

DOWN, UP = range(2)  # rows of the scratch table


@compiled
def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Mean and population standard deviation over all honest agents, then c of them down and up."""
    for arm in range(world.true_means.size):
        normal = world.pulls.shape[0] - world.byzantine
        total, spread = 0.0, 0.0
        for agent in range(world.byzantine, world.pulls.shape[0]):
            total += world.means[agent, arm]
        mean = total / normal
        for agent in range(world.byzantine, world.pulls.shape[0]):
            spread += (world.means[agent, arm] - mean) ** 2
        shift = params[0] * math.sqrt(spread / normal)
        scratch[DOWN, arm] = min(max(mean - shift, 0.0), 1.0)
        scratch[UP, arm] = min(max(mean + shift, 0.0), 1.0)


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The means, shifted down on the receiver's best arm and up elsewhere, with one pull more than the receiver."""
    best = world.bests[receiver]
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = scratch[DOWN if arm == best else UP, arm]


@dataclass(frozen=True)
class Alie(Attack):
    """A little is enough: the honest mean, c standard deviations down on the best arm and up elsewhere."""

    parameters = "alie:1.5, the number of standard deviations c, 0 or more; 1.5 if not given"
    start_round = staticmethod(start_round)
    lie = staticmethod(lie)
    sees_edges = False
    c: float = 1.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.c < math.inf:
            raise self.misunderstood(self.c)

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 2, arms
