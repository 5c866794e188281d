"""Greedy: the arm with the largest estimate, without exploring."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.policies.base import Policy, argmax_at_random
from byzmab.core.report import Belief, Floats, Words


@compiled
def greedy(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest estimate."""
    return argmax_at_random(belief.estimates, rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The estimates themselves."""
    return belief.estimates


@dataclass(frozen=True)
class Greedy(Policy):
    """The largest z."""

    choose = staticmethod(greedy)
    explain = staticmethod(explain)
