"""The pairs that reports become at a context, once more in plain Python: for people who ask what became of each.

`shares.py` computes; here it is told, report by report, those included that are nothing at x.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.contexts.shares import EQUAL, NOTHING, PROJECTION, project
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats


class Pairs(NamedTuple):
    """One's own pair on an arm, and those of the reports heard; no pulls where a report is nothing at x."""

    own_pulls: float
    own_mean: float
    pulls: Floats  # n_j
    means: Floats  # y_j


def pairs_of(own: Floats, told: Floats, x: Floats, ridge: float, shares: int, caps: Floats) -> Pairs:
    """The pairs of some rows of statistics on one arm, reports × numbers; `caps` are ρ, 0 for what is left out."""
    if shares == PROJECTION:
        return _projections(own, told, x, ridge, caps)
    d = x.size
    grams, moments = _grams(told, d), told[:, 1 : 1 + d]
    joint = ridge * np.eye(d) + _grams(own[None], d)[0] + np.tensordot(caps, grams, 1)
    v, theta = np.linalg.solve(joint, x), own[1 + d : 1 + 2 * d]
    total, base = 1.0 / float(x @ v), NEUTRAL + float(x @ theta)
    moved = caps * (moments @ v - (grams @ theta) @ v)  # g_j
    if shares == EQUAL:
        parts = int((caps > 0.0).sum()) + 1
        return Pairs(total / parts, base, np.where(caps > 0.0, total / parts, 0.0), base + parts * moved)
    pulls = total * total * caps * ((grams @ v) @ v)
    pulls = np.where(pulls > NOTHING, pulls, 0.0)
    own_pulls = max(total * total * float(v @ _grams(own[None], d)[0] @ v), NOTHING)
    own_mean = base + total * ridge * float(v @ theta) / own_pulls if own_pulls > NOTHING else base
    return Pairs(own_pulls, own_mean, pulls, base + moved * total / np.where(pulls > 0.0, pulls, 1.0))


def _projections(own: Floats, told: Floats, x: Floats, ridge: float, caps: Floats) -> Pairs:
    prior = ridge / float(x @ x)
    pairs = [project(row, x, prior) if cap > 0.0 else (0.0, NEUTRAL) for row, cap in zip(told, caps, strict=True)]
    pulls, mean = project(own, x, prior)
    both = np.array(pairs).reshape(-1, 2)
    return Pairs(max(pulls, NOTHING), mean, both[:, 0], both[:, 1])


def _grams(rows: Floats, d: int) -> Floats:
    """G of each row, rows × d × d."""
    return rows[:, 1 + 2 * d : 1 + 2 * d + d * d].reshape(-1, d, d)
