"""Bernoulli rewards: success or none, as in the paper's experiments."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.draws import unit
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """1 with probability μ."""
    return 1.0 if unit(rng[0]) < pull.mean else 0.0


@dataclass(frozen=True)
class Bernoulli(Rewards):
    """1 with probability μ, else 0."""

    reward = staticmethod(reward)
