"""What the theorem on `guarded` rests on, inequality by inequality: docs/concepts/theory.md."""

import math

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byzmab import Heard
from byzmab.core.filters.fates import Fate
from byzmab.core.filters.guarded import Guarded
from byzmab.core.filters.pull import cap_of, move_extremes_out, sums_without_extremes
from byzmab.core.filters.trimmed import Trimmed
from byzmab.core.policies.base import with_doubt

unit = st.floats(0, 1)
PROVEN = np.array(Guarded(proven=1).params)


@st.composite
def reports(draw, most=12):
    """(n, x̄) of oneself, of honest neighbours and of at most f liars, whose words are as wild as floats can be."""
    f = draw(st.integers(0, 3))
    honest = draw(st.lists(st.tuples(st.integers(1, 60), unit), min_size=2 * f + 1, max_size=most))
    wild = st.tuples(st.floats(1e-3, 1e9), unit)
    near = st.tuples(st.integers(1, 60), unit)
    lies = draw(st.lists(st.one_of(wild, near), max_size=f))
    return draw(st.integers(1, 60)), draw(unit), honest, lies, f


def heard(n, x, told, f, params=PROVEN):
    pulls, means = np.array(told, float).T.copy()
    return Heard(pulls, means, float(n), x, f, 1.5, 100, 0, params)


@given(reports(), unit)
def test_a_kept_lie_is_no_worse_than_an_honest_report_that_was_dropped(case, mu):
    """Step 1, for every μ: from below and from above, whatever the liars tell."""
    n, x, honest, lies, f = case
    kept, used, C, centre, f = naive.guarded_kept(n, x, [*honest, *lies], f, proven=True)
    if not kept:
        return
    b, W, c = len(kept), n + sum(count for count, _ in kept), min(count for count, _ in used)
    shifts = sorted(min(nj, C) * (xj - mu) for nj, xj in honest if nj >= C / 2)
    slack = f * (C - c) * abs(centre - mu)
    estimate, _, _ = Guarded.believe(heard(n, x, [*honest, *lies], case[4]))
    low, high = sum(shifts[:b]) - slack, sum(shifts[len(shifts) - b :]) + slack
    assert low - 1e-7 <= W * (estimate - mu) - n * (x - mu) <= high + 1e-7


@given(reports())
def test_weight_and_doubt_are_those_of_the_theorem(case):
    n, x, honest, lies, f = case
    found = Guarded.believe(heard(n, x, [*honest, *lies], f))
    assert found == pytest.approx(naive.guarded_proven(n, x, [*honest, *lies], f, 1.5, 100), rel=1e-9)


@given(reports())
def test_the_room_left_is_bounded_as_the_regret_bound_needs(case):
    """Step 4: n + bC ≤ 2W and b √C ≤ √(2bW), because used reports have half of C pulls or more."""
    n, x, honest, lies, f = case
    kept, _, C, _, _ = naive.guarded_kept(n, x, [*honest, *lies], f, proven=True)
    if kept:
        b, W = len(kept), n + sum(count for count, _ in kept)
        assert n + b * C <= 2 * W
        assert C <= n <= W
        assert b * math.sqrt(C) <= math.sqrt(2 * b * W) + 1e-9


@given(st.integers(1, 60), st.lists(st.integers(1, 60), min_size=3, max_size=15), st.integers(0, 2))
def test_with_more_than_2f_at_ones_own_count_company_counts_fully(n, counts, f):
    """Step 4: r − 1 > 2f neighbours with n pulls or more make C = n and W ≥ n (r − 2f)."""
    support = sum(count >= n for count in counts)
    if support > 2 * f:
        kept, _, C, _, _ = naive.guarded_kept(n, 0.5, [(count, 0.5) for count in counts], f, proven=True)
        assert n == C
        assert n + sum(count for count, _ in kept) >= n * (1 + support - 2 * f)


