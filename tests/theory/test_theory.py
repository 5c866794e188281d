"""The theorems' numbers."""

import math

import numpy as np
import pytest

from byzmab import Experiment
from byzmab.paper.bounds import measure
from byzmab.theory.bounds import WidthRecord, lower_rate, ucb1_bound
from byzmab.theory.conditions import chance_of_enough, enough


def test_the_bound_of_ucb1_is_auers():
    gaps = np.array([0.05, 0.1, 0.2])
    expected = sum(8 * math.log(10_000) / gap + (1 + math.pi**2 / 3) * gap for gap in gaps)
    assert ucb1_bound(np.array([0.5, 0.45, 0.4, 0.3]), 10_000) == pytest.approx(expected)
    assert ucb1_bound(np.array([0.3, 0.5, 0.4, 0.45]), 10_000) == pytest.approx(expected)


def test_with_g_one_throughout_the_upper_bound_is_that_of_ucb1():
    means = np.array([0.9, 0.5, 0.4])
    record = WidthRecord(2, means)
    for _ in range(500):
        record.add(np.ones((2, 3)))
    assert record.plain() == pytest.approx(np.full(2, ucb1_bound(means, 500)))


def test_the_minimum_over_tau_is_taken():
    """Against every τ by hand."""
    means, rng = np.array([0.6, 0.5, 0.2]), np.random.default_rng(0)
    widths = rng.uniform(0.2, 1.0, (60, 1, 3))
    record = WidthRecord(1, means)
    for g in widths:
        record.add(g)
    candidates = []
    for tau in range(1, 61):
        total = (60 - tau) * 0.4
        for arm, gap in ((1, 0.1), (2, 0.4)):
            largest = max(widths[t - 1, 0, arm] * math.log(t) for t in range(1, tau + 1))
            total += 8 * largest / gap + (1 + math.pi**2 / 3) * gap
        candidates.append(total)
    assert record.tight()[0] == pytest.approx(min(candidates))
    assert record.plain()[0] == pytest.approx(candidates[-1])


def test_the_chance_of_enough_neighbours_is_the_papers_formula():
    q = 0.9
    each = sum(math.comb(9, i) * q**i * (1 - q) ** (9 - i) for i in (7, 8, 9))
    assert chance_of_enough(q, 10, 2) == pytest.approx(each**10)
    assert chance_of_enough(1.0, 10, 2) == pytest.approx(1.0)
    assert chance_of_enough(1.0, 10, 3) == 0.0  # ten neighbours of nine others


def test_the_lower_rate_falls_with_every_neighbour_beyond_2f():
    assert lower_rate(np.array([2.0, 4.0, 5.0, 9.0]), 2).tolist() == [1.0, 1.0, 0.5, 1 / 6]
    assert enough(np.array([6, 7]), 2).tolist() == [False, True]


def test_measured_regret_stays_below_the_upper_bound():
    measured = measure(Experiment(horizon=400, runs=2))
    summary = measured.summary()
    assert len(summary["agents"]) == 8
    for agent in summary["agents"]:
        assert agent["regret"] < agent["upper_bound_min_tau"] <= agent["upper_bound"] <= summary["ucb1_bound"] + 1e-9
    assert (np.diff(measured.plain, axis=2) >= -1e-9).all()
