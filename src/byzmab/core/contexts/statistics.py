"""What an agent knows of one arm where rewards depend on a context x: the statistics of a ridge regression.

The mean reward at x is z₀ + xᵀθ. Of n pulls at contexts x with rewards r an agent keeps G = Σ x xᵀ and
b = Σ x (r − z₀); with A = λI + G the estimate is θ = A⁻¹b. All of it stands in one row of numbers:

    n | b (d numbers) | θ (d) | G (d², flat) | A⁻¹ (d², flat)

An agent's own statistics are a table, arms × `row_size(d)`; reports heard are a table of such tables. A row of zeros
is silence: no pulls. θ and A⁻¹ follow from the rest (`derive`), so that a report need not carry them.
"""

import numpy as np

from byzmab.core.compiler import (
    compiled,
    compiled_borrowing,
    compiled_borrowing_noinline,
    compiled_noinline,
    compiled_view,
)
from byzmab.core.contexts.linear import add_outer, between, dot, factorize, invert, multiply
from byzmab.core.report import Floats

NEUTRAL = 0.5  # z₀: the mean of a reward of which nothing is known
RIDGE = 1.0  # λ where it is not given
LEAST_RIDGE, MOST_RIDGE = 1e-15, 1e12
ROUNDING = 1e-9  # of a sum of n numbers, as a share of n: more than rounding is no accident
EPSILON = 2.0**-52  # of one addition; where all err to one side, as at one context, the share grows by it with n
LARGEST = 1e100  # of what may be told: squares of larger numbers are no numbers any more
NEGLIGIBLE = 2.0**-20  # of λ: by so much eigenvalues of what is told may be below 0, whoever else tells the same


@compiled
def row_size(d: int) -> int:
    """How many numbers a row has for contexts of d dimensions."""
    return 1 + 2 * d + 2 * d * d


@compiled_view
def moment_of(row: Floats, d: int) -> Floats:
    """b of a row, a view."""
    return row[1 : 1 + d]


@compiled_view
def theta_of(row: Floats, d: int) -> Floats:
    """θ of a row, a view."""
    return row[1 + d : 1 + 2 * d]


@compiled_view
def gram_of(row: Floats, d: int) -> Floats:
    """G of a row, flat, a view."""
    return row[1 + 2 * d : 1 + 2 * d + d * d]


@compiled_view
def inverse_of(row: Floats, d: int) -> Floats:
    """A⁻¹ of a row, flat, a view."""
    return row[1 + 2 * d + d * d : 1 + 2 * d + 2 * d * d]


@compiled_borrowing
def spread_at(row: Floats, x: Floats, ridge: float) -> float:
    """xᵀA⁻¹x. As A ≤ (λ + n) I it is ‖x‖²/(λ + n) or more; where rounding has taken that away, half of it."""
    least: float = 0.5 * dot(x, x) / (ridge + row[0])
    return max(between(x, inverse_of(row, x.size), x), least)


@compiled
def slack_of(pulls: float) -> float:
    """How far sums over so many pulls may be off by rounding."""
    return (ROUNDING + EPSILON * pulls) * max(1.0, pulls)


@compiled
def factorize_gram(row: Floats, d: int, shift: float, out: Floats) -> bool:
    """Write the Cholesky factor of G + shift · I; False if it has none."""
    gram = gram_of(row, d)
    for index in range(d * d):
        out[index] = gram[index]
    for a in range(d):
        out[a * d + a] += shift
    return factorize(out, d)


@compiled_noinline
def derive(row: Floats, d: int, ridge: float) -> bool:
    """Fill in θ and A⁻¹ from G and b by a direct solve; False where A is not positive definite.

    Where rounding alone, next to which λ is nothing, has made it so, the least larger λ that helps is taken.
    """
    inverse, factor, shift, slack = inverse_of(row, d), np.empty(d * d), ridge, slack_of(row[0])
    while not factorize_gram(row, d, shift, factor):
        if not shift < slack:
            return False
        shift *= 10.0
    invert(factor, d, inverse)
    multiply(inverse, moment_of(row, d), theta_of(row, d))
    return True


@compiled_borrowing
def can_count(row: Floats, d: int) -> bool:
    """Whether n and b are numbers to count with, and n is above 0."""
    sound: bool = 0.0 < row[0] < LARGEST
    for value in moment_of(row, d):
        sound &= -LARGEST < value < LARGEST
    return sound


@compiled_noinline
def is_gram(row: Floats, d: int, slack: float) -> bool:
    """Whether G is finite, symmetric and positive semidefinite, but for rounding."""
    gram, symmetric = gram_of(row, d), True
    for a in range(d):
        for b in range(a + 1):
            entry = gram[a * d + b]
            symmetric &= -LARGEST < entry < LARGEST and abs(entry - gram[b * d + a]) <= slack
    return symmetric and factorize_gram(row, d, slack, np.empty(d * d))


@compiled_noinline
def lift_gram(row: Floats, d: int, ridge: float, slack: float) -> None:
    """Add to G, which is positive semidefinite but for a slack, the least s · I by which it is so but for nothing.

    With the n of a Byzantine agent, the slack is as large as that agent likes. A G below 0 would take away from what
    all others know.
    """
    shift, factor = NEGLIGIBLE * ridge, np.empty(d * d)
    if slack <= shift or factorize_gram(row, d, shift, factor):
        return
    while shift < slack and not factorize_gram(row, d, shift, factor):
        shift *= 10.0
    for a in range(d):
        gram_of(row, d)[a * d + a] += shift


@compiled_noinline
def hear(row: Floats, d: int, ridge: float) -> bool:
    """`derive` for a report; False, and silence, where n or b is not finite, or G is no Gram matrix."""
    if can_count(row, d) and is_gram(row, d, slack_of(row[0])):
        lift_gram(row, d, ridge, slack_of(row[0]))
        if derive(row, d, ridge):
            return True
    for index in range(row.size):
        row[index] = 0.0
    return False


@compiled_borrowing_noinline
def hear_as(row: Floats, known: Floats, d: int) -> bool:
    """`hear` a report with the n and G of a row whose A⁻¹ is known, by copying that; False if they are others."""
    if row[0] != known[0] or not can_count(row, d):
        return False
    gram, inverse = gram_of(row, d), inverse_of(row, d)
    for index in range(d * d):
        if gram[index] != gram_of(known, d)[index]:
            return False
    for index in range(d * d):
        inverse[index] = inverse_of(known, d)[index]
    multiply(inverse, moment_of(row, d), theta_of(row, d))
    return True


def empty_statistics(arms: int, d: int, ridge: float) -> Floats:
    """The statistics of an agent without a pull: all zero, but A⁻¹ = I/λ."""
    own = np.zeros((arms, row_size(d)))
    own[:, -d * d :] = np.eye(d).ravel() / ridge
    return own


@compiled_borrowing_noinline
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
    theta = theta_of(row, d)
    multiply(inverse, x, theta)  # A⁻¹x, for the time being
    add_outer(inverse, theta, -1.0 / (1.0 + dot(x, theta)))
    multiply(inverse, moment, theta)
