"""Starve: the Byzantine agent that says nothing."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.attacks.contexts.world import ContextWorld
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """A count of zero: silence."""
    for arm in range(report.pulls.size):
        report.pulls[arm] = 0.0
        report.means[arm] = 0.0


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """A count of zero at contexts: silence."""
    for arm in range(report.shape[0]):
        report[arm, 0] = 0.0


@dataclass(frozen=True)
class Starve(Attack):
    """Count 0: a silent Byzantine."""

    lie = staticmethod(lie)
    lie_at = staticmethod(lie_at)
    equivocates = False
    sees_edges = False
