"""Nearest-neighbour mixing: everybody's parameters become the mean of those nearest to them, then the trimmed mean.

Allouah et al. 2023: mixing with the n − f nearest makes the trimmed mean as robust as can be.
"""

from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline, belief_from, thetas_heard
from byzmab.baselines.contexts.mean import trimmed_mean
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats, Words
from byzmab.core.sorting import value_at


@compiled_noinline
def mix_nearest(points: Floats, nearest: int) -> Floats:
    """Every point as the mean of so many that are nearest to it, itself among them."""
    count, d = points.shape
    mixed, parts, distances, ranked = np.zeros((count, d)), points / nearest, np.zeros((count, count)), np.empty(count)
    for point in range(count):
        for other in range(point):
            distance = 0.0
            for a in range(d):
                distance += (points[other, a] - points[point, a]) ** 2
            distances[point, other] = distances[other, point] = distance
    for point in range(count):
        for other in range(count):
            ranked[other] = distances[point, other]
        farthest, tied = value_at(nearest - 1, ranked), nearest  # of those as far as the last one, so many are taken
        for other in range(count):
            tied -= distances[point, other] < farthest
        for other in range(count):
            distance = distances[point, other]
            if distance < farthest or (distance == farthest and tied > 0):
                tied -= distance == farthest
                for a in range(d):
                    mixed[point, a] += parts[other, a]
    return mixed


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The trimmed mean of mixed θ, worth as much as the n − f that are mixed; one's own of 2f or fewer."""
    thetas = thetas_heard(own, told, rows, arm, x.size)
    count = thetas.shape[0]
    if count <= 2 * f:
        belief_from(thetas[0], 1.0, own, x, ridge, belief)
        return
    belief_from(trimmed_mean(mix_nearest(thetas, count - f), f), float(count - f), own, x, ridge, belief)


@dataclass(frozen=True)
class LinMixing(ContextBaseline):
    """With contexts: nearest-neighbour mixing of the parameters, then trimmed (Allouah et al. 2023)."""

    combine = staticmethod(combine)
