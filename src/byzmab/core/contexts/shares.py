"""At a context x every report becomes a pair: effective pulls n_j and a mean y_j. Filters decide on these, unchanged.

Three ways. **Projection**: what each report by itself knows of x. Simple; the trimmed-mean lemma holds pointwise at x.
**Equal** and **information shares**: solve for all reports together, and let every one be its share of the answer at x.
So reports help that know nothing of x by themselves. With f = 0 and nothing trimmed, the result is the joint ridge
estimate. Take the centre θ₀ and the weights ω_j of `centre.py`, A = λI + G_i + Σ ω_j G_j, v = A⁻¹x and W = 1/(xᵀv).
Then report j moves the answer at x away from xᵀθ₀ by g_j = ω_j vᵀ(b_j − G_j θ₀).
"""

import math
from typing import NamedTuple

from byzmab.core.compiler import compiled_borrowing, compiled_borrowing_noinline
from byzmab.core.contexts.linear import between, dot, factorize
from byzmab.core.contexts.statistics import EPSILON, LARGEST, NEUTRAL, gram_of, moment_of, spread_at, theta_of
from byzmab.core.report import Floats, Words

EQUAL, INFORMATION, PROJECTION = range(3)
SHARES = {"equal": EQUAL, "information": INFORMATION, "projection": PROJECTION}
NOTHING = 1e-9  # pulls: a report that is worth no more at x is silent there, and one's own is worth at least this
PULLS_GRID, MEANS_GRID = 2.0**20, 2.0**44  # of a projection: numbers that differ by rounding alone are the same


class ArmReports(NamedTuple):
    """An agent's own statistics of one arm, and the reports on that arm."""

    own: Floats  # numbers: see core/contexts/statistics.py
    told: Floats  # rows × arms × numbers
    rows: Words  # the rows of the reports
    arm: int
    left_out: Floats  # reports: above 0 for those that vetting leaves out


class OwnPair(NamedTuple):
    """One's own pair at a context, and the ridge's, which is added after the filter."""

    pulls: float  # n_i
    mean: float  # y_i
    prior: float  # pulls of the prior
    prior_total: float  # its pulls times its mean
    heard: int  # reports that became pairs


@compiled_borrowing_noinline
def factorize_jointly(
    own: Floats,
    told: Floats,
    rows: Words,
    arm: int,
    d: int,
    ridge: float,
    weights: Floats,
    left_out: Floats,
    factor: Floats,
    right: Floats,
) -> bool:
    """Write the Cholesky factor of λI + G_i + Σ ω_j G_j over the reports not left out, and b_i + Σ ω_j b_j.

    Where λ is nothing next to the rounding of the others, the least larger one that helps is taken; False if none does.
    """
    shift = ridge
    while shift < LARGEST:
        add_jointly(own, told, rows, arm, d, shift, weights, left_out, factor, right)
        if factorize(factor, d):
            return True
        shift *= 10.0
    return False


@compiled_borrowing_noinline
def add_jointly(
    own: Floats,
    told: Floats,
    rows: Words,
    arm: int,
    d: int,
    ridge: float,
    weights: Floats,
    left_out: Floats,
    matrix: Floats,
    right: Floats,
) -> None:
    """Write λI + G_i + Σ ω_j G_j over the reports not left out, and b_i + Σ ω_j b_j."""
    gram, moment = gram_of(own, d), moment_of(own, d)
    for index in range(d * d):
        matrix[index] = gram[index]
    for a in range(d):
        matrix[a * d + a] += ridge
        right[a] = moment[a]
    for entry in range(rows.size):
        row, weight = told[rows[entry], arm], weights[entry]
        if row[0] > 0.0 and left_out[entry] == 0.0:
            gram, moment = gram_of(row, d), moment_of(row, d)
            for index in range(d * d):
                matrix[index] += weight * gram[index]
            for a in range(d):
                right[a] += weight * moment[a]


@compiled_borrowing
def joint_spread(x: Floats, v: Floats) -> float:
    """xᵀv = 1/W, which is above 0; where it is less than its own rounding, that counts."""
    return max(dot(x, v), EPSILON * math.sqrt(dot(x, x) * dot(v, v)))


