"""Flip: the Byzantine agent's own statistics, with the opposite rewards.

All that it tells is possible, from word to word too: no audit refuses it.
"""

from dataclasses import dataclass

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, copy_row
from byzmab.core.compiler import compiled
from byzmab.core.contexts.statistics import moment_of
from byzmab.core.report import Floats, Words


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """Its own n, G and −b, and so −θ."""
    for arm in range(report.shape[0]):
        copy_row(world.statistics[sender, arm], report[arm])
        moment = moment_of(report[arm], world.contexts.shape[1])
        for a in range(moment.size):
            moment[a] = -moment[a]


@dataclass(frozen=True)
class Flip(ContextAttack):
    """With contexts: its own statistics with the opposite rewards."""

    lie_at = staticmethod(lie_at)
