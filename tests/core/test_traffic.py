"""A floor and a cap of traffic per arm."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from byzmab import Agent, BadInput
from byzmab.core.traffic import Forced, Traffic, luck_at

MEANS = {"a": 0.9, "b": 0.6, "c": 0.3, "d": 0.1}
ARMS = list(MEANS)
ROUNDS = 4000


def shares(agent, rounds=ROUNDS):
    """The share of decisions of each arm while rewards come at once."""
    rng = np.random.default_rng(1)
    chosen = dict.fromkeys(ARMS, 0)
    for _ in range(rounds):
        arm = agent.select()
        chosen[arm] += 1
        agent.reward(arm, float(rng.random() < MEANS[arm]))
    return {arm: count / rounds for arm, count in chosen.items()}


def least(share, rounds=ROUNDS):
    """What a share falls below once in a million times."""
    return (binom.ppf(1e-6, rounds, share) - len(ARMS)) / rounds


def most(share, rounds=ROUNDS):
    return (binom.ppf(1 - 1e-6, rounds, share) + len(ARMS)) / rounds


@pytest.mark.parametrize("policy", ["ucb", "greedy", "thompson", "softmax", "kl-ucb"])
def test_every_arm_gets_its_floor_and_no_more_than_its_cap(policy):
    free = shares(Agent(ARMS, policy=policy))
    agent = Agent(ARMS, policy=policy, floor={"c": 0.1, "d": 0.1}, cap={"a": 0.4, "b": 0.3})
    bound = shares(agent)
    assert free["a"] > most(0.4) or policy == "softmax"
    assert free["d"] < least(0.1)
    assert bound["d"] >= least(0.1) and bound["c"] >= least(0.1)
    assert bound["a"] <= most(0.4) and bound["b"] <= most(0.3)


def test_what_a_cap_takes_from_the_best_arm_goes_to_the_next():
    bound = shares(Agent(ARMS, policy="ucb", cap={"a": 0.5}))
    assert bound["a"] == pytest.approx(0.5, abs=0.05) and bound["b"] > 0.4


def test_floors_that_leave_nothing_free_decide_everything():
    bound = shares(Agent(ARMS, policy="greedy", floor=0.25))
    assert all(share == pytest.approx(0.25, abs=0.04) for share in bound.values())


def test_the_chance_of_an_arm_is_between_floor_and_cap_in_every_decision():
    """Exactly: the numbers in [0, 1) that stand for an arm are its floor, and what the policy's order leaves it."""
    traffic = Traffic({"b": 0.1, "d": 0.2}, {"a": 0.3, "c": 0.25})
    grid = (np.arange(2000) + 0.5) / 2000

    def prefer(left):
        return min(left, key=[2, 0, 1, 3].index)  # the policy likes c best, then a, then b

    drawn = [traffic.draw(ARMS, luck, prefer) for luck in grid]
    counts = {arm: sum(index == number for index, _ in drawn) / 2000 for number, arm in enumerate(ARMS)}
    assert counts == pytest.approx({"c": 0.25, "a": 0.3, "b": 0.25, "d": 0.2}, abs=2e-3)
    forced = [why for _, why in drawn]
    assert forced.count(None) / 2000 == pytest.approx(0.25, abs=2e-3)
    assert forced.count(Forced.FLOOR) / 2000 == pytest.approx(0.3, abs=2e-3)


def test_a_choice_is_marked_as_forced_only_where_the_policy_would_have_chosen_otherwise():
    agent = Agent(ARMS, policy="greedy", floor={"d": 0.2}, cap={"a": 0.5})
    seen = set()
    for _ in range(300):
        arm, free = agent.select(), agent.policy.choose(agent.belief(), 1, np.empty(0), np.zeros(2, np.uint64))
        agent.reward(arm, MEANS[arm])
        if agent.time:
            assert (agent.forced is None) == (arm == ARMS[free])
            seen.add((arm, agent.forced))
    assert seen == {("a", None), ("d", Forced.FLOOR), ("b", Forced.CAP)}


def test_without_floors_and_caps_choices_are_as_they_were():
    plain, given = Agent(ARMS, seed=3), Agent(ARMS, seed=3, floor=0.0, cap={})
    assert shares(plain, 300) == shares(given, 300) and given.forced is None


def test_a_saved_agent_goes_on_with_its_floors_caps_and_luck():
    agent = Agent(4, policy="thompson", floor={2: 0.2}, cap=0.4, seed=9)
    for _ in range(50):
        agent.reward(agent.select(), 0.5)
    twin = Agent.from_json(agent.to_json())
    mine, theirs = ([(one.select(), one.forced) for _ in range(100)] for one in (agent, twin))
    assert mine == theirs and any(why is not None for _, why in mine)


def test_a_state_saved_before_there_were_floors_is_read():
    text = Agent(2).to_json().replace('"traffic": [0.0, 1.0], ', "")
    assert "traffic" not in text and Agent.from_json(text).traffic.is_free


def test_luck_is_uniform_and_not_the_policys():
    lucks = [luck_at(5, time) for time in range(2000)]
    assert len(set(lucks)) == 2000 and np.mean(lucks) == pytest.approx(0.5, abs=0.03)
    assert np.std(lucks) == pytest.approx(math.sqrt(1 / 12), abs=0.01)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"floor": 0.3}, r"floor: those of 4 arms sum to 1\.2; allowed: at most 1"),
        ({"cap": 0.2}, r"cap: those of 4 arms sum to 0\.8; allowed: at least 1"),
        ({"floor": {"a": 0.3}, "cap": {"a": 0.2}}, r"floor 0\.3 of arm 'a' .* its cap, 0\.2"),
        ({"floor": {"e": 0.1}}, r"floor of arm 'e' is not allowed; allowed: of arms in use, 'a', 'b', 'c', 'd'"),
        ({"cap": {"e": 0.1}}, "cap of arm 'e'"),
        ({"cap": {"a": 0.0}}, r"cap 0\.0 is not allowed; allowed: shares in \(0, 1\]"),
        ({"floor": -0.1}, r"floor -0\.1"),
        ({"floor": math.nan}, "floor nan"),
        ({"floor": "much"}, "floor 'much'"),
        ({"floor": {"a": True}}, "floor True"),
        ({"floor": [0.1]}, "floor"),
    ],
)
def test_shares_that_cannot_be_are_refused_in_one_sentence(settings, words):
    with pytest.raises(BadInput, match=words) as caught:
        Agent(ARMS, **settings)
    assert "\n" not in str(caught.value)
    agent = Agent(ARMS, floor=0.1)
    with pytest.raises(BadInput):
        agent.set_traffic(**settings)
    assert agent.traffic.floors(agent.arms) == [0.1] * 4


def test_arms_change_only_as_far_as_their_shares_can_be():
    agent = Agent(ARMS, floor={"a": 0.5})
    with pytest.raises(BadInput, match="floor of arm 'a'"):
        agent.retire_arm("a")
    agent = Agent(ARMS, floor=0.25)
    with pytest.raises(BadInput, match=r"5 arms sum to 1\.25"):
        agent.add_arm("e")
    assert agent.arms == tuple(ARMS)
    agent.set_arms(["a", "b", "c", "e"])  # at once it can be
    assert agent.arms == ("a", "b", "c", "e")
