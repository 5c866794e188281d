"""Centred clipping: everybody pulls the centre, but nobody farther than a radius (Karimireddy et al. 2021)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline, belief_from, thetas_heard
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.contexts.statistics import inverse_of
from byzmab.core.report import Floats, Words

STEPS = 3
SIGMA = 0.5  # the largest standard deviation of rewards in [0, 1]


@compiled_noinline
def clipped_mean(points: Floats, radius: float) -> Floats:
    """The centre after some steps from the first point: each adds the mean of what is clipped to the radius."""
    count, d = points.shape
    centre, step = points[0].copy(), np.empty(d)
    for _ in range(STEPS):
        for a in range(d):
            step[a] = 0.0
        for row in range(count):
            length = 0.0
            for a in range(d):
                length += (points[row, a] - centre[a]) ** 2
            share = min(1.0, radius / max(math.sqrt(length), 1e-300)) / count
            for a in range(d):
                step[a] += share * (points[row, a] - centre[a])
        for a in range(d):
            centre[a] += step[a]
    return centre  # type: ignore[no-any-return]


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The clipped mean of all θ around one's own, within so many of your own standard errors, worth all of them."""
    d, variance = x.size, 0.0
    inverse = inverse_of(own, d)
    for a in range(d):
        variance += inverse[a * d + a]
    thetas = thetas_heard(own, told, rows, arm, d)
    radius = params[0] * SIGMA * math.sqrt(variance)
    belief_from(clipped_mean(thetas, radius), float(thetas.shape[0]), own, x, ridge, belief)


@dataclass(frozen=True)
class LinClipped(ContextBaseline):
    """With contexts: centred clipping of the parameters around one's own (Karimireddy et al. 2021)."""

    parameters = "lin-clipped:1.5, the radius in standard errors of one's own θ, above 0; 1.5 if not given"
    combine = staticmethod(combine)
    trims = False
    knows = "nothing"
    radius: float = 1.5

    def __post_init__(self) -> None:
        if not 0.0 < self.radius < math.inf:
            raise self.misunderstood(self.radius)