def test_the_exponential_moment_is_bounded_for_every_exponent():
    """Step 2: φ(u) ≤ exp(u + u²/8); for u ≥ 2 by 1 + √(2π) u ≤ exp(u), below by computing an upper sum."""
    edges = np.linspace(0.0, 8.0, 80_001)
    tail = np.minimum(1.0, 2.0 * np.exp(-2.0 * edges[:-1] ** 2))  # decreases: the left end is the largest
    for u in np.linspace(0.0, 2.0, 201)[1:]:
        upper = 1.0 + np.sum(tail * np.diff(np.exp(u * edges))) + math.exp(u * 8.0 - 2 * 64.0) * 10
        assert upper <= math.exp(u + u * u / 8.0)
    assert 1.0 + math.sqrt(2 * math.pi) * 2.0 <= math.exp(2.0)  # and exp grows faster from there on


@pytest.mark.parametrize("mean", [0.5, 0.1, 0.9])
def test_the_worst_prefix_of_rewards_is_hardly_worse_than_a_fixed_one(mean):
    """Step 2: P(Q ≥ s) ≤ 2 exp(−2 s²/C), with 4 000 tables of rewards; the error is four standard errors."""
    C, rng = 20, np.random.default_rng(1)
    rewards = rng.random((4000, 1200)) < mean
    counts = np.arange(1, 1201)
    sample_means = np.cumsum(rewards, axis=1) / counts
    Q = np.maximum(0.0, (-np.minimum(counts, C) * (sample_means - mean)).max(axis=1))
    for s in np.linspace(0.5, 3.0, 11) * math.sqrt(C):
        bound = min(1.0, 2 * math.exp(-2 * s * s / C))
        assert (s <= Q).mean() <= bound + 4 * math.sqrt(max(bound * (1 - bound), 1e-4) / 4000)


@given(st.integers(1, 100), st.lists(st.floats(0.1, 1000), min_size=1, max_size=20), st.integers(0, 19))
def test_the_cap_is_a_count_that_one_honest_agent_has(n, counts, f):
    if f < len(counts):
        expected = max(1, math.floor(min(n, sorted(counts, reverse=True)[f])))
        assert cap_of(float(n), np.array(counts), f, 0) == expected


@given(
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), min_size=1, max_size=14),
    st.integers(0, 6),
)
def test_extremes_are_found_one_by_one_as_by_sorting(told, f):
    if len(told) > 2 * f:
        counts, pulls = np.array(told, float).T.copy()
        move_extremes_out(counts, pulls, f)
        ordered = sorted((pull, count) for count, pull in told)
        found = list(zip(pulls, counts, strict=True))
        assert sorted(found[:f]) == ordered[:f]
        assert sorted(found[len(told) - f :]) == ordered[len(told) - f :]


@given(
    st.lists(st.tuples(st.integers(1, 5), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0])), min_size=1, max_size=14),
    st.integers(0, 4),
)
def test_what_is_left_without_extremes_is_summed_as_after_sorting(told, f):
    """Also where equal pulls have different counts, of which the fewest come first."""
    if len(told) > 2 * f:
        upper = sorted((pull, count) for count, pull in told)[f:]
        sums = sums_without_extremes(*np.array(told, float).T.copy(), f)
        for left, kept, total in (
            (upper[: len(told) - 2 * f], sums.kept, sums.total),
            (upper, sums.upper_kept, sums.upper_total),
        ):
            assert (kept, total) == (sum(count for _, count in left), sum(pull for pull, _ in left))


def test_a_noisy_honest_report_is_no_cover_for_a_heavy_lie():
    """A neighbour with one pull says 0; a liar with a hundred says 0.2 where all others say 0.5."""
    honest = [(100, 0.5)] * 6 + [(1, 0.0)]
    believed = Guarded.believe(heard(100, 0.5, [*honest, (100, 0.2)], 1, np.array(Guarded().params)))
    assert believed[0] == pytest.approx(0.5, abs=1e-2)


