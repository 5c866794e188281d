"""What an algorithm is where rewards depend on contexts: one's own statistics and those heard become a belief at x.

The policy stays the one that is chosen, so that all are compared with the same width.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.baselines.base import Baseline
from byzmab.core.believe import is_sound
from byzmab.core.compiler import compiled
from byzmab.core.contexts.believe import Inbox, Reading, Scratch
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import NEUTRAL, spread_at, theta_of
from byzmab.core.mistakes import Contract, nothing
from byzmab.core.report import Belief, Floats, Words

COMBINE = Contract(
    {
        "own": np.empty(0),
        "told": np.empty((0, 0, 0)),
        "rows": np.empty(0, np.uint64),
        "arm": 0,
        "x": np.empty(0),
        "f": 0,
        "ridge": 1.0,
        "params": np.empty(0),
        "belief": np.empty(2),
    },
    "nothing",
    nothing,
)


@dataclass(frozen=True)
class ContextBaseline(Baseline):
    """A rule that turns statistics into a belief at a context. It provides one compiled function for one arm:

        combine(own, told, rows, arm, x, f, ridge, params, belief)

    which fills in `belief` with an estimate and a weight. `own` is one's own row, and `told[row, arm]` for each of
    `rows` is a report, as core/contexts/statistics.py has them; a report of no pulls is silence.
    """

    function: ClassVar[str] = "combine"
    decide: ClassVar[Any] = None
    update: ClassVar[Any] = None
    combine: ClassVar[Any]
    hears: ClassVar[bool] = True

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "combine", getattr(cls, "combine", None), COMBINE


@compiled
def combine(
    own: Floats, told: Floats, rows: Words, arm: int, x: Floats, f: int, ridge: float, params: Floats, belief: Floats
) -> None:
    """LinUCB: one's own ridge estimate and what it is worth at x."""
    belief_from(theta_of(own, x.size), 1.0, own, x, ridge, belief)


@compiled
def belief_from(theta: Floats, agents: float, own: Floats, x: Floats, ridge: float, belief: Floats) -> None:
    """The estimate of θ at x, worth as much as so many agents who know as much as oneself."""
    belief[0] = NEUTRAL + dot(x, theta)
    belief[1] = agents / spread_at(own, x, ridge)


@compiled
def thetas_heard(own: Floats, told: Floats, rows: Words, arm: int, d: int) -> Floats:
    """The parameters of oneself, first, and of all who are heard on an arm: one row each."""
    thetas, count = np.empty((rows.size + 1, d)), 1
    thetas[0] = theta_of(own, d)
    for row in rows:
        if told[row, arm, 0] > 0.0:
            thetas[count] = theta_of(told[row, arm], d)
            count += 1
    return thetas[:count]


def believe_combined(
    own: Floats,
    own_versions: Words,
    inbox: Inbox,
    x: Floats,
    reading: Reading,
    params: Floats,
    scratch: Scratch,
    belief: Belief,
) -> bool:
    """`believe_at` of an algorithm: no pairs, no filter, no doubt."""
    sound, pair = True, np.empty(2)
    for arm in range(own.shape[0]):
        pair[0] = pair[1] = np.nan  # what is not filled in is no belief
        combine(own[arm], inbox.told, inbox.rows, arm, x, reading.f, reading.ridge, params, pair)
        belief.estimates[arm], belief.weights[arm], belief.doubts[arm] = pair[0], pair[1], 0.0
        belief.own_estimates[arm] = NEUTRAL + dot(x, theta_of(own[arm], x.size))
        belief.own_weights[arm] = 1.0 / spread_at(own[arm], x, reading.ridge)
        sound &= is_sound(pair[0], pair[1], 0.0)
    return sound


@dataclass(frozen=True)
class LinUcb(ContextBaseline):
    """With contexts: hears nobody; LinUCB with the policy's width (Li et al. 2010), LinTS with `thompson-normal`."""

    combine = staticmethod(combine)
    hears = False
    trims = False
    knows = "nothing"
