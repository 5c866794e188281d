"""What filters promise, whatever is told."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from byzmab import Heard, compiled
from byzmab.core.filters import FILTERS, Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.filters.median import Median
from byzmab.core.filters.medians import FEW, median_of_few, median_with
from byzmab.core.filters.pooled import Pooled
from byzmab.core.filters.screened import Screened
from byzmab.core.filters.trimmed import Mean, Trimmed, sum_without_extremes

unit = st.floats(0, 1)
anything = st.floats(allow_nan=False)
kappas = st.floats(1, 2, exclude_max=True)


def believe(filter, own, means, f=0, kappa=1.5, own_pulls=10.0, pulls=None, time=100, **params):
    means = np.array(means, float)
    pulls = np.full(means.size, own_pulls) if pulls is None else np.array(pulls, float)
    return filter.believe(Heard(pulls, means, own_pulls, own, f, kappa, time, 0, np.array(filter(**params).params)))


@given(own=unit, honest=arrays(float, 7, elements=unit), lies=arrays(float, 2, elements=anything), kappa=kappas)
def test_lies_cannot_drag_the_estimate_outside_the_honest_range(own, honest, lies, kappa):
    """Lemma 2: the estimate is a convex combination of honest sample means."""
    estimate, _, _ = believe(Trimmed, own, np.concatenate([honest, lies]), f=2, kappa=kappa)
    assert min(own, *honest) - 1e-12 <= estimate <= max(own, *honest) + 1e-12


@given(
    own=unit,
    honest=arrays(float, 6, elements=unit),
    lies=arrays(float, 2, elements=anything),
    counts=arrays(float, 8, elements=st.integers(1, 1000)),
)
def test_pooling_stays_in_the_honest_range_too(own, honest, lies, counts):
    estimate, _, _ = believe(Pooled, own, np.concatenate([honest, lies]), f=2, pulls=counts)
    assert min(own, *honest) - 1e-9 <= estimate <= max(own, *honest) + 1e-9


def test_screening_an_honest_outlier_lets_a_lie_through():
    """The known limit of `screened`: it may take an honest report for a lie, and then trims one liar too few."""
    honest, lies = [1.0, 0.125, 0.125, 0.125, 0.125, 0.125], [0.0, 0.0]
    estimate, _, doubt = believe(Screened, 0.125, honest + lies, f=2, own_pulls=10.0, pulls=[7.0] * 8)
    assert estimate < 0.125  # outside the honest range
    assert estimate + doubt > 0.125  # and this is what doubt is for


@given(own=unit, means=arrays(float, st.integers(0, 12), elements=unit), f=st.integers(0, 4), kappa=kappas)
def test_cooperating_never_makes_the_width_larger_than_alone(own, means, f, kappa):
    """g ≤ 1 for every number of neighbours and every kappa in [1, 2): the weight n / g is at least n."""
    _, weight, _ = believe(Trimmed, own, means, f=f, kappa=kappa)
    assert weight >= 10.0 - 1e-9


@given(values=st.lists(anything.filter(math.isfinite), min_size=1, max_size=40), f=st.integers(0, 6))
def test_trimming_drops_exactly_the_f_largest_and_f_smallest(values, f):
    if len(values) > 2 * f:
        expected = math.fsum(sorted(values)[f : len(values) - f])
        assert sum_without_extremes(np.array(values), f) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_lie_however_large_costs_no_digit():
    estimate, _, _ = believe(Trimmed, 0.1, [0.1, 0.2, 1e300, -1e300, 0.3], f=1)
    assert estimate == pytest.approx((0.1 + 0.1 + 0.2 + 0.3) / 4, rel=1e-15)


@pytest.mark.parametrize("filter", [Trimmed, Pooled, Screened])
@pytest.mark.parametrize("f", [1, 2, 3])
def test_two_f_reports_are_too_few_to_cooperate(filter, f):
    """However many voices there are, f of them may lie on either side."""
    estimate, weight, doubt = believe(filter, 0.4, [0.41] * (2 * f), f=f)
    assert (estimate, weight, doubt) == (0.4, 10.0, 0.0)
    assert believe(filter, 0.4, [0.41] * (2 * f + 1), f=f)[1] > 10.0


def test_the_width_is_the_papers():
    _, weight, _ = believe(Trimmed, 0.5, [0.5] * 6, f=1, kappa=1.2)
    assert weight == pytest.approx(10.0 / (1.2 / 4 + 1.2 / (4 * 5) + 1 / 25))


def test_without_trimming_one_liar_moves_the_mean():
    assert believe(Mean, 0.5, [0.5, 0.5, 1.0], f=1)[0] == pytest.approx(0.625)


@given(own=unit, means=arrays(float, st.integers(0, 14), elements=unit))
def test_the_median_is_the_median(own, means):
    assert median_with(own, np.sort(means)) == pytest.approx(np.median([own, *means]))
    assert believe(Median, own, means)[:2] == (pytest.approx(np.median([own, *means])), 10.0)


@pytest.mark.parametrize("size", range(FEW + 1))
def test_the_network_finds_the_median_of_all_zeros_and_ones_and_so_of_anything(size):
    for own, *means in itertools.product((0.0, 1.0), repeat=size + 1):
        assert median_of_few(own, np.array(means)) == np.median([own, *means])


def test_nobody_counts_for_more_than_oneself():
    _, weight, _ = believe(Pooled, 0.5, [0.5, 0.6], pulls=[1e9, 3.0])
    assert weight == 10.0 + 10.0 + 3.0


def test_an_implausible_report_is_screened_out_and_lowers_f():
    """Far from the median with many pulls: no honest agent would send it; with few pulls one might."""
    honest = [0.5, 0.52, 0.48, 0.51]
    many = believe(Screened, 0.5, [*honest, 1.0], f=1, own_pulls=1000.0)
    assert many == pytest.approx(believe(Pooled, 0.5, honest, f=0, own_pulls=1000.0))
    few = believe(Screened, 0.5, [*honest, 1.0], f=1, own_pulls=4.0)
    assert few[2] > 0.0
    assert few[:2] == pytest.approx(believe(Pooled, 0.5, [*honest, 1.0], f=1, own_pulls=4.0)[:2])


@pytest.mark.parametrize("name", [name for name, kind in FILTERS.entries.items() if kind.hears])
def test_every_filter_of_ours_tells_what_became_of_reports(name):
    fates = FILTERS.resolve(name).fates(5.0, 0.5, np.full(7, 5.0), np.full(7, 0.5), 1, 1.5, 9)
    assert Fate.KEPT in fates and Fate.HEARD not in fates, (
        f"{name}: agents, nodes and the lab show these fates: {fates}"
    )


@given(
    # `guarded` also credits what it trimmed
    name=st.sampled_from([name for name in FILTERS.entries if name not in ("solo", "guarded")]),
    own=unit,
    own_pulls=st.integers(1, 300),
    heard=st.lists(st.tuples(st.integers(0, 300), st.sampled_from([0.0, 0.1, 0.5, 0.52, 0.9, 1.0])), max_size=12),
    f=st.integers(0, 3),
    kappa=kappas,
    time=st.integers(0, 2000),
)
def test_the_reports_said_to_be_kept_alone_make_the_belief(name, own, own_pulls, heard, f, kappa, time):
    """Whoever was said to be dropped can be left out, and nobody is left to drop."""
    filter = FILTERS.resolve(name)
    pulls, means = (np.array([row[column] for row in heard], float) for column in (0, 1))
    fates = np.array(filter.fates(own_pulls, own, pulls, means, f, kappa, time))
    passed = (pulls > 0) & (kappa * pulls >= (own_pulls if filter.consistency else 0))
    kept = fates == Fate.KEPT
    own_tally, params = (float(own_pulls), own), np.array(filter.params)
    believed = filter.believe(Heard(pulls[passed], means[passed], *own_tally, f, kappa, time, 0, params))
    again = filter.believe(Heard(pulls[kept], means[kept], *own_tally, 0, kappa, time, 0, params))
    told = f"{name}: what it says it kept makes another belief alone; if that is meant, leave it out as guarded is"
    assert believed[:2] == pytest.approx(again[:2], rel=1e-12), told
    assert not kept[~passed].any()
    assert (fates == Fate.SILENT).tolist() == (pulls == 0).tolist()
    if kept.any() and filter.trims:
        implausible, trimmed = ((fates == fate).sum() for fate in (Fate.IMPLAUSIBLE, Fate.TRIMMED))
        assert trimmed == 2 * (f - implausible)


def test_a_filter_that_tells_no_fates_says_only_who_was_heard():
    @compiled
    def believe(heard):
        return heard.own_mean + heard.means[0], heard.own_pulls, 0.0

    class Own(Filter):
        pass

    Own.believe = staticmethod(believe)
    assert Own().fates(5.0, 0.5, np.array([0.0, 3.0]), np.array([0.5, 0.5]), 0, 1.5, 9) == [Fate.SILENT, Fate.HEARD]


def test_fates_have_their_names():
    pulls, means = np.array([0.0, 1.0, 20.0, 20.0, 20.0, 20.0]), np.array([0.5, 0.5, 0.0, 0.4, 0.5, 1.0])
    fates = Trimmed().fates(10.0, 0.5, pulls, means, 1, 1.5, 100)
    assert fates == ["silent", "inconsistent", "trimmed", "kept", "kept", "trimmed"]
    assert Trimmed().fates(10.0, 0.5, pulls, means, 2, 1.5, 100)[2:] == ["unused"] * 4
    screened = Screened().fates(1000.0, 0.5, np.full(5, 1000.0), np.array([0.5, 0.52, 0.48, 0.51, 1.0]), 1, 1.5, 100)
    assert screened == ["kept", "kept", "kept", "kept", "implausible"]


def test_a_wider_window_screens_less_and_doubt_is_as_large_as_asked_for():
    reports = [0.5, 0.52, 0.48, 0.51, 0.58]
    screened, spared = (believe(Screened, 0.5, reports, f=1, own_pulls=1000.0, window=w) for w in (0.5, 4.0))
    assert screened == pytest.approx(believe(Pooled, 0.5, reports[:4], f=0, own_pulls=1000.0))
    assert spared[:2] == pytest.approx(believe(Pooled, 0.5, reports, f=1, own_pulls=1000.0)[:2])
    doubled = believe(Screened, 0.5, reports, f=1, own_pulls=1000.0, window=4.0, doubt=0.6)
    assert doubled[2] == pytest.approx(2 * spared[2])
