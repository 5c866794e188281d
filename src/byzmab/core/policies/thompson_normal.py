"""Thompson sampling from a normal posterior (Agrawal & Goyal 2013): with contexts and nobody heard, LinTS."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import normal
from byzmab.core.policies.base import Policy, argmax_at_random, with_doubt
from byzmab.core.report import Belief, Floats, Words


@compiled
def samples(belief: Belief, params: Floats, rng: Words) -> Floats:
    """A normal sample of mean z and variance v / w for every arm, plus doubt.

    The doubt is limited by a sample from the agent's own data, made of the same random number.
    """
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        draw = normal(rng)
        sample = belief.estimates[arm] + math.sqrt(params[0] / belief.weights[arm]) * draw
        own = belief.own_estimates[arm] + math.sqrt(params[0] / belief.own_weights[arm]) * draw
        index[arm] = with_doubt(sample, belief.doubts[arm], own)
    return index


@compiled
def thompson_normal(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest sample."""
    return argmax_at_random(samples(belief, params, rng), rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The samples that were drawn."""
    return samples(belief, params, rng)


@dataclass(frozen=True)
class ThompsonNormal(Policy):
    """A normal sample of mean z and variance v / w, + d; not in the paper. With contexts, LinTS."""

    parameters = "thompson-normal:0.25, the variance v of a reward, 0 or more; 0.25, its largest, if not given"
    choose = staticmethod(thompson_normal)
    explain = staticmethod(explain)
    v: float = 0.25

    def __post_init__(self) -> None:
        if not 0.0 <= self.v < math.inf:
            raise self.misunderstood(self.v)
