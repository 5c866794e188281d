"""One agent in any program."""

import copy
import json
import pickle

import numpy as np
import pytest

from byzmab import Agent, BadInput, Report


def learn(agent, means, rounds, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        arm = agent.select()
        agent.reward(arm, float(rng.random() < means[arm]))
    return agent


def test_every_arm_is_chosen_once_before_any_twice():
    agent = Agent(["a", "b", "c"])
    assert sorted(agent.select() for _ in range(3)) == ["a", "b", "c"]
    assert agent.time == 0
    agent.select()
    assert agent.time == 1


def test_a_burst_before_any_reward_spreads_over_the_arms():
    agent = Agent(4)
    counts = np.bincount([agent.select() for _ in range(40)], minlength=4)
    assert counts.tolist() == [10, 10, 10, 10]


def test_pending_pulls_count_in_the_width_alone():
    agent = learn(Agent(2), {0: 1.0, 1: 1.0}, 20)
    before, report = agent.belief(), agent.report()
    arm = agent.select()
    after = agent.belief()
    assert after.weights[arm] == before.weights[arm] + 1
    assert after.estimates.tolist() == before.estimates.tolist()
    assert agent.report().pulls.tolist() == report.pulls.tolist()


def test_rewards_may_come_late_and_in_any_order():
    prompt, late = Agent(2, seed=3), Agent(2, seed=3)
    chosen = [late.select() for _ in range(6)]
    for number, arm in reversed(list(enumerate(chosen))):
        late.reward(arm, number / 10)
    for number, arm in enumerate(chosen):
        prompt.reward(arm, number / 10)
    assert late.report().pulls.tolist() == prompt.report().pulls.tolist()
    assert late.report().means == pytest.approx(prompt.report().means)


def test_estimates_are_those_of_the_latest_choice():
    agent = learn(Agent(["a", "b"]), {"a": 0.5, "b": 0.5}, 20)
    expected = dict(zip("ab", agent.belief().estimates.tolist(), strict=True))
    arm = agent.select()
    assert agent.estimates == expected
    agent.reward(arm, 1.0)
    assert agent.estimates == expected
    assert Agent.from_json(agent.to_json()).estimates == dict(zip("ab", agent.belief().estimates.tolist(), strict=True))


def test_a_pull_given_up_leaves_no_trace():
    agent = learn(Agent(2), {0: 0.9, 1: 0.1}, 20)
    before = agent.to_json()
    time, arm = agent.time, agent.select()
    agent.give_up(arm)
    agent.time = time
    assert agent.to_json() == before
    with pytest.raises(BadInput, match="no pull to give up"):
        agent.give_up(arm)


def test_an_arm_whose_first_pull_is_given_up_is_chosen_first_again():
    agent = Agent(["a", "b"])
    first = agent.select()
    agent.give_up(first)
    assert {agent.select(), agent.select()} == {"a", "b"}
    assert agent.time == 0


def test_a_retired_arm_can_be_given_up_too():
    agent = Agent(["a", "b", "c"])
    arm = agent.select()
    agent.retire_arm(arm)
    agent.give_up(arm)
    assert agent.tally(arm).pending == 0


def test_an_agent_tells_what_became_of_every_report():
    agent = learn(Agent(["a", "b"], f=1), {"a": 0.5, "b": 0.5}, 40)
    for name, mean in (("w", 0.0), ("x", 0.4), ("y", 0.6), ("z", 1.0)):
        agent.hear(name, Report(np.array([1e6]), np.array([mean]), ("a",)))
    fates = {name: fate["a"] for name, fate in agent.explain().items()}
    assert fates == {"w": "trimmed", "x": "kept", "y": "kept", "z": "trimmed"}
    assert {fate["b"] for fate in agent.explain().values()} == {"silent"}


def test_an_arm_added_is_tried_at_once_and_one_retired_never_again():
    agent = learn(Agent(["a", "b", "c"]), {"a": 0.9, "b": 0.1, "c": 0.1}, 50)
    agent.add_arm("d")
    assert agent.select() == "d"
    agent.retire_arm("a")
    assert all(agent.select() != "a" for _ in range(50))
    agent.reward("a", 1.0)  # late, and not lost
    agent.add_arm("a")
    report = agent.report()
    assert report.pulls[report.arms.index("a")] > 1


def test_arms_are_matched_by_name_and_others_ignored():
    agent = learn(Agent(["a", "b"], filter="pooled"), {"a": 0.5, "b": 0.5}, 20)
    before = agent.belief()
    agent.hear("x", Report(np.array([5.0, 7.0]), np.array([0.9, 0.8]), ("z", "b")))
    after = agent.belief()
    assert after.weights[0] == before.weights[0]
    assert after.weights[1] == before.weights[1] + min(7, agent.report().pulls[1])
    agent.forget("x")
    assert agent.belief().weights.tolist() == before.weights.tolist()


def test_more_neighbours_than_there_was_room_for_are_all_heard():
    agent = learn(Agent(2, filter="pooled"), {0: 0.5, 1: 0.5}, 20)
    own = agent.report().pulls
    for name in range(50):
        agent.hear(name, Report(np.full(2, 1e6), np.full(2, 0.5)))
    assert agent.belief().weights == pytest.approx(51 * own)


def test_cooperating_agents_find_the_best_arm_sooner():
    means = {0: 0.5, 1: 0.45}
    alone = learn(Agent(2, seed=1), means, 2000).report().pulls[0]
    crowd = [Agent(2, filter="pooled", seed=seed) for seed in range(10)]
    rng = np.random.default_rng(0)
    for _ in range(2000):
        for agent in crowd:
            arm = agent.select()
            agent.reward(arm, float(rng.random() < means[arm]))
        for name, agent in enumerate(crowd):
            for other in crowd:
                if other is not agent:
                    other.hear(name, agent.report())
    assert np.mean([agent.report().pulls[0] for agent in crowd]) > alone


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "much", None])
def test_a_bad_reward_changes_nothing(value):
    agent = learn(Agent(2), {0: 0.5, 1: 0.5}, 5)
    before = agent.to_json()
    with pytest.raises(BadInput, match="reward"):
        agent.reward(0, value)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "report",
    [
        Report(np.array([1.0]), np.array([0.5])),
        Report(np.array([1.0, np.nan]), np.array([0.5, 0.5])),
        Report(np.array([1.0, -2.0]), np.array([0.5, 0.5])),
        Report(np.array([1.0, np.inf]), np.array([0.5, 0.5])),
        Report(np.array([1.0, 1.0]), np.array([0.5, 1.5])),
        Report(np.array(["a", "b"]), np.array([0.5, 0.5])),
        Report(np.array([1.0, 1.0]), np.array([0.5, 0.5]), (0, 0)),
    ],
)
def test_an_impossible_report_is_refused_and_changes_nothing(report):
    agent = learn(Agent(2), {0: 0.5, 1: 0.5}, 5)
    before = agent.to_json()
    with pytest.raises(BadInput, match="report"):
        agent.hear("liar", report)
    assert agent.to_json() == before


