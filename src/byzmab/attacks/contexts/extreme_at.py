"""Extreme at a context: the worst case. The Byzantine agent knows what the receiver sees, as no real one does."""

from dataclasses import dataclass

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, aim_at, tell_theta
from byzmab.core.compiler import compiled
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats, Words


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """Mean 0 on the best arm and 1 elsewhere at the receiver's context: the shortest such θ."""
    aim = aim_at(world, receiver, True)
    length = dot(aim.x, aim.x)
    for arm in range(report.shape[0]):
        mean = 0.0 if arm == aim.best else 1.0
        tell_theta(world, receiver, arm, aim.x * ((mean - NEUTRAL) / length), report)


@dataclass(frozen=True)
class ExtremeAt(ContextAttack):
    """With contexts, knowing the receiver's: mean 0 on its best arm and 1 elsewhere."""

    lie_at = staticmethod(lie_at)

    @property
    def sees_contexts(self) -> bool:
        """Always."""
        return True
