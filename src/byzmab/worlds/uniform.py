"""Uniform rewards: anything around the mean, equally likely."""

from dataclasses import dataclass

from byzmab.core.compiler import compiled
from byzmab.core.draws import unit
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards

MOST = 0.5  # half-width


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """Uniform on μ ± h, h cut so that it stays in [0, 1]."""
    mean = pull.mean
    return mean + (2.0 * unit(rng[0]) - 1.0) * float(min(params[0], mean, 1.0 - mean))


@dataclass(frozen=True)
class Uniform(Rewards):
    """Uniform on μ ± h, h cut so that it stays in [0, 1]."""

    parameters = "uniform:0.5, h in (0, 0.5]; 0.5 if not given"
    reward = staticmethod(reward)
    half_width: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.half_width <= MOST:
            raise self.misunderstood(self.half_width)