@pytest.mark.parametrize(
    "settings",
    [
        {"arms": 1},
        {"arms": ["a", "a"]},
        {"arms": "ab"},
        {"arms": [[1], [2]]},
        {"arms": 2, "f": -1},
        {"arms": 2, "kappa": 2.0},
        {"arms": 2, "kappa": float("nan")},
        {"arms": 2, "filter": "trimed"},
        {"arms": 2, "seed": -1},
    ],
)
def test_bad_settings_are_named(settings):
    with pytest.raises(BadInput, match=next(reversed(settings)).rstrip("s")):
        Agent(**settings)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "arms": 5}'])
def test_a_broken_state_is_refused(text):
    with pytest.raises(BadInput, match="agent state"):
        Agent.from_json(text)


@pytest.mark.parametrize(
    "act",
    [
        lambda agent: agent.hear("x", None),
        lambda agent: agent.reward([0], 1.0),
        lambda agent: agent.hear(("x", 1), agent.report()),
    ],
)
def test_things_of_the_wrong_kind_are_refused(act):
    with pytest.raises(BadInput):
        act(learn(Agent(2), {0: 0.5, 1: 0.5}, 5))


def test_numbers_of_numpy_are_numbers():
    agent = Agent(np.array(["a", "b"]))
    agent.reward("a", np.float32(0.5))
    agent.to_json()
    assert agent.report().means[0] == 0.5


@pytest.mark.parametrize(
    "rows",
    [[["a", -1, 0.0, 0]], [["a", 2, 3.0, 0]], [["a", 1, float("nan"), 0]], [["a", 1, 0.5, -1]], [["a", 1.5, 0.5, 0]]],
)
def test_a_state_that_no_agent_can_have_is_refused(rows):
    state = json.loads(learn(Agent(["a", "b"]), {"a": 0.5, "b": 0.5}, 5).to_json())
    with pytest.raises(BadInput, match="agent state"):
        Agent.from_json(json.dumps({**state, "arms": rows + state["arms"][1:]}))
    with pytest.raises(BadInput, match="agent state"):
        Agent.from_json(json.dumps({**state, "time": 10**30}))


def test_the_state_is_plain_json():
    agent = learn(Agent(["a", "b"]), {"a": 0.5, "b": 0.5}, 5)
    agent.hear("x", Report(np.array([1.0, 2.0]), np.array([0.5, 0.25])))
    assert json.loads(agent.to_json())["inbox"] == [["x", ["a", "b"], [1.0, 2.0], [0.5, 0.25]]]


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
@pytest.mark.parametrize("settings", [{}, {"tally": "window:20"}, {"floor": 0.1}], ids=str)
def test_a_copy_goes_on_as_the_agent_does_and_by_itself(made, settings):
    means, neighbour = {"a": 0.7, "b": 0.4}, learn(Agent(["a", "b"], seed=2), {"a": 0.7, "b": 0.4}, 30)
    agent = Agent(["a", "b"], seed=1, **settings)
    agent.hear("neighbour", neighbour.report())
    learn(agent, means, 40)
    kept, again = agent.to_json(), made(agent)
    learn(again, means, 60, seed=3)
    assert agent.to_json() == kept
    learn(agent, means, 60, seed=3)
    assert again.to_json() == agent.to_json()
    assert again.report().pulls.sum() == 100 or settings