def test_an_impossible_report_is_dropped_and_lowers_f():
    told = [(1000, 0.5)] * 5 + [(1000, 1.0)]
    fates = Guarded().fates(1000.0, 0.5, *np.array(told, float).T, 1, 1.5, 100)
    assert fates == [Fate.KEPT] * 5 + [Fate.IMPLAUSIBLE]


def test_a_silent_neighbour_is_one_of_the_f():
    told = [(100, mean) for mean in (0.4, 0.45, 0.5, 0.55, 0.6)]
    counted, uncounted = (
        Guarded.believe(heard(100, 0.5, told, 1, np.array(Guarded().params))._replace(silent=silent))
        for silent in (1, 0)
    )
    assert counted[1] == pytest.approx(600)  # nobody is trimmed
    assert uncounted[1] < 600


def test_more_silent_neighbours_than_can_lie_are_no_reason_to_trust_the_rest():
    told = [(100, mean) for mean in (0.4, 0.45, 0.5, 0.55, 0.6)]
    beliefs = [
        Guarded.believe(heard(100, 0.5, told, 1, np.array(Guarded().params))._replace(silent=silent))
        for silent in (0, 3)
    ]
    assert beliefs[0] == beliefs[1]


@pytest.mark.parametrize(("reports", "alone"), [(6, True), (7, False)])
def test_no_more_than_3f_reports_are_not_used(reports, alone):
    told = [(100, 0.4 + 0.02 * number) for number in range(reports)]
    believed = Guarded.believe(heard(100, 0.5, told, 2, np.array(Guarded().params)))
    assert (believed == (0.5, 100.0, 0.0)) == alone


def test_the_sets_that_are_summed_over_cost_no_more_than_step_4_says():
    """√(½ ln(D (D choose b)) (n + bC)) ≤ 0.9 √(D W), as n + bC ≤ 2W."""
    assert max(math.log(D * math.comb(D, b)) / D for D in range(1, 200) for b in range(D + 1)) <= 0.9**2


@given(reports())
def test_loops_are_compiled_without_what_is_proven_unless_it_is_asked_for(case):
    n, x, honest, lies, f = case
    told = heard(n, x, [*honest, *lies], f, np.array(Guarded().params))
    copy = told._replace(pulls=told.pulls.copy(), means=told.means.copy())
    played = Guarded().played("believe")
    assert played is not Guarded.believe and played(told) == Guarded.believe(copy)
    assert Guarded(proven=1).played("believe") is Guarded.believe


def test_a_filter_derived_from_it_is_played_with_its_own_function():
    class Derived(Guarded):
        believe = staticmethod(Trimmed.believe)

    assert Derived().played("believe") is Trimmed.believe


@given(bound=st.floats(-1, 2), doubt=st.floats(0, 2), own=st.floats(-1, 2), mean=st.floats(0, 1))
def test_a_limited_index_fails_only_where_doubt_or_own_data_fail(bound, doubt, own, mean):
    """I = min(i + d, max(i, u)): valid where both are, and never above the larger bound."""
    index = with_doubt(bound, doubt, own)
    assert index == pytest.approx(min(bound + doubt, max(bound, own)), abs=1e-12)
    assert index >= mean - 1e-9 or bound + doubt < mean or own < mean


@given(data=st.data(), n=st.integers(1, 10**5), time=st.integers(120, 10**9))
def test_with_even_counts_the_theorem_leaves_no_wider_interval_than_ucb1(data, n, time):
    f = data.draw(st.integers(1, 14))
    count = data.draw(st.integers(2 * f + 1, 29))
    means = data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    reports = [(n, mean) for mean in means]
    _, weight, doubt = Guarded.believe(heard(n, 0.5, reports, f, np.array(Guarded(proven=1).params)))
    wide = math.sqrt(2.0 * math.log(time))
    assert 2.0 * wide / math.sqrt(weight) + doubt <= 2.0 * wide / math.sqrt(n) + 1e-12
