"""Thompson sampling: a mean drawn from the posterior that the belief's pulls would give."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import beta
from byzmab.core.policies.base import Policy, argmax_at_random
from byzmab.core.report import Belief, Floats, Words


@compiled
def samples(belief: Belief, params: Floats, rng: Words) -> Floats:
    """A sample of Beta(a + w z, b + w (1 − z)) for every arm, plus doubt."""
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        weight = belief.weights[arm]
        estimate = min(max(belief.estimates[arm], 0.0), 1.0)
        sample = beta(rng, params[0] + weight * estimate, params[1] + weight * (1.0 - estimate))
        index[arm] = sample + belief.doubts[arm]
    return index


@compiled
def thompson(belief: Belief, time: float, params: Floats, rng: Words) -> int:
    """The arm with the largest sample."""
    return argmax_at_random(samples(belief, params, rng), rng)


def explain(belief: Belief, time: float, params: Floats, rng: Words) -> Floats:
    """The samples that were drawn."""
    return samples(belief, params, rng)


@dataclass(frozen=True)
class Thompson(Policy):
    """A sample of Beta(a + w z, b + w (1 − z)), + d; not in the paper."""

    parameters = "thompson:1,1, the prior's strengths a and b, above 0; 1 and 1, uniform, if not given"
    choose = staticmethod(thompson)
    explain = staticmethod(explain)
    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        if not (0.0 < self.a < math.inf and 0.0 < self.b < math.inf):
            raise self.misunderstood(f"a={self.a},b={self.b}")
