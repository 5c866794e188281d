"""Ends: Byzantine agents at either end of the scale, so that honest reports look as if agents differed."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """Mean 0 from every second Byzantine agent, and 1 from the others, on all arms."""
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = float(sender % 2)


@dataclass(frozen=True)
class Ends(Attack):
    """Mean 0 on every arm from every second Byzantine agent, 1 from the rest, with one pull more than the receiver."""

    lie = staticmethod(lie)
    sees_edges = False
