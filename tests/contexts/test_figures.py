"""Figures of contexts among liars at a small size: N = 10, B = f = 2, d = 5, 5 arms; the whole table is benchmarks/contexts.py."""

import warnings
from functools import cache

import pytest

from byzmab import Experiment, simulate
from byzmab.attacks import CONTEXT_ATTACKS
from byzmab.results.statistics import describe, ratio_of_means

BASE = Experiment(
    context=5, arms="random:5", filter="pooled", policy="tuned", attack="none", f=2, horizon=1200, runs=4, record=1
)
ERRORS = 3.0  # standard errors that a figure may be off


@cache
def finals(**changes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return simulate(BASE.but(**changes)).network_regret[:, -1]


def test_without_lies_it_is_near_an_oracle_that_adds_up_the_honest_statistics():
    oracle = finals(algorithm="lin-sum", agents=8, byzantine=0)
    ratio, error = ratio_of_means(finals(), oracle)
    assert ratio - ERRORS * error <= 1.6
    assert finals().mean() < 0.5 * finals(filter="solo").mean()


@pytest.mark.parametrize("attack", CONTEXT_ATTACKS.entries)
def test_under_no_attack_is_it_above_being_alone(attack):
    """By more than two standard errors of the difference, on the same luck; those that know the context included."""
    more = describe(finals(attack=attack) - finals(filter="solo"))
    assert more["mean"] <= 2.0 * more["stderr"]


@pytest.mark.parametrize("attack", ["alie-at", "stealth-at", "inflate-at"])
def test_nor_where_agents_see_different_contexts(attack):
    more = describe(finals(attack=attack, contexts="leaning") - finals(filter="solo", contexts="leaning"))
    assert more["mean"] <= 2.0 * more["stderr"]


def test_adding_up_statistics_is_worse_than_being_alone_under_one_lie():
    assert finals(algorithm="lin-sum", attack="large").mean() > 4.0 * finals(filter="solo").mean()
