"""Swap: the honest agents' mean parameters of one arm told for the next."""

from dataclasses import dataclass

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, tell_theta, write_honest_means
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Words


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """Of arm k the mean θ of arm k − 1."""
    for arm in range(report.shape[0]):
        tell_theta(world, receiver, arm, scratch[arm - 1 if arm > 0 else report.shape[0] - 1], report)


@dataclass(frozen=True)
class Swap(ContextAttack):
    """With contexts: the honest agents' mean parameters of each arm, told for the next one."""

    start_round_at = staticmethod(write_honest_means)
    lie_at = staticmethod(lie_at)

    def scratch_shape_at(self, arms: int, d: int) -> tuple[int, int]:
        return arms, d
