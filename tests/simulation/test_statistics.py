"""Statistics over runs, against what is known of them."""

import numpy as np
import pytest
from scipy import stats

from byzmab.simulation.statistics import bootstrap_interval, describe, student_interval

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
