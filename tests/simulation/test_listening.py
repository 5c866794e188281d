"""A filter that needs steady neighbours is alone where they change and it often holds too few reports."""

import warnings

import numpy as np
import pytest

from byzmab import Experiment, simulate
from byzmab.core.errors import BadInput
from byzmab.experiment.assumptions import NobodyHeard
from byzmab.experiment.listening import listens
from byzmab.search.search import space_of

FLEETING = Experiment(
    filter="guarded", policy="tuned", attack="extreme", graph="erdos-renyi:0.6", time_varying=True, horizon=300, runs=2
)


def regret(experiment):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NobodyHeard)
        return simulate(experiment).regret_values


def test_guarded_is_alone_where_too_few_come_and_none_is_remembered():
    """Choice by choice as solo, so that no attack whatever brings it above being alone."""
    np.testing.assert_array_equal(regret(FLEETING), regret(FLEETING.but(filter="solo")))
    assert simulate(FLEETING).messages.sum() == 0


@pytest.mark.parametrize(
    "settings",
    [
        {"memory": 20},
        {"agents": 20},  # 11.4 reports are heard, 7.1 or more in nearly every round
        {"f": 0, "graph": "erdos-renyi:0.8"},  # 7.2 reports are heard, 4.8 or more in nearly every round
        {"f": "auto", "graph": "complete", "time_varying": False, "subset": 7},
        {"time_varying": False},
        {"filter": "pooled"},  # as published: only what needs steady neighbours asks for them
        {"graph": "complete", "time_varying": False, "subset": 7},
    ],
    ids=str,
)
def test_it_hears_others_everywhere_else(settings):
    experiment = FLEETING.but(**settings)
    assert listens(experiment)
    assert not np.array_equal(regret(experiment), regret(experiment.but(filter="solo")))


@pytest.mark.parametrize(
    "settings",
    [
        {"f": 0, "byzantine": 0, "attack": "none", "agents": 6},  # nobody lies: 1.04 to 1.09 times as much as alone
        {"graph": "erdos-renyi:0.2", "memory": 3},  # 5.3 reports are held, f = 2 asks for 7
        {"graph": "complete", "time_varying": False, "subset": 2, "memory": 2},
    ],
    ids=str,
)
def test_neither_f_of_0_nor_a_short_memory_is_an_exemption(settings):
    experiment = FLEETING.but(**settings)
    np.testing.assert_array_equal(regret(experiment), regret(experiment.but(filter="solo")))


@pytest.mark.parametrize("settings", [{}, {"agents": 20}], ids=str)
def test_f_from_the_neighbours_is_that_of_all_who_may_be_heard(settings):
    """In a round in which four are heard it would be one, and both liars may be among them."""
    experiment = FLEETING.but(f="auto", **settings)
    np.testing.assert_array_equal(regret(experiment), regret(experiment.but(filter="solo")))
    with pytest.warns(NobodyHeard, match="memory 50.* f as a number"):
        simulate(experiment)


@pytest.mark.parametrize("settings", [{}, {"graph": "complete", "time_varying": False, "subset": 6}], ids=str)
def test_a_warning_says_so_and_what_helps(settings):
    with pytest.warns(NobodyHeard, match="uses no reports here.*memory 50"):
        simulate(FLEETING.but(**settings))


def test_nothing_is_searched_against_who_hears_nobody():
    with pytest.raises(BadInput, match="allowed: one that does, or memory"):
        space_of(FLEETING)
