"""What the paper assumes: it is said where an agent may hear more liars than f, and nowhere else."""

import warnings

import pytest

from byzmab import Experiment, ResultStore, run_sweep, simulate
from byzmab.experiment.assumptions import TooManyLiars, settings_unused, too_many_liars
from byzmab.paper.bounds import measure
from byzmab.tournament.field import Field
from byzmab.tournament.standings import play

LIED_TO = Experiment(byzantine=2, f=1, horizon=20, runs=1, record=5)


@pytest.mark.parametrize(
    "settings",
    [
        {"f": 2},
        {"f": None},
        {"graph": "firms"},  # one liar beside each
        {"graph": "ring:2"},
        {"graph": "two-case:4-5", "time_varying": True},
        {"graph": "two-case:binomial"},
        {"graph": "erdos-renyi:0"},
        {"filter": "solo"},
        {"filter": "mean"},
        {"subset": 1},
        {"byzantine": 0, "f": 0},
    ],
)
def test_nothing_is_said_where_nobody_can_hear_more_than_f_liars(settings):
    assert too_many_liars(LIED_TO.but(**settings)) is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "f = 1 is too small: 8 normal agents hear up to 2 Byzantine neighbours"),
        ({"graph": "ring:4"}, "2 normal agents hear up to 2 Byzantine neighbours, and no guarantee holds: 3, 10"),
        ({"graph": "erdos-renyi:0.3"}, "8 normal agents may hear up to 2"),
        ({"graph": "two-case:4-5", "time_varying": True, "memory": 3}, "may hear up to 2"),
        ({"subset": 1, "memory": 1}, "may hear up to 2"),
        ({"algorithm": "consensus"}, "8 normal agents hear up to 2"),
        ({"graph": "star", "f": 0}, "1 normal agent hears up to 2 Byzantine neighbours, and no guarantee holds: 10"),
    ],
)
def test_more_liars_than_f_are_told(settings, words):
    assert words in too_many_liars(LIED_TO.but(**settings))


def warned(call):
    """How often it was warned of more liars than f."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return sum(issubclass(item.category, TooManyLiars) for item in told)


def test_every_way_to_play_warns_once(tmp_path):
    points = [LIED_TO, LIED_TO.but(kappa=1.2), LIED_TO.but(f=2)]
    field = Field(LIED_TO, ("trimmed",), ("ucb",), ("none", "extreme"), ("complete",), (10,))
    assert warned(lambda: simulate(LIED_TO)) == 1
    assert warned(lambda: run_sweep(points, ResultStore(tmp_path / "sweep"))) == 1
    assert warned(lambda: play(field, ResultStore(tmp_path / "tournament"))) == 1
    assert warned(lambda: measure(LIED_TO)) == 1
    assert warned(lambda: simulate(LIED_TO.but(f=2))) == 0


def bounds_of(**settings):
    summary = measure(LIED_TO.but(**settings)).summary()
    return {row["agent"]: row["upper_bound"] for row in summary["agents"]}, summary["why_no_upper_bound"]


@pytest.mark.filterwarnings("ignore:f = ")
def test_no_upper_bound_is_given_where_its_assumption_fails():
    none, why = bounds_of()
    assert set(none.values()) == {None}
    assert "liars" in why
    some, why = bounds_of(graph="ring:4")
    assert [agent for agent, bound in some.items() if bound is None] == [3, 10]
    assert "liars" in why
    none, why = bounds_of(f=2, policy="tuned")
    assert set(none.values()) == {None}
    assert "policy ucb" in why
    all_there, why = bounds_of(f=2)
    assert None not in all_there.values()
    assert why is None


@pytest.mark.parametrize(("graph", "says"), [("ring", True), ("erdos-renyi:0.5", False)])
def test_a_graph_that_cannot_change_is_told_of_where_it_should(graph, says):
    told = settings_unused(Experiment(graph=graph, time_varying=True))
    assert (told == "time_varying does not matter to graph ring, which is the same in every round") == says
    assert (told is None) != says
