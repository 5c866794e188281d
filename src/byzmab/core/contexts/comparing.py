"""Comparing each report with one's own statistics: how much of it may count, and whether it contradicts one's own data.

Vetting sees lies that no single context shows: the parameters that a neighbour tells are held against one's own on all
that one has seen. Ours; it has no proof.
"""

import math

from byzmab.core.compiler import compiled_borrowing, compiled_borrowing_noinline
from byzmab.core.contexts.linear import between, form, multiply, trace_of
from byzmab.core.contexts.shares import ArmReports
from byzmab.core.contexts.statistics import gram_of, inverse_of, theta_of
from byzmab.core.report import Floats, Words
from byzmab.core.sorting import value_at

# Of every arm and report: T, D, E, ¼ tr(G_j A_j⁻¹) by `compare`, and the weight at one's own θ; ρ by `write_caps`,
# that at the present context by `write_caps_at`; ω by `write_centre`.
INFORMATION, DISTANCES, SPREADS, EXPECTED, FIRST, CAPS, CAPS_AT, WEIGHTS = range(8)
TERMS = 8  # so many
MOST_INFORMATION = 2.0  # nobody counts for more than so many times oneself, or than an honest neighbour if that is more
VARIANCE = 0.25  # the largest of rewards in [0, 1]


@compiled_borrowing
def information_of(row: Floats, d: int) -> float:
    """tr(G A⁻¹): in how many dimensions a report knows something, at most d."""
    return max(trace_of(gram_of(row, d), inverse_of(row, d), d), 0.0)


@compiled_borrowing
def compare(own: Floats, information: float, row: Floats, d: int, entry: int, terms: Floats) -> None:
    """Fill in how a report on an arm compares with one's own row, of which tr(G_i A_i⁻¹) is given.

    T_j = tr(G_j A_i⁻¹), D_j = (θ_j − θ_i)ᵀ G_i (θ_j − θ_i), E_j = ¼ tr(G_i (A_i⁻¹ + A_j⁻¹)).
    """
    gram, inverse = gram_of(own, d), inverse_of(own, d)
    others_gram, others_inverse = gram_of(row, d), inverse_of(row, d)
    own_on_other, other_on_own, other_on_itself = 0.0, 0.0, 0.0
    for a in range(d):  # three traces at once, so that every matrix is read once; of each the lower triangle
        first, second, third = 0.0, 0.0, 0.0
        for b in range(a):
            at = a * d + b
            first += gram[at] * others_inverse[at]
            second += others_gram[at] * inverse[at]
            third += others_gram[at] * others_inverse[at]
        at = a * d + a
        own_on_other += 2.0 * first + gram[at] * others_inverse[at]
        other_on_own += 2.0 * second + others_gram[at] * inverse[at]
        other_on_itself += 2.0 * third + others_gram[at] * others_inverse[at]
    # none of these is below 0, but where rounding next to a small λ makes it so
    terms[INFORMATION, entry] = max(other_on_own, 0.0)
    terms[DISTANCES, entry] = form(gram, theta_of(row, d), theta_of(own, d))
    terms[SPREADS, entry] = VARIANCE * (information + max(own_on_other, 0.0))
    terms[EXPECTED, entry] = VARIANCE * max(other_on_itself, 0.0)


@compiled_borrowing
def write_caps(information: float, count: int, f: int, terms: Floats) -> None:
    """With M the (f+1)-th largest T_j of all reports on an arm, ρ_j = min(1, max(2 T_i, M) / T_j)."""
    for entry in range(count):
        terms[CAPS, entry] = terms[INFORMATION, entry]
    limit = most_of(MOST_INFORMATION * information, terms[CAPS, :count], f)  # of a copy, whose order changes
    for entry in range(count):
        others = terms[INFORMATION, entry]
        terms[CAPS, entry] = 1.0 if others <= limit else limit / others


