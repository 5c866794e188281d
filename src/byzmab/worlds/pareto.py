r"""Pareto rewards: heavy-tailed within [0, 1]. Most are small, few are near 1, and those make up much of the mean.

A Pareto number on [L, 1], of density ∝ x^(−α−1). L, the smallest reward, is chosen such that the mean is μ: with
y = −ln L,

    μ = α / (e^(αy) − 1) · (e^((α−1) y) − 1) / (α − 1),    the last fraction being y at α = 1,

which falls from 1 to 0 as y grows.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import unit
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards, where_rising

LEAST, MOST = 0.01, 100.0  # α
FARTHEST = math.log(1e12)  # ln y, either way


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """L (1 − u (1 − L^α))^(−1/α), by its logarithm; μ itself where that is 0 or 1."""
    if pull.mean <= 0.0 or pull.mean >= 1.0:
        return pull.mean
    y, alpha = pull.prepared, params[0]
    return min(math.exp(-y - math.log1p(unit(rng[0]) * math.expm1(-alpha * y)) / alpha), 1.0)


def mean_of(y: Floats, alpha: float) -> Floats:
    """The mean of Pareto numbers on [e^−y, 1], written such that no factor grows without end."""
    b = abs(alpha - 1.0)
    integral = y if b == 0.0 else -np.expm1(-b * y) / b
    return np.asarray(alpha * np.exp(-min(alpha, 1.0) * y) * integral / -np.expm1(-alpha * y))


@dataclass(frozen=True)
class Pareto(Rewards):
    """Heavy-tailed: Pareto of shape α on [L, 1], L chosen such that the mean is μ."""

    parameters = "pareto:1.5, the shape α in [0.01, 100], the smaller the heavier; 1.5 if not given"
    reward = staticmethod(reward)
    alpha: float = 1.5

    def __post_init__(self) -> None:
        if not LEAST <= self.alpha <= MOST:
            raise self.misunderstood(self.alpha)

    def prepare(self, means: Floats) -> Floats:
        """y = −ln L of every mean."""
        return np.exp(where_rising(lambda log_y: -mean_of(np.exp(log_y), self.alpha), -means, -FARTHEST, FARTHEST))
