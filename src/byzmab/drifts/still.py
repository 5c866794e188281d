"""No drift: means stay as they are given."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Words
from byzmab.drifts.base import Drift


@compiled
def move(given: Floats, time: int, params: Floats, rng: Words, shifts: Floats) -> None:
    """Nothing is added."""


@dataclass(frozen=True)
class Still(Drift):
    """Means stay as they are given."""

    move = staticmethod(move)
    moves = False
