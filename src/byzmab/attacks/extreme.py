"""Extreme: the largest bias for a fixed set of consistent neighbours."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """Claim just enough pulls to be heard, and the worst means there are."""
    best = world.bests[receiver]
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = 0.0 if arm == best else 1.0


@dataclass(frozen=True)
class Extreme(Attack):
    """Mean 0 on the best arm and 1 elsewhere, with one pull more than the receiver."""

    lie = staticmethod(lie)
    sees_edges = False
