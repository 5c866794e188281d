"""Geometric median: the point with the least sum of distances (Weiszfeld 1937; Pillutla et al. 2022)."""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline, belief_from, thetas_heard
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats, Words

STEPS = 32
CLOSE = 1e-9  # a distance: nearer points weigh no more


@compiled_noinline
def geometric_median(points: Floats) -> Floats:
    """Weiszfeld's steps from the first point; as many as change anything."""
    count, d = points.shape
    centre, following = points[0].copy(), np.empty(d)
    for _ in range(STEPS):
        total, moved = 0.0, False
        for a in range(d):
            following[a] = 0.0
        for row in range(count):
            distance = 0.0
            for a in range(d):
                distance += (points[row, a] - centre[a]) ** 2
            weight = 1.0 / max(CLOSE, math.sqrt(distance))
            total += weight
            for a in range(d):
                following[a] += weight * points[row, a]
        for a in range(d):
            moved |= centre[a] != following[a] / total
            centre[a] = following[a] / total
        if not moved:
            break
    return centre  # type: ignore[no-any-return]


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The geometric median of all θ, worth as much as all of them."""
    thetas = thetas_heard(own, told, rows, arm, x.size)
    belief_from(geometric_median(thetas), float(thetas.shape[0]), own, x, ridge, belief)


@dataclass(frozen=True)
class LinGeometricMedian(ContextBaseline):
    """With contexts: the geometric median of the parameters (Pillutla et al. 2022)."""

    combine = staticmethod(combine)
    trims = False
    knows = "nothing"
