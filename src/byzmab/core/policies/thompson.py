"""Thompson sampling: a mean drawn from the posterior that the belief's pulls would give."""

from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import beta
from byzmab.core.policies.base import Policy, argmax_at_random
from byzmab.core.report import Belief, Floats, Words


@compiled
def samples(belief: Belief, rng: Words) -> Floats:
    """A sample of Beta(1 + w z, 1 + w (1 − z)) for every arm, plus doubt."""
    index = np.empty(belief.estimates.size)
    for arm in range(index.size):
        weight = belief.weights[arm]
        estimate = min(max(belief.estimates[arm], 0.0), 1.0)
        index[arm] = beta(rng, 1.0 + weight * estimate, 1.0 + weight * (1.0 - estimate)) + belief.doubts[arm]
    return index


@compiled
def thompson(belief: Belief, time: int, rng: Words) -> int:
    """The arm with the largest sample."""
    return argmax_at_random(samples(belief, rng), rng)


def explain(belief: Belief, time: int, rng: Words) -> Floats:
    """The samples that were drawn."""
    return samples(belief, rng)


@dataclass(frozen=True)
class Thompson(Policy):
    """A sample of Beta(1 + w z, 1 + w (1 − z)), + d; not in the paper."""

    choose = staticmethod(thompson)
    explain = staticmethod(explain)
