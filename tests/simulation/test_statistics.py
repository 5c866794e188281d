"""Statistics over runs, against what is known of them."""

import numpy as np
import pytest
from scipy import stats

from byzmab.results.statistics import bootstrap_interval, describe, saved_interval, student_interval

VALUES = np.random.default_rng(1).gamma(4.0, 10.0, 30)


def test_students_interval_is_that_of_scipy():
    low, high = stats.t.interval(0.95, 29, VALUES.mean(), stats.sem(VALUES))
    found = student_interval(VALUES)
    assert (found.low, found.high, found.stderr) == pytest.approx((low, high, stats.sem(VALUES)))
    assert student_interval(VALUES[:1]).high == np.inf


def test_the_bootstrap_covers_the_mean_as_often_as_it_says():
    """Two hundred samples of 30: nearly 95 in 100, and it is the same for the same values."""
    samples = np.random.default_rng(2).gamma(4.0, 10.0, (200, 30))
    covered = sum(low < 40.0 < high for low, high in map(bootstrap_interval, samples))
    assert 0.89 < covered / 200 < 0.98
    assert bootstrap_interval(VALUES) == bootstrap_interval(VALUES.copy())


def test_one_run_has_no_error_and_no_interval():
    assert describe(VALUES[:1]) == {"mean": VALUES[0], "std": None, "stderr": None, "runs": 1}
    assert np.isnan(bootstrap_interval(VALUES[:1])).all()


def test_what_is_saved_has_the_interval_of_paired_runs():
    """Half saved in every run, whatever the run: no doubt about it. Two hundred samples: nearly 95 in 100 cover the truth."""
    exact = saved_interval(VALUES / 2, VALUES)
    assert (exact.mean, exact.low, exact.high) == pytest.approx((0.5, 0.5, 0.5))
    rng = np.random.default_rng(3)
    base = rng.gamma(16.0, 10.0, (200, 30))
    found = [saved_interval(0.7 * one + rng.normal(0.0, 8.0, 30), one) for one in base]
    assert 0.89 < sum(item.low < 0.3 < item.high for item in found) / 200 < 0.99
    assert saved_interval(VALUES, np.zeros(30)) is None
