"""Thompson sampling: a mean drawn from the posterior that the belief's pulls would give."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import beta
from byzmab.core.policies.base import Policy, argmax_at_random, with_doubt
from byzmab.core.report import Belief, Floats, Words


@compiled
def sample(estimate: float, weight: float, params: Floats, rng: Words) -> float:
    """A sample of Beta(a + w z, b + w (1 − z))."""
    mean = min(max(estimate, 0.0), 1.0)
    return float(beta(rng, params[0] + weight * mean, params[1] + weight * (1.0 - mean)))


@compiled
def samples(belief: Belief, params: Floats, rng: Words) -> Floats:
    """A sample of Beta(a + w z, b + w (1 − z)) for every arm, plus doubt.

    The doubt is limited by a sample from the agent's own data, made of the same random numbers.
    """
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        before = rng[0]
        index[arm] = sample(belief.estimates[arm], belief.weights[arm], params, rng)
        if belief.doubts[arm] > 0.0:
            after, rng[0] = rng[0], before
            own = sample(belief.own_estimates[arm], belief.own_weights[arm], params, rng)
            index[arm], rng[0] = with_doubt(index[arm], belief.doubts[arm], own), after
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
