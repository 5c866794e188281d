"""What an agent knows of one arm where rewards depend on a context x: the statistics of a ridge regression.

The mean reward at x is z₀ + xᵀθ. Of n pulls at contexts x with rewards r an agent keeps G = Σ x xᵀ and
b = Σ x (r − z₀); with A = λI + G the estimate is θ = A⁻¹b. All of it stands in one row of numbers:

    n | b (d numbers) | θ (d) | G (d², flat) | A⁻¹ (d², flat)

An agent's own statistics are a table, arms × `row_size(d)`; reports heard are a table of such tables. A row of zeros
is silence: no pulls. θ and A⁻¹ follow from the rest (`derive`), so that a report need not carry them.
"""

import math

import numpy as np

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.contexts.linear import add_outer, dot, factorize, invert, multiply
from byzmab.core.report import Floats

NEUTRAL = 0.5  # z₀: the mean of a reward of which nothing is known
RIDGE = 1.0  # λ where it is not given
ROUNDING = 1e-9  # of a sum of n numbers, as a share of n: more than rounding is no accident


@compiled
def row_size(d: int) -> int:
    """How many numbers a row has for contexts of d dimensions."""
    return 1 + 2 * d + 2 * d * d


@compiled
def moment_of(row: Floats, d: int) -> Floats:
    """b of a row, a view."""
    return row[1 : 1 + d]


@compiled
def theta_of(row: Floats, d: int) -> Floats:
    """θ of a row, a view."""
    return row[1 + d : 1 + 2 * d]


@compiled
def gram_of(row: Floats, d: int) -> Floats:
    """G of a row, flat, a view."""
    return row[1 + 2 * d : 1 + 2 * d + d * d]


@compiled
def inverse_of(row: Floats, d: int) -> Floats:
    """A⁻¹ of a row, flat, a view."""
    return row[1 + 2 * d + d * d : 1 + 2 * d + 2 * d * d]


@compiled_noinline
def derive(row: Floats, d: int, ridge: float) -> bool:
    """Fill in θ and A⁻¹ from G and b by a direct solve; False where A is not positive definite."""
    inverse, factor = inverse_of(row, d), gram_of(row, d).copy()
    for a in range(d):
        factor[a * d + a] += ridge
    if not factorize(factor, d):
        return False
    invert(factor, d, inverse)
    multiply(inverse, moment_of(row, d), theta_of(row, d))
    return True


@compiled_noinline
def hear(row: Floats, d: int, ridge: float) -> bool:
    """The same for a report; False, and silence, where n, b or G is not finite, or G not positive semidefinite."""
    factor = gram_of(row, d).copy()
    for a in range(d):
        factor[a * d + a] += ROUNDING * max(1.0, row[0])
    sound = 0.0 < row[0] < math.inf
    for value in row[: 1 + d]:
        sound &= -math.inf < value < math.inf
    if sound and factorize(factor, d) and derive(row, d, ridge):
        return True
    for index in range(row.size):
        row[index] = 0.0
    return False


def empty_statistics(arms: int, d: int, ridge: float) -> Floats:
    """The statistics of an agent without a pull: all zero, but A⁻¹ = I/λ."""
    own = np.zeros((arms, row_size(d)))
    own[:, -d * d :] = np.eye(d).ravel() / ridge
    return own


@compiled_noinline
def observe(row: Floats, x: Floats, reward: float, ridge: float) -> None:
    """Count the reward of one pull at a context: a rank-one update of A⁻¹ (Sherman & Morrison 1950).

    Whenever the count has doubled, A⁻¹ is computed afresh, so that rounding does not pile up.
    """
    d = x.size
    moment, inverse = moment_of(row, d), inverse_of(row, d)
    row[0] += 1.0
    for a in range(d):
        moment[a] += x[a] * (reward - NEUTRAL)
    add_outer(gram_of(row, d), x, 1.0)
    pulls = int(row[0])
    if pulls & (pulls - 1) == 0:  # a power of two
        derive(row, d, ridge)
        return
    direction = np.empty(d)
    multiply(inverse, x, direction)
    add_outer(inverse, direction, -1.0 / (1.0 + dot(x, direction)))
    multiply(inverse, moment, theta_of(row, d))
