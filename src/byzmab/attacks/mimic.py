"""Mimic: a true report, but not a new one. It wastes evidence."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World, pick_normal_agent
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The drawn agent's report."""
    copied = int(scratch[0, 0])
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[copied, arm]
        report.means[arm] = world.means[copied, arm]


@dataclass(frozen=True)
class Mimic(Attack):
    """Resends the report of one honest agent, drawn each round."""

    start_round = staticmethod(pick_normal_agent)
    lie = staticmethod(lie)
    equivocates = False
    sees_edges = False
