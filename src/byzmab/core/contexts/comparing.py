"""Comparing each report with one's own statistics: how much of it may count, and whether it contradicts one's own data.

Vetting sees lies that no single context shows: the parameters that a neighbour tells are held against one's own on all
that one has seen. Ours; it has no proof.
"""

import math

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.contexts.linear import dot
from byzmab.core.contexts.statistics import gram_of, inverse_of, theta_of
from byzmab.core.report import Floats, Words
from byzmab.core.sorting import value_at

CAPS, DISTANCES, SPREADS, WEIGHTS = range(4)  # of every arm and report: ρ, D and E by `compare`; ω by `write_centre`
TERMS = 4  # so many
MOST_INFORMATION = 2.0  # nobody counts for more than so many times oneself, or than an honest neighbour if that is more
VARIANCE = 0.25  # the largest of rewards in [0, 1]


@compiled_noinline
def compare(own: Floats, told: Floats, rows: Words, arm: int, d: int, f: int, terms: Floats) -> None:
    """Fill in, for every report on an arm, how it compares with one's own row.

    With T_j = tr(G_j A_i⁻¹) and its (f+1)-th largest value M, ρ_j = min(1, max(2 T_i, M) / T_j);
    D_j = (θ_j − θ_i)ᵀ G_i (θ_j − θ_i), E_j = ¼ tr(G_i (A_i⁻¹ + A_j⁻¹)).
    """
    gram, inverse, theta = gram_of(own, d), inverse_of(own, d), theta_of(own, d)
    information, told_information = dot(gram, inverse), terms[CAPS, : rows.size]
    for entry in range(rows.size):
        row = told[rows[entry], arm]
        told_information[entry] = terms[WEIGHTS, entry] = dot(gram_of(row, d), inverse)
        others_theta, distance = theta_of(row, d), 0.0
        for a in range(d):
            row_sum = 0.0
            for b in range(d):
                row_sum += gram[a * d + b] * (others_theta[b] - theta[b])
            distance += (others_theta[a] - theta[a]) * row_sum
        terms[DISTANCES, entry] = distance
        terms[SPREADS, entry] = VARIANCE * (information + dot(gram, inverse_of(row, d)))
    limit = most_information(information, terms[WEIGHTS, : rows.size], f)  # of a copy, whose order changes
    for entry in range(rows.size):
        others = told_information[entry]
        terms[CAPS, entry] = 1.0 if others <= limit else limit / others


@compiled
def most_information(own: float, told: Floats, f: int) -> float:
    """How much a report may count for: twice one's own, or the (f+1)-th largest, which is no more than an honest one's.

    So whoever saw other contexts than oneself is not cut down for knowing more there, unless it claims more than
    honest neighbours do.
    """
    limit = MOST_INFORMATION * own
    honest = value_at(told.size - 1 - f, told) if told.size > f else 0.0
    return max(limit, honest) if honest < math.inf else limit


@compiled
def allowance(log_time: float, dimensions: float) -> float:
    """How many times its expectation a sum of so many squares may be: 1 + 2√(L/d) + 2L/d, after Laurent & Massart."""
    return 1.0 + 2.0 * math.sqrt(log_time / dimensions) + 2.0 * log_time / dimensions


@compiled
def score_of(distances: Floats, spreads: Floats, time: int, d: int) -> float:
    """How far a neighbour's parameters are from one's own, over all arms or on one; above 1 they contradict one's data.

    Arms of spread 0 do not count.
    """
    log_time, worst, distance, spread = math.log(max(time, 1)), 0.0, 0.0, 0.0
    allowed = allowance(log_time, float(d))
    for arm in range(distances.size):
        if spreads[arm] > 0.0:
            worst = max(worst, distances[arm] / (spreads[arm] * allowed))
            distance, spread = distance + distances[arm], spread + spreads[arm]
    if spread > 0.0:
        worst = max(worst, distance / (spread * allowance(log_time, float(d * distances.size))))
    return worst


@compiled_noinline
def vet(
    told: Floats, rows: Words, terms: Floats, time: int, d: int, f: int, left_out: Floats, work: tuple[Floats, Floats]
) -> int:
    """Mark in `left_out` the at most f reports with the largest scores above 1; return how many.

    `terms` is arms × 4 × reports, as `compare` fills it; `work` are two arrays as long as there are arms or reports.
    """
    arms, scores = told.shape[1], left_out
    distances, spreads = work[0][:arms], work[1][:arms]
    for entry in range(rows.size):
        for arm in range(arms):
            speaks = told[rows[entry], arm, 0] > 0.0
            distances[arm] = terms[arm, DISTANCES, entry]
            spreads[arm] = terms[arm, SPREADS, entry] if speaks else 0.0
        scores[entry] = score_of(distances, spreads, time, d)
    return mark_largest(scores[: rows.size], 1.0, f)


@compiled
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