@compiled_borrowing_noinline
def write_caps_at(
    at: ArmReports,
    x: Floats,
    f: int,
    terms: Floats,
    u: Floats,  # d numbers, to work with
    work: Floats,  # as many as reports, to work with
) -> bool:
    """Write the caps at x alone: min(1, max(U_i, M) / U_j) with u = A_i⁻¹x, U_j = uᵀG_j u, M the (f+1)-th largest U_j.

    Only reports that are not left out count; return whether any cap is below 1. An agent that claims to have seen
    nothing but x is within ρ, and would still count for many at x.
    """
    d, heard = x.size, 0
    multiply(inverse_of(at.own, d), x, u)
    for entry in range(at.rows.size):
        terms[CAPS_AT, entry] = 0.0
        row = at.told[at.rows[entry], at.arm]
        if f > 0 and row[0] > 0.0 and at.left_out[entry] == 0.0:
            work[heard] = terms[CAPS_AT, entry] = between(u, gram_of(row, d), u)
            heard += 1
    limit, cuts = most_of(between(u, gram_of(at.own, d), u), work[:heard], f), False
    for entry in range(at.rows.size):
        others = terms[CAPS_AT, entry]
        cuts |= others > limit
        terms[CAPS_AT, entry] = limit / others if others > limit else 1.0
    return cuts


@compiled_borrowing
def most_of(limit: float, told: Floats, f: int) -> float:
    """How much a report may count for: a limit, or the (f+1)-th largest of all, which is no more than an honest one's.

    So an agent that saw other contexts than the receiver is not cut down for knowing more there, unless it claims more
    than honest neighbours do.
    """
    honest = value_at(told.size - 1 - f, told) if told.size > f else 0.0
    return max(limit, honest) if honest < math.inf else limit


@compiled_borrowing
def allowance(log_time: float, dimensions: float) -> float:
    """How many times its expectation a sum of so many squares may be: 1 + 2√(L/d) + 2L/d, after Laurent & Massart."""
    return 1.0 + 2.0 * math.sqrt(log_time / dimensions) + 2.0 * log_time / dimensions


@compiled_borrowing
def allowances(time: int, d: int, arms: int) -> tuple[float, float]:
    """What is allowed on one arm, and over all of them."""
    log_time = math.log(max(time, 1))
    return allowance(log_time, float(d)), allowance(log_time, float(d * arms))


@compiled_borrowing
def score_of(distances: Floats, spreads: Floats, allowed: tuple[float, float]) -> float:
    """How far a neighbour's parameters are from one's own, over all arms or on one; above 1 they contradict one's data.

    Arms of spread 0 do not count.
    """
    worst, distance, spread = 0.0, 0.0, 0.0
    for arm in range(distances.size):
        if spreads[arm] > 0.0:
            worst = max(worst, distances[arm] / (spreads[arm] * allowed[0]))
            distance, spread = distance + distances[arm], spread + spreads[arm]
    if spread > 0.0:
        worst = max(worst, distance / (spread * allowed[1]))
    return worst


@compiled_borrowing_noinline
def vet(
    told: Floats, rows: Words, terms: Floats, time: int, d: int, f: int, left_out: Floats, work: tuple[Floats, Floats]
) -> int:
    """Mark in `left_out` the at most f reports with the largest scores above 1; return how many.

    `terms` is arms × TERMS × reports, as `compare` fills it; `work` are two arrays as long as there are arms or
    reports.
    """
    arms, scores = told.shape[1], left_out
    distances, spreads, allowed = work[0][:arms], work[1][:arms], allowances(time, d, arms)
    for entry in range(rows.size):
        for arm in range(arms):
            speaks = told[rows[entry], arm, 0] > 0.0
            distances[arm] = terms[arm, DISTANCES, entry]
            spreads[arm] = terms[arm, SPREADS, entry] if speaks else 0.0
        scores[entry] = score_of(distances, spreads, allowed)
    return mark_largest(scores[: rows.size], 1.0, f)


@compiled_borrowing
def mark_largest(scores: Floats, above: float, most: int) -> int:
    """Put 1 for the largest scores above a bound, at most so many, and 0 for all others; return how many."""
    marked = 0
    while marked < most:
        largest = -1
        for entry in range(scores.size):
            if scores[entry] > above and (largest < 0 or scores[entry] > scores[largest]):
                largest = entry
        if largest < 0:
            break
        scores[largest] = -1.0
        marked += 1
    for entry in range(scores.size):
        scores[entry] = 1.0 if scores[entry] == -1.0 else 0.0
    return marked
