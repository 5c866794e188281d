"""Beta rewards: spread over (0, 1), the wider the smaller their concentration."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.draws import beta
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards

MOST = 1e9  # concentration


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """A Beta number of mean μ; μ itself where that is 0 or 1."""
    mean, concentration = pull.mean, params[0]
    if mean <= 0.0 or mean >= 1.0:
        return mean
    return beta(rng, concentration * mean, concentration * (1.0 - mean))


@dataclass(frozen=True)
class Beta(Rewards):
    """Beta(c μ, c (1 − μ)): the variance is μ (1 − μ) / (c + 1)."""

    parameters = "beta:4, the concentration c above 0; 4 if not given"
    reward = staticmethod(reward)
    concentration: float = 4.0

    def __post_init__(self) -> None:
        if not 0.0 < self.concentration <= MOST:
            raise self.misunderstood(self.concentration)
