"""Flip: the liar's own parameters with the opposite sign."""

from dataclasses import dataclass

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, tell_theta
from byzmab.core.compiler import compiled
from byzmab.core.contexts.statistics import theta_of
from byzmab.core.report import Floats, Words


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """−θ of one's own."""
    for arm in range(report.shape[0]):
        theta = -theta_of(world.statistics[sender, arm], world.contexts.shape[1])
        tell_theta(world, receiver, arm, theta, report)


@dataclass(frozen=True)
class Flip(ContextAttack):
    """With contexts: its own parameters with the opposite sign."""

    lie_at = staticmethod(lie_at)
