"""Mimic: a true report, but not a new one. It wastes evidence."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World, pick_normal_agent
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, knobs: Floats, notes: Floats, rng: Words, report: Report) -> None:
    """The drawn agent's report."""
    copied = int(notes[0, 0])
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[copied, arm]
        report.means[arm] = world.means[copied, arm]


@dataclass(frozen=True)
class Mimic(Attack):
    """Resends the report of one normal agent, drawn each round."""

    meet = staticmethod(pick_normal_agent)
    lie = staticmethod(lie)
    sees_edges = False
