"""A little is enough, with contexts: the honest agents' parameters, shifted by no more than they err themselves.

Blind, the shift is measured in the receiver's standard errors at the mean of its contexts; knowing the receiver's
context, in standard deviations of what the honest agents believe there.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, aim_at, tell_theta, write_honest_means
from byzmab.core.compiler import compiled, compiled_borrowing
from byzmab.core.contexts.linear import dot, multiply
from byzmab.core.contexts.statistics import inverse_of, theta_of
from byzmab.core.report import Floats, Words

SIGMA = 0.5  # the largest standard deviation of rewards in [0, 1]
C, KNOWS = range(2)  # where the parameters are


@compiled_borrowing
def spread_at(world: ContextWorld, arm: int, x: Floats, centre: float) -> float:
    """The population standard deviation of the honest agents' xᵀθ, whose mean is given."""
    total, agents = 0.0, world.statistics.shape[0]
    for agent in range(world.byzantine, agents):
        total += (dot(x, theta_of(world.statistics[agent, arm], x.size)) - centre) ** 2
    return math.sqrt(total / (agents - world.byzantine))


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """The mean θ, moved along A⁻¹x: down on the best arm at x, up elsewhere."""
    knows = params[KNOWS] > 0.0
    aim = aim_at(world, receiver, knows)
    direction = np.empty(aim.x.size)
    for arm in range(report.shape[0]):
        multiply(inverse_of(world.statistics[receiver, arm], aim.x.size), aim.x, direction)
        along = dot(aim.x, direction)  # xᵀA⁻¹x
        spread = SIGMA * math.sqrt(along)
        if knows:
            spread = spread_at(world, arm, aim.x, dot(aim.x, scratch[arm]))
        shift = params[C] * (-spread if arm == aim.best else spread)
        for a in range(direction.size):
            direction[a] = scratch[arm, a] + direction[a] * (shift / along)
        tell_theta(world, receiver, arm, direction, report)


@dataclass(frozen=True)
class BlindAlie(ContextAttack):
    """With contexts: the honest agents' mean parameters, c standard errors off at the mean context."""

    parameters = "blind-alie:1.5, the number of standard errors c, 0 or more; 1.5 if not given"
    start_round_at = staticmethod(write_honest_means)
    lie_at = staticmethod(lie_at)
    c: float = 1.5
    knows: int = 0  # whether it knows the receiver's context

    def __post_init__(self) -> None:
        if not 0.0 <= self.c < math.inf or self.knows not in (0, 1):
            raise self.misunderstood(f"c={self.c},knows={self.knows}")

    def scratch_shape_at(self, arms: int, d: int) -> tuple[int, int]:
        return arms, d


@dataclass(frozen=True)
class AlieAt(BlindAlie):
    """With contexts, knowing the receiver's: c standard deviations off what the honest agents believe there."""

    parameters = "alie-at:1.5, the number of standard deviations c, 0 or more; 1.5 if not given"
    knows: int = 1
