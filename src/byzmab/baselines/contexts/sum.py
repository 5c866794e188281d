"""Sum of statistics: everybody's G and b are added up, as if all pulls were one's own. No defence at all.

DisLinUCB (Wang et al. 2020) adds up statistics through a server; here every agent does so for itself.
"""

from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline
from byzmab.core.compiler import compiled, compiled_borrowing
from byzmab.core.contexts.linear import dot, factorize, solve
from byzmab.core.contexts.statistics import NEUTRAL, gram_of, moment_of
from byzmab.core.report import Floats, Words


@compiled_borrowing
def add_statistics(row: Floats, d: int, matrix: Floats, moment: Floats) -> None:
    """Add G and b of a report."""
    for index in range(d * d):
        matrix[index] += gram_of(row, d)[index]
    for a in range(d):
        moment[a] += moment_of(row, d)[a]


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The ridge estimate of all pulls together, and what it is worth at x."""
    d = x.size
    matrix, moment, v = gram_of(own, d).copy(), moment_of(own, d).copy(), np.empty(d)
    for a in range(d):
        matrix[a * d + a] += ridge
    for row in rows:
        add_statistics(told[row, arm], d, matrix, moment)
    factorize(matrix, d)
    solve(matrix, x, v)
    belief[0], belief[1] = NEUTRAL + dot(v, moment), 1.0 / dot(x, v)


@dataclass(frozen=True)
class LinSum(ContextBaseline):
    """With contexts: adds up everybody's statistics, without defence (as DisLinUCB, Wang et al. 2020)."""

    combine = staticmethod(combine)
    trims = False
    knows = "nothing"
    assumes = "no liars"
