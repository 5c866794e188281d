"""Large: many times the honest agents' mean parameters, with the opposite sign."""

import math
from dataclasses import dataclass

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, tell_theta, write_honest_means
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Words


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """−c times the mean θ of the honest agents."""
    for arm in range(report.shape[0]):
        tell_theta(world, receiver, arm, -params[0] * scratch[arm], report)


@dataclass(frozen=True)
class Large(ContextAttack):
    """With contexts: −c times the mean parameters of the honest agents."""

    parameters = "large:100, the factor c, 0 or more; 100 if not given"
    start_round_at = staticmethod(write_honest_means)
    lie_at = staticmethod(lie_at)
    c: float = 100.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.c < math.inf:
            raise self.misunderstood(self.c)

    def scratch_shape_at(self, arms: int, d: int) -> tuple[int, int]:
        return arms, d
