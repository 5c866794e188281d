"""The centre θ₀ of an arm: parameters from which all reports together are measured, and how much each of them counts.

A report (G, b) errs at parameters θ by r = b − Gθ. If it is honest and θ is true, rᵀA⁻¹r is ¼ tr(G A⁻¹) on average,
whatever contexts were seen. So a report that errs more than that at the centre counts for less, in inverse proportion:
its influence on the centre is bounded, as in robust regression (Huber 1964). The centre is the answer of all reports
with these weights, and the weights follow from the centre: a few steps, begun at the agent's own θ. The agent's own
statistics count in full. Where no Byzantine agents are expected, all reports do, and the centre is the joint ridge
estimate. Ours; it has no proof.
"""

import math

from byzmab.core.compiler import compiled_borrowing, compiled_borrowing_noinline
from byzmab.core.contexts.comparing import CAPS, CAPS_AT, EXPECTED, FIRST, WEIGHTS
from byzmab.core.contexts.linear import solve
from byzmab.core.contexts.shares import ArmReports, factorize_jointly
from byzmab.core.contexts.statistics import gram_of, inverse_of, theta_of
from byzmab.core.report import Floats

STEPS = 2  # from one's own θ; one is worse without lies, five no better (docs/decisions/0018-trust-at-contexts.md)


@compiled_borrowing
def error_of(row: Floats, theta: Floats, ridge: float) -> float:
    """rᵀA⁻¹r with r = b − Gθ. As b = Aθ_j it is, with δ = θ_j − θ, δᵀGδ + λ(θ_jᵀθ_j − θᵀθ + λ θᵀA⁻¹θ)."""
    d, total, rest = theta.size, 0.0, 0.0
    told, gram, inverse = theta_of(row, d), gram_of(row, d), inverse_of(row, d)
    for a in range(d):
        off, along, across = told[a] - theta[a], 0.0, 0.0
        for b in range(a):
            along += gram[a * d + b] * (told[b] - theta[b])
            across += inverse[a * d + b] * theta[b]
        total += off * (2.0 * along + gram[a * d + a] * off)
        rest += off * (told[a] + theta[a]) + ridge * theta[a] * (2.0 * across + inverse[a * d + a] * theta[a])
    return total + ridge * rest


@compiled_borrowing
def weight_of(row: Floats, theta: Floats, ridge: float, expected: float) -> float:
    """√(¼ tr(G A⁻¹) / rᵀA⁻¹r), at most 1: how much a report counts that errs by r = b − Gθ; the first is given."""
    error = error_of(row, theta, ridge)
    return 1.0 if error <= expected else math.sqrt(expected / error)


@compiled_borrowing_noinline
def write_centre(
    at: ArmReports,
    ridge: float,
    f: int,
    terms: Floats,  # ω is filled in: ρ, at x too, times what a report counts at the centre
    factor: Floats,  # filled in: of λI + G_i + Σ ω_j G_j
    centre: Floats,  # filled in: θ₀
    right: Floats,  # d numbers, to work with
) -> None:
    """Find the centre of an arm; with f = 0 it is the joint estimate, and where nobody is heard one's own."""
    for step in range(STEPS if f > 0 and at.rows.size > 0 else 1):
        for entry in range(at.rows.size):
            row, weight = at.told[at.rows[entry], at.arm], terms[CAPS, entry] * terms[CAPS_AT, entry]
            if f > 0 and row[0] > 0.0 and at.left_out[entry] == 0.0:
                first = step == 0
                weight *= terms[FIRST, entry] if first else weight_of(row, centre, ridge, terms[EXPECTED, entry])
            terms[WEIGHTS, entry] = weight
        weights, d = terms[WEIGHTS], centre.size
        factorize_jointly(at.own, at.told, at.rows, at.arm, d, ridge, weights, at.left_out, factor, right)
        solve(factor, right, centre)
