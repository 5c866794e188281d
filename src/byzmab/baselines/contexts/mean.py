"""Mean of the parameters, plain, or trimmed coordinate by coordinate (Yin et al. 2018)."""

from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline, belief_from, thetas_heard
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.filters.trimmed import sum_without_extremes
from byzmab.core.report import Floats, Words


@compiled_noinline
def trimmed_mean(thetas: Floats, f: int) -> Floats:
    """The mean of rows, of every coordinate without its f largest and f smallest; the first row of 2f or fewer."""
    count = thetas.shape[0]
    if count <= 2 * f:
        return thetas[0].copy()  # type: ignore[no-any-return]
    mean, values = np.empty(thetas.shape[1]), np.empty(count)
    for a in range(mean.size):
        for row in range(count):
            values[row] = thetas[row, a]
        mean[a] = sum_without_extremes(values, f) / (count - 2 * f)
    return mean


@compiled
def combine_all(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The mean θ, worth as much as all who are averaged."""
    thetas = thetas_heard(own, told, rows, arm, x.size)
    belief_from(trimmed_mean(thetas, 0), float(thetas.shape[0]), own, x, ridge, belief)


@compiled
def combine_trimmed(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The trimmed mean θ, worth as much as those who are left."""
    thetas = thetas_heard(own, told, rows, arm, x.size)
    belief_from(trimmed_mean(thetas, f), float(max(1, thetas.shape[0] - 2 * f)), own, x, ridge, belief)


@dataclass(frozen=True)
class LinMean(ContextBaseline):
    """With contexts: the mean of everybody's parameters, without defence."""

    combine = staticmethod(combine_all)
    trims = False
    knows = "nothing"
    assumes = "no liars"


@dataclass(frozen=True)
class LinTrimmed(ContextBaseline):
    """With contexts: the coordinate-wise trimmed mean of the parameters (Yin et al. 2018)."""

    combine = staticmethod(combine_trimmed)
