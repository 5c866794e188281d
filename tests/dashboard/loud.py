"""An attack that is always trimmed and never proven: its own pulls, with the worst reward for the first arm and the best for others."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack
from byzmab.core.compiler import compiled


@compiled
def lie(world, sender, receiver, params, scratch, rng, report):
    """A tally that could be: every pull of the first arm brought 0, every other one 1."""
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[sender, arm]
        report.means[arm] = 0.0 if arm == 0 else 1.0


@dataclass(frozen=True)
class Loud(Attack):
    """The same to all, and a tally that only grows."""

    lie = staticmethod(lie)
