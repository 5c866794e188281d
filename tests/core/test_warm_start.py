"""A warm start from past counts, and the reset of one arm."""

import numpy as np
import pytest

from byzmab import Agent, BadInput

MEANS = {"a": 0.8, "b": 0.5, "c": 0.2}


def learn(agent, rounds):
    rng = np.random.default_rng(4)
    for _ in range(rounds):
        arm = agent.select()
        agent.reward(arm, float(rng.random() < MEANS[arm]))
    return agent


def choices(agent, rounds=200):
    return [(arm := agent.select(), agent.reward(arm, MEANS[arm]))[0] for _ in range(rounds)]


@pytest.mark.parametrize("policy", ["ucb", "thompson", "kl-ucb"])
def test_a_warm_agent_chooses_as_if_it_had_made_the_pulls_itself(policy):
    old = learn(Agent(list(MEANS), policy=policy, seed=5), 300)
    warm = Agent(list(MEANS), policy=policy, seed=5)
    warm.warm_start({arm: (old.tally(arm).pulls, old.tally(arm).mean) for arm in MEANS})
    assert warm.time == old.time and warm.report().pulls.tolist() == old.report().pulls.tolist()
    assert choices(warm) == choices(old)


def test_an_arm_without_past_counts_is_chosen_first():
    agent = Agent(list(MEANS))
    agent.warm_start({"a": (100, 0.75), "b": (0, 0.0)})
    assert [agent.select(), agent.select()] == ["b", "c"]
    assert agent.report().pulls.tolist() == [100, 0, 0] and agent.report().means[0] == 0.75
    assert agent.time == 99


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"z": (1, 0.5)}, "arm 'z' does not exist; allowed: 'a', 'b', 'c'"),
        ({"a": (-1, 0.5)}, r"past counts \(-1, 0.5\) of arm 'a'"),
        ({"a": (1.5, 0.5)}, r"past counts \(1.5, 0.5\)"),
        ({"a": (True, 0.5)}, "past counts"),
        ({"a": (10**13, 0.5)}, "whole pulls from 0 to 1000000000000"),
        ({"a": (10, 1.5)}, r"mean in \[0, 1\]"),
        ({"a": (10, float("nan"))}, r"mean in \[0, 1\]"),
        ({"a": (10, "half")}, "past counts"),
        ({"a": 10}, "past counts 10"),
        ({"a": (1, 2, 3)}, "past counts"),
        ([("a", 1, 0.5)], "table .* allowed: arms, each with its pulls and their mean"),
    ],
)
def test_past_counts_that_cannot_be_are_refused_and_change_nothing(table, words):
    agent = Agent(list(MEANS))
    before = agent.to_json()
    with pytest.raises(BadInput, match=words):
        agent.warm_start(table)
    assert agent.to_json() == before


def test_a_warm_start_comes_before_the_first_choice_and_once():
    agent = Agent(list(MEANS))
    agent.select()
    with pytest.raises(BadInput, match="warm start is not allowed once there are choices"):
        agent.warm_start({"a": (10, 0.5)})
    agent = Agent(list(MEANS))
    agent.warm_start({"a": (10, 0.5)})
    with pytest.raises(BadInput, match="warm start is not allowed"):
        agent.warm_start({"a": (10, 0.5)})


def test_a_reset_forgets_one_arm_and_nothing_else():
    agent = learn(Agent(list(MEANS)), 300)
    waiting = [agent.select() for _ in range(6)]
    before, time = {arm: (agent.tally(arm).pulls, agent.tally(arm).total) for arm in MEANS}, agent.time
    pending = agent.tally("a").pending
    agent.reset("a")
    assert (agent.tally("a").pulls, agent.tally("a").pending) == (0, pending) and agent.time == time
    assert all((agent.tally(arm).pulls, agent.tally(arm).total) == before[arm] for arm in "bc")
    for arm in waiting:
        agent.reward(arm, 1.0)
    assert agent.tally("a").pulls == pending
    agent.reset("b")
    assert agent.select() == "b"  # as if it were new
    with pytest.raises(BadInput, match="arm 'z' does not exist"):
        agent.reset("z")


def test_an_arm_that_has_become_the_best_is_found_after_its_reset():
    agent = learn(Agent(list(MEANS)), 3000)
    agent.reset("c")
    changed = {**MEANS, "c": 1.0}
    last = [(arm := agent.select(), agent.reward(arm, changed[arm]))[0] for _ in range(300)]
    assert last[-100:].count("c") > 60
