"""A filter is told how many neighbours, of those that should tell something on an arm, told nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

from byzmab import Agent, Experiment, Filter, Report, compiled
from byzmab.simulation.single_run import Run


@compiled
def believe(heard):
    return heard.own_mean, heard.own_pulls, float(heard.silent)


@compiled
def believe_dense(heard, middle):
    return heard.own_mean, heard.own_pulls, float(heard.silent)


@dataclass(frozen=True)
class Count(Filter):
    """Doubts as much as there are silent neighbours."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)


def doubts(dense=None, rounds=20, reliable_links=True, **settings):
    links = {"reliable_links": reliable_links}
    played = Run(Experiment(filter=Count(), byzantine=2, horizon=20, runs=1, **links, **settings), 0, dense)
    played.advance(rounds)
    return played.state.doubts


@pytest.mark.parametrize("dense", [False, True])
def test_liars_that_say_nothing_are_silent_to_everyone_who_hears_them(dense):
    told = doubts(dense, attack="starve")
    assert (told[2:] == 2.0).all()
    assert (told[:2] == 1.0).all()  # a liar does not hear itself
    assert (doubts(dense, attack="extreme") == 0.0).all()
    assert (doubts(dense, attack="starve", reliable_links=False) == 0.0).all(), "a report may have been lost"


def test_on_a_fixed_graph_only_ones_own_neighbours_are_expected():
    told = doubts(graph="firms", attack="starve", delay=1)
    assert (told[2:] == 1.0).all()
    assert (told[:2] == 0.0).all()


@pytest.mark.parametrize(
    "settings", [{"graph": "erdos-renyi:0.8", "time_varying": True}, {"subset": 4}, {"subset": 4, "memory": 5}], ids=str
)
def test_where_neighbours_are_drawn_anew_nobody_is_expected(settings):
    assert (doubts(attack="starve", **settings) == 0.0).all()


def test_to_a_live_agent_an_absent_neighbour_proves_nothing():
    agent = Agent(2, f=3, filter=Count(), neighbours=3)
    for arm in (0, 1):
        agent.select()
        agent.reward(arm, 0.5)
    assert agent.belief().doubts.tolist() == [0.0, 0.0]
    agent.hear("a", Report(np.array([5.0, 0.0]), np.array([0.5, 0.5])))
    assert agent.belief().doubts.tolist() == [0.0, 0.0]


def test_the_number_of_neighbours_is_saved():
    assert Agent.from_json(Agent(2, neighbours=4).to_json()).neighbours == 4
    assert Agent.from_json(Agent(2).to_json()).neighbours is None
