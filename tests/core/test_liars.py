"""f that is not known: as many as the guarantee allows for the neighbours that an agent may hear."""

import json

import numpy as np
import pytest

from byzmab import Agent, BadInput, Experiment, Report
from byzmab.core.liars import f_as_given, f_for, most_allowed
from byzmab.core.recommended import AUTO
from byzmab.experiment.assumptions import too_few_neighbours, too_many_liars
from byzmab.experiment.listening import f_of_agents
from byzmab.experiment.settings import from_text

HONEST = Report(np.full(3, 5.0), np.array([0.2, 0.5, 0.4]))


def heard_by(agent, count):
    for sender in range(count):
        agent.hear(sender, HONEST)
    return agent


@pytest.mark.parametrize("neighbours", range(40))
def test_the_most_liars_are_those_that_3f_plus_1_neighbours_stand(neighbours):
    f = most_allowed(neighbours)
    assert f == 0 or 3 * f + 1 <= neighbours
    assert 3 * (f + 1) + 1 > neighbours


def test_f_follows_from_the_neighbours_that_an_agent_may_hear():
    """It is never 0 unless a person says so, and it is in force from the start."""
    assert [heard_by(Agent(3, f=AUTO), count).f for count in (0, 3, 4, 6, 7, 10)] == [1, 1, 1, 1, 2, 3]
    assert [heard_by(Agent(3, f=AUTO, neighbours=10), count).f for count in (0, 1, 6, 10, 13)] == [3, 3, 3, 3, 4]


def test_a_neighbour_that_is_forgotten_still_counts_and_one_that_is_removed_does_not():
    agent = heard_by(Agent(3, f=AUTO), 7)
    for sender in (1, 2, 3):
        agent.forget(sender)
    assert (agent.f, len(agent.senders)) == (2, 4)
    again = Agent.from_json(agent.to_json())
    assert (again.f, again.may_hear) == (2, 7), "also after a restart"
    for sender in (1, 2, 3):
        agent.remove(sender)
    assert (agent.f, agent.may_hear) == (1, 4)


def test_neighbours_proven_to_lie_lower_f():
    agent = heard_by(Agent(3, f=AUTO, neighbours=10), 9)
    agent.expel("agent 10")
    assert agent.f == 2
    agent.readmit("agent 10")
    assert agent.f == 3
    agent = heard_by(Agent(3, f=1), 3)
    for _ in range(2):
        agent.expel(agent.senders[0])
    assert (agent.f, len(agent.senders)) == (0, 1)


def test_who_is_expelled_is_heard_no_more_until_it_is_readmitted():
    agent = heard_by(Agent(3, f=1), 4)
    liar, report = agent.senders[0], Report([5, 5, 5], [0.5, 0.5, 0.5])
    agent.expel(liar)
    agent.hear(liar, report)
    assert liar not in agent.senders
    again = Agent.from_json(agent.to_json())
    assert (again.expelled, again.f) == ({liar}, 0)
    again.hear(liar, report)
    assert liar not in again.senders
    again.readmit(liar)
    again.hear(liar, report)
    assert (again.f, liar in again.senders) == (1, True)


def test_more_neighbours_away_than_f_are_not_taken_for_liars():
    """Ten were expected and three are there, one of whom lies: with f = 2 it must not be believed."""
    agent = Agent(3, f=2, filter="guarded", neighbours=10)
    for arm in range(3):
        agent.reward(arm, 0.5)
    alone = agent.belief().estimates.tolist()
    heard_by(agent, 3)
    assert agent.belief().estimates.tolist() == alone


def test_an_agent_is_saved_with_f_as_it_was_given():
    agent = heard_by(Agent(3, f=AUTO, neighbours=7), 7)
    again = Agent.from_json(agent.to_json())
    assert (again.f, again.to_json()) == (2, agent.to_json())


def test_auto_is_filled_in_from_the_degrees_of_a_graph():
    firms = Experiment(graph="firms", f=AUTO)
    assert f_of_agents(firms).tolist() == [1] * 10
    assert f_of_agents(Experiment(graph="star", agents=10, f=AUTO)).tolist() == [1] * 9 + [2]
    assert f_of_agents(Experiment(graph="star", agents=10, f=3)).tolist() == [3] * 10


def test_settings_and_warnings_speak_of_auto():
    experiment = Experiment(f=AUTO, byzantine=3)
    assert experiment.settings()["f"] == "auto"
    assert too_many_liars(experiment).startswith("f = auto, here 2, is too small: 7 normal agents hear up to 3")
    assert too_few_neighbours(experiment) is None
    few = too_few_neighbours(Experiment(graph="star", agents=10, f=AUTO))
    assert few == "f = auto needs 4 neighbours; 7 normal agents have fewer and ignore all reports: 3, 4, 5, 6, 7, 8, 9"
    assert too_many_liars(experiment.but(byzantine=2)) is None


@pytest.mark.parametrize("wrong", ["most", -1, 1.5, True])
def test_what_is_no_f_is_refused(wrong):
    for make in (lambda: Experiment(f=wrong), lambda: Agent(3, f=wrong)):
        with pytest.raises(
            BadInput, match=f"f {wrong!r} is not allowed; allowed: a whole number from 0 to .*, or auto"
        ):
            make()


def test_a_flag_takes_a_number_or_auto():
    assert (from_text("f", "2"), from_text("f", "auto")) == (2, "auto")
    with pytest.raises(BadInput, match="f 'many' is not allowed; allowed: a whole number, or auto"):
        from_text("f", "many")


def test_a_given_f_stays_as_it_is():
    assert [f_for(f, 100) for f in (0, 2)] == [0, 2]
    assert f_as_given(2) == 2


def test_a_state_in_which_the_expelled_are_still_heard_is_read_without_them():
    agent = heard_by(Agent(3, f=1), 4)
    state = json.loads(agent.to_json())
    state["expelled"] = [agent.senders[0]]
    again = Agent.from_json(json.dumps(state))
    assert (len(again.senders), again.f) == (3, 0)
    for wrong in ("bob", 3, [[1]]):
        with pytest.raises(BadInput):
            Agent.from_json(json.dumps({**state, "expelled": wrong}))
    with pytest.raises(BadInput):
        agent.readmit(["bob"])


def test_reports_are_compared_by_place_where_one_has_no_names_and_silence_says_nothing():
    before = Report(np.array([10.0, 4.0]), np.array([0.5, 0.5]), ("red", "green"))
    assert not Report(np.array([2.0, 4.0]), np.array([0.5, 0.5])).can_follow(before)
    assert Report(np.array([0.0, 5.0]), np.array([0.0, 0.5])).can_follow(before)
    assert Report(np.array([12.0, 5.0]), np.array([np.nan, 0.5])).can_follow(before)
    assert Report(np.array([3.0]), np.array([0.5]), ("blue",)).can_follow(before)
