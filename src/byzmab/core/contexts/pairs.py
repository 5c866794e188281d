"""The pairs that reports become at a context, once more in plain Python: for people who ask what became of each.

`shares.py` computes; here it is told, report by report, those included that are nothing at x.
"""

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from byzmab.core.contexts.shares import EQUAL, NOTHING, PROJECTION, joint_spread, project
from byzmab.core.contexts.statistics import LARGEST, NEUTRAL
from byzmab.core.model import Pairs
from byzmab.core.report import Floats


def pairs_of(
    own: Floats,
    told: Floats,
    x: Floats,
    ridge: float,
    shares: int,
    heard: NDArray[np.bool_],
    weights: Floats,
    centre: Floats,
) -> Pairs:
    """The pairs of some rows of statistics on one arm, reports × numbers; `weights` are ω, 0 for who is not heard."""
    if shares == PROJECTION:
        return _projections(own, told, x, ridge, heard)
    d = x.size
    grams, moments = _grams(told, d), told[:, 1 : 1 + d]
    own_gram = _grams(own[None], d)[0]
    v = _solve(own_gram + np.tensordot(weights, grams, 1), ridge, x)
    total, base = 1.0 / float(joint_spread(x, v)), NEUTRAL + float(x @ centre)
    moved = weights * (moments @ v - (grams @ centre) @ v)  # g_j
    own_moved = float(v @ (own[1 : 1 + d] - own_gram @ centre))
    if shares == EQUAL:
        parts = int(heard.sum()) + 1
        own_mean = base + parts * (own_moved - ridge * float(v @ centre))
        return Pairs(total / parts, own_mean, np.where(heard, total / parts, 0.0), base + parts * moved)
    pulls = total * total * weights * ((grams @ v) @ v)
    pulls = np.where(pulls > NOTHING, pulls, 0.0)
    own_pulls = max(total * total * float(v @ own_gram @ v), NOTHING)
    own_mean = base + own_moved * total / own_pulls if own_pulls > NOTHING else base
    return Pairs(own_pulls, own_mean, pulls, base + moved * total / np.where(pulls > 0.0, pulls, 1.0))


def _projections(own: Floats, told: Floats, x: Floats, ridge: float, heard: NDArray[np.bool_]) -> Pairs:
    prior = ridge / float(x @ x)
    pairs = [project(row, x, prior) if hears else (0.0, NEUTRAL) for row, hears in zip(told, heard, strict=True)]
    pulls, mean = project(own, x, prior)
    both = np.array(pairs).reshape(-1, 2)
    return Pairs(max(pulls, NOTHING), mean, both[:, 0], both[:, 1])


def _solve(matrix: Floats, ridge: float, x: Floats) -> Floats:
    """(λI + matrix)⁻¹ x; where λ is nothing next to rounding, with the least larger one that helps."""
    while ridge < LARGEST:
        with suppress(np.linalg.LinAlgError):
            factor = np.linalg.cholesky(matrix + ridge * np.eye(x.size))
            return np.asarray(np.linalg.solve(factor.T, np.linalg.solve(factor, x)), np.float64)
        ridge *= 10.0
    return np.zeros(x.size)


def _grams(rows: Floats, d: int) -> Floats:
    """G of each row, rows × d × d."""
    return rows[:, 1 + 2 * d : 1 + 2 * d + d * d].reshape(-1, d, d)