@compiled_borrowing
def share_of(row: Floats, v: Floats, centre: Floats, weight: float) -> float:
    """g_j = ω_j vᵀ(b_j − G_j θ₀)."""
    d = v.size
    return weight * (dot(v, moment_of(row, d)) - between(v, gram_of(row, d), centre))


@compiled_borrowing_noinline
def equal_shares(
    at: ArmReports,
    x: Floats,
    v: Floats,
    ridge: float,
    centre: Floats,
    weights: Floats,
    out: Floats,
) -> OwnPair:
    """n_j = W/(q+1), y_j = z₀ + xᵀθ₀ + (q+1) g_j, for q reports; one's own likewise, and the ridge is part of it."""
    base, count = NEUTRAL + dot(x, centre), 0
    for entry in range(at.rows.size):
        row = at.told[at.rows[entry], at.arm]
        if row[0] > 0.0 and at.left_out[entry] == 0.0:
            out[1, count] = share_of(row, v, centre, weights[entry])
            count += 1
    pulls = 1.0 / (joint_spread(x, v) * (count + 1))
    for pair in range(count):
        out[0, pair], out[1, pair] = pulls, base + (count + 1) * out[1, pair]
    share = share_of(at.own, v, centre, 1.0) - ridge * dot(v, centre)
    return OwnPair(pulls, base + (count + 1) * share, 0.0, 0.0, count)


@compiled_borrowing_noinline
def information_shares(
    at: ArmReports,
    x: Floats,
    v: Floats,
    ridge: float,
    centre: Floats,
    weights: Floats,
    out: Floats,
) -> OwnPair:
    """n_j = W² ω_j vᵀG_j v, y_j = z₀ + xᵀθ₀ + g_j W/n_j; the ridge is a report of G = λI and b = 0."""
    d, total, count = x.size, 1.0 / joint_spread(x, v), 0
    base = NEUTRAL + dot(x, centre)
    for entry in range(at.rows.size):
        row = at.told[at.rows[entry], at.arm]
        if row[0] > 0.0 and at.left_out[entry] == 0.0:
            pulls = total * total * weights[entry] * between(v, gram_of(row, d), v)
            if pulls > NOTHING:
                mean = base + share_of(row, v, centre, weights[entry]) * total / pulls
                out[0, count], out[1, count] = pulls, mean
                count += 1
    pulls = total * total * between(v, gram_of(at.own, d), v)
    prior, pull = total * total * ridge * dot(v, v), total * ridge * dot(v, centre)
    mean = base + share_of(at.own, v, centre, 1.0) * total / pulls if pulls > NOTHING else base
    return OwnPair(max(pulls, NOTHING), mean, prior, prior * base - pull, count)


@compiled_borrowing
def project(row: Floats, x: Floats, prior: float) -> tuple[float, float]:
    """n = 1/s − λ/‖x‖² with s = xᵀA⁻¹x, and y = z₀ + xᵀθ/(s n), clipped to [0, 1]; no pulls where that is nothing."""
    spread = spread_at(row, x, prior * dot(x, x))
    pulls = math.floor((1.0 / spread - prior) * PULLS_GRID + 0.5) / PULLS_GRID
    if not pulls > NOTHING:
        return 0.0, NEUTRAL
    mean = NEUTRAL + dot(x, theta_of(row, x.size)) / (spread * pulls)
    return pulls, math.floor(min(max(mean, 0.0), 1.0) * MEANS_GRID + 0.5) / MEANS_GRID


@compiled_borrowing_noinline
def projections(at: ArmReports, x: Floats, ridge: float, out: Floats) -> OwnPair:
    """What every report by itself knows of x; the prior is worth λ/‖x‖² pulls of mean z₀."""
    prior, count = ridge / dot(x, x), 0
    for entry in range(at.rows.size):
        row = at.told[at.rows[entry], at.arm]
        if row[0] > 0.0 and at.left_out[entry] == 0.0:
            pulls, mean = project(row, x, prior)
            out[0, count], out[1, count] = pulls, mean
            count += pulls > 0.0
    pulls, mean = project(at.own, x, prior)
    return OwnPair(max(pulls, NOTHING), mean, prior, prior * NEUTRAL, count)
