"""Sum of statistics: everybody's G and b are added up, as if all pulls were one's own. No defence at all.

DisLinUCB (Wang et al. 2020) adds up statistics through a server; here every agent does so for itself.
"""

from dataclasses import dataclass

import numpy as np

from byzmab.baselines.contexts.base import ContextBaseline
from byzmab.core.compiler import compiled
from byzmab.core.contexts.linear import dot, solve
from byzmab.core.contexts.shares import factorize_jointly, joint_spread
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats, Words


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """The ridge estimate of all pulls together, and what it is worth at x."""
    d, heard = x.size, rows.size
    factor, moment, v = np.empty(d * d), np.empty(d), np.empty(d)
    factorize_jointly(own, told, rows, arm, d, ridge, np.ones(heard), np.zeros(heard), factor, moment)
    solve(factor, x, v)
    belief[0], belief[1] = NEUTRAL + dot(v, moment), 1.0 / joint_spread(x, v)


@dataclass(frozen=True)
class LinSum(ContextBaseline):
    """With contexts: adds up everybody's statistics, without defence (as DisLinUCB, Wang et al. 2020)."""

    combine = staticmethod(combine)
    trims = False
    knows = "nothing"
    assumes = "no liars"
