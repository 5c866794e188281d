"""The centre θ₀ of an arm: parameters from which all reports together are measured, and how much each of them counts.

A report (G, b) errs at parameters θ by r = b − Gθ. If it is honest and θ is true, rᵀA⁻¹r is ¼ tr(G A⁻¹) on average,
whatever contexts were seen. So whoever errs more than that at the centre counts for less, in inverse proportion: its
pull on the centre is bounded, as in robust regression (Huber 1964). The centre is the answer of all reports with these
weights, and the weights follow from the centre: a few steps, begun at one's own θ. One's own statistics count in full.
Where no liars are expected, all do, and the centre is the joint ridge estimate. Ours; it has no proof.
"""

import math

import numpy as np

from byzmab.core.compiler import compiled_noinline
from byzmab.core.contexts.comparing import VARIANCE
from byzmab.core.contexts.linear import between, dot, multiply, solve
from byzmab.core.contexts.shares import factorize_jointly
from byzmab.core.contexts.statistics import gram_of, inverse_of, moment_of, theta_of
from byzmab.core.report import Floats, Words

STEPS = 2  # from one's own θ; one is worse without lies, five no better (docs/concepts/contexts.md)


@compiled_noinline
def weight_of(row: Floats, theta: Floats) -> float:
    """√(¼ tr(G A⁻¹) / rᵀA⁻¹r), at most 1: how much a report counts that errs by r = b − Gθ."""
    d = theta.size
    gram, moment, inverse, residual = gram_of(row, d), moment_of(row, d), inverse_of(row, d), np.empty(d)
    multiply(gram, theta, residual)
    for a in range(d):
        residual[a] = moment[a] - residual[a]
    error, expected = between(residual, inverse, residual), VARIANCE * dot(gram, inverse)
    return 1.0 if error <= expected else math.sqrt(expected / error)


@compiled_noinline
def write_centre(
    own: Floats,
    told: Floats,
    rows: Words,
    arm: int,
    ridge: float,
    f: int,
    caps: Floats,  # ρ
    left_out: Floats,
    weights: Floats,  # filled in: ω, ρ times what a report counts at the centre
    factor: Floats,  # filled in: of λI + G_i + Σ ω_j G_j
    centre: Floats,  # filled in: θ₀
) -> None:
    """Find the centre of an arm; with f = 0 it is the joint estimate, and where nobody is heard one's own."""
    d, theta, right = centre.size, theta_of(own, centre.size), np.empty(centre.size)
    for a in range(d):
        centre[a] = theta[a]
    for _ in range(STEPS if f > 0 and rows.size > 0 else 1):
        for a in range(d):
            right[a] = moment_of(own, d)[a]
        for entry in range(rows.size):
            row, weights[entry] = told[rows[entry], arm], caps[entry]
            if row[0] > 0.0 and left_out[entry] == 0.0:
                weights[entry] *= weight_of(row, centre) if f > 0 else 1.0
                for a in range(d):
                    right[a] += weights[entry] * moment_of(row, d)[a]
        factorize_jointly(own, told, rows, arm, d, ridge, weights, left_out, factor)
        solve(factor, right, centre)
