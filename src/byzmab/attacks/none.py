"""None: Byzantine in name only."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.attacks.contexts.world import ContextWorld, copy_row
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """One's own tally."""
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[sender, arm]
        report.means[arm] = world.means[sender, arm]


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """One's own statistics."""
    for arm in range(report.shape[0]):
        copy_row(world.statistics[sender, arm], report[arm])


@dataclass(frozen=True)
class NoAttack(Attack):
    """Reports honestly."""

    lie = staticmethod(lie)
    lie_at = staticmethod(lie_at)
    equivocates = False
    sees_edges = False
