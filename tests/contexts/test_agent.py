"""One live agent with contexts: what it chooses, hears, refuses and keeps."""

import copy
import json
import pickle
from collections import Counter
from types import SimpleNamespace

import naive
import naive_contexts
import numpy as np
import pytest

from byzmab import Agent, BadInput, Report
from byzmab.core.contexts.reports import ContextReport
from byzmab.core.filters.fates import Fate

PAIR = {"filter": "pooled", "policy": "tuned"}  # the defaults: nothing else is compiled
ARMS = ("red", "green", "blue")
THETA = {"red": (0.4, 0.2), "green": (-0.2, 0.5), "blue": (0.1, -0.4)}


def agent_of(**settings):
    return Agent(ARMS, **{**PAIR, "context": 2, **settings})


def contexts(rng, count, d=2):
    drawn = rng.normal(size=(count, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def learn(agent, rng, rounds, theta=THETA):
    for x in contexts(rng, rounds):
        arm = agent.select(x)
        agent.reward(arm, float(rng.random() < 0.5 + x @ theta[arm]), x)


def lie_of(report):
    """The same statistics with all parameters turned round."""
    return report._replace(moments=-report.moments)


# choices


@pytest.mark.parametrize("filter", ["pooled", "trimmed"])
def test_at_the_context_1_it_is_the_agent_without_contexts(filter):
    """By projection, as the ridge goes to 0."""
    rng = np.random.default_rng(1)
    settings = {"f": 1, "filter": filter, "policy": "tuned", "seed": 7}
    plain = Agent(4, **settings)
    at_one = Agent(4, **settings, context=1, ridge=1e-13, shares="projection", vetting=False)
    for _ in range(150):
        for sender in range(5):
            pulls = rng.integers(0, 1 + plain.time // 2, 4).astype(float)
            totals = pulls * rng.random(4)  # of whole ones some pull equally hard, and rounding says which is trimmed
            plain.hear(sender, Report(pulls, totals / np.maximum(pulls, 1.0)))
            at_one.hear(sender, ContextReport(pulls, (totals - pulls / 2)[:, None], pulls[:, None, None]))
        arm, value = plain.select(), float(rng.random() < 0.6)
        assert at_one.select((1.0,)) == arm
        plain.reward(arm, value)
        at_one.reward(arm, value, (1.0,))
        assert list(at_one.estimates.values()) == pytest.approx(list(plain.estimates.values()), abs=1e-6)


def test_agents_that_hear_each_other_choose_as_the_transcription_does():
    rng = np.random.default_rng(2)
    settings = SimpleNamespace(vetting=True, shares="equal", ridge=1.0, filter="pooled")
    agents = [agent_of(f=1, seed=number) for number in range(6)]
    tallies = [[(0, (np.zeros((2, 2)), np.zeros(2))) for _ in ARMS] for _ in agents]
    left_out, leads = 0, [0.0] * len(agents)
    for time in range(-len(ARMS), 60):
        told = [agent.report() for agent in agents]
        told[0] = lie_of(told[0])
        heard = [
            [naive_contexts.Arm(n, (G, -b if who == 0 else b), 1.0, 2) for n, (G, b) in arms]
            for who, arms in enumerate(tallies)
        ]
        for number, (agent, x) in enumerate(zip(agents, contexts(rng, len(agents)), strict=True)):
            others = [other for other in range(len(agents)) if other != number]
            for other in others if time >= 0 else ():
                agent.hear(other, told[other])
            arm = agent.select(x)
            if time >= 0:
                own = [naive_contexts.Arm(n, told, 1.0, 2) for n, told in tallies[number]]
                beliefs = naive_contexts.belief(
                    settings, own, {other: heard[other] for other in others}, x, 1, 1.5, time, False
                )
                told_to_it, by_itself = beliefs, naive_contexts.alone(own, x)
                beliefs = told_to_it if leads[number] >= -1 else by_itself
                assert np.array(agent._beliefs)[:3] == pytest.approx(np.array(beliefs).T, rel=1e-9, abs=1e-9)
                own_data = [(z, w) for z, w, _ in by_itself]
                assert np.array(agent._beliefs)[3:] == pytest.approx(np.array(own_data).T, rel=1e-9, abs=1e-9)
                rng_of_choice = naive.Stream(naive.fold(number, time))
                assert arm == ARMS[naive.choose("tuned", beliefs, own_data, time, rng_of_choice)]
                left_out += Fate.IMPLAUSIBLE in agent.explain().get(0, {}).values()
            value = float(rng.random() < 0.5 + x @ THETA[arm])
            agent.reward(arm, value, x)
            if time >= 0:
                off = [naive_contexts.squared_error(z[ARMS.index(arm)][0], value) for z in (by_itself, told_to_it)]
                leads[number] += off[0] - off[1]
                assert agent.lead == pytest.approx(leads[number], abs=1e-9)
            n, (G, b) = tallies[number][ARMS.index(arm)]
            tallies[number][ARMS.index(arm)] = n + 1, (G + np.outer(x, x), b + x * (value - 0.5))
    assert left_out > 20, "vetting never spoke"
    assert max(leads) > 1, "what was heard never helped"


@pytest.mark.parametrize("honest", [True, False])
def test_neighbours_are_followed_until_they_foretell_its_rewards_worse_than_itself(honest):
    """Four of four tell the same, more than f can leave out: good reports it goes on to follow, and lies no more."""
    rng, teacher, agent = np.random.default_rng(11), agent_of(seed=1), Agent(ARMS, context=2, seed=2)
    learn(teacher, rng, 400)
    for sender in range(4):
        agent.hear(sender, teacher.report() if honest else lie_of(teacher.report()))
    assert set(agent.explain((1.0, 0.0))[0].values()) == {Fate.UNUSED}
    learn(agent, rng, 150)
    x = (1.0, 0.0)
    alone = Agent.from_json(agent.to_json())
    for sender in range(4):
        alone.forget(sender)
    assert agent.lead > 1.0 if honest else agent.lead < -1.0
    assert (agent.belief(x).weights > alone.belief(x).weights).all() == honest
    assert (set(agent.explain(x)[0].values()) == {Fate.KEPT}) == honest


def test_looking_at_another_context_does_not_change_what_a_reward_judges():
    rng, other, agents = np.random.default_rng(12), agent_of(seed=1), [agent_of(seed=2) for _ in range(2)]
    learn(other, rng, 100)
    for x in contexts(rng, 40):
        for number, agent in enumerate(agents):
            agent.hear("other", other.report())
            arm = agent.select(x)
            if number:
                agent.belief(-x)
                agent.explain(-x)
            agent.reward(arm, 0.7, x)
    assert agents[0].lead == agents[1].lead != 0.0


def test_looking_at_the_latest_context_again_does_not_change_what_a_reward_judges():
    """Between a choice and its reward more is heard, and somebody looks at the agent."""
    agent, twin, other = agent_of(f=0, seed=3), agent_of(f=0, seed=3), agent_of(seed=4)
    rng = np.random.default_rng(12)
    for x in contexts(rng, 40):
        learn(other, rng, 1)
        arm = agent.select(x)
        assert twin.select(x) == arm
        for one in (agent, twin):
            one.hear("other", other.report())
        twin.belief()
        twin._repr_html_()
        assert agent.estimates == twin.estimates
        for one in (agent, twin):
            one.reward(arm, float(arm == "red"), x)
    assert agent.lead != 0.0
    assert agent.to_json() == twin.to_json()


def test_with_contexts_pooled_and_tuned_are_the_defaults():
    assert "filter 'pooled', policy 'tuned'" in repr(Agent(ARMS, context=2))
    assert "filter 'guarded', policy 'tuned'" in repr(Agent(ARMS, 1, 1.5, "guarded", context=2))
    assert "filter 'trimmed', policy 'ucb'" in repr(Agent(ARMS))


def test_an_agent_that_is_lied_to_learns_what_is_best_where():
    rng = np.random.default_rng(3)
    teachers = [agent_of(seed=number) for number in range(4)]
    for teacher in teachers:
        learn(teacher, rng, 600)
    agent = agent_of(f=1, seed=9)
    for number, teacher in enumerate(teachers):
        agent.hear(number, teacher.report())
    agent.hear("liar", lie_of(teachers[0].report()))
    learn(agent, rng, 60)
    right = 0
    for x in contexts(rng, 200):
        means = [0.5 + x @ THETA[arm] for arm in ARMS]
        right += max(means) - means[int(np.argmax(agent.belief(x).estimates))] < 0.1
    assert right > 180
    assert set(agent.explain((0.0, 1.0))["liar"].values()) == {Fate.IMPLAUSIBLE}


def test_floors_and_caps_hold_at_contexts():
    rng, agent = np.random.default_rng(4), agent_of(floor=0.1, cap={"red": 0.4}, seed=3)
    chosen = Counter()
    for _ in range(600):
        arm = agent.select((1.0, 0.0))
        agent.reward(arm, float(rng.random() < 0.5 + THETA[arm][0]), (1.0, 0.0))
        chosen[arm] += 1
    assert chosen["red"] < 290 and min(chosen.values()) > 35, chosen


# rewards, arms, state


def test_a_late_reward_counts_at_the_context_of_its_pull():
    early, late = agent_of(), agent_of()
    xs = contexts(np.random.default_rng(5), 3)
    pulled = [(early.select(x), x) for x in xs]
    late.select_many(xs)
    for arm, x in pulled:
        early.reward(arm, 0.7, x)
    for arm, x in reversed(pulled):
        late.reward(arm, 0.7, x)
    for arm, x in pulled:
        moment, gram = late.statistics(arm)
        assert moment == pytest.approx(0.2 * x) and gram == pytest.approx(np.outer(x, x))
    assert early.report().to_json() == late.report().to_json()


def test_a_retired_arm_keeps_its_statistics_and_a_reset_one_begins_anew():
    agent = agent_of()
    learn(agent, np.random.default_rng(6), 30)
    before = agent.statistics("blue")
    agent.retire_arm("blue")
    assert agent.report().arms == ("red", "green")
    agent.reward("blue", 1.0, (1.0, 0.0))
    agent.add_arm("blue")
    assert agent.statistics("blue")[1] - before[1] == pytest.approx(np.diag([1.0, 0.0]))
    agent.reset("red")
    assert not agent.statistics("red")[1].any() and agent.tally("red").pulls == 0
    assert agent.select((1.0, 0.0)) == "red"


def test_an_agent_saved_and_loaded_in_every_round_goes_on_as_if_it_had_never_stopped():
    rng = np.random.default_rng(7)
    agent, twin, other = agent_of(f=1, seed=5), agent_of(f=1, seed=5), agent_of(seed=6)
    for x in contexts(rng, 60):
        learn(other, rng, 1)
        arm, value = agent.select(x), float(rng.random())
        assert arm == twin.select(x)
        twin = Agent.from_json(twin.to_json())
        for one in (agent, twin):
            one.reward(arm, value, x)
            one.hear("other", other.report())
    assert twin.context == 2
    assert agent.to_json() == twin.to_json()


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_a_copy_goes_on_as_the_agent_does_and_by_itself(made):
    """Between a choice and its reward, too, when forecasts wait to be judged."""
    agent, other = agent_of(f=1), agent_of(seed=6)
    learn(other, np.random.default_rng(1), 40)
    agent.hear("other", lie_of(other.report()))
    learn(agent, np.random.default_rng(2), 40)
    arm = agent.select((0.6, 0.8))
    kept, again = agent.to_json(), made(agent)
    for one in (again, agent):
        assert one is again or one.to_json() == kept
        one.reward(arm, 1.0, (0.6, 0.8))
        learn(one, np.random.default_rng(3), 60)
    assert again.context == 2
    assert again.to_json() == agent.to_json() and again.report().pulls.sum() == 101


@pytest.mark.parametrize("ridge", [1e-15, 1e-7, 1.0, 1e12])
def test_an_agent_that_saw_one_context_only_is_loaded_again_however_small_the_ridge(ridge):
    """A⁻¹ is large where nothing was seen, and rounding with it."""
    agent, rng = agent_of(ridge=ridge), np.random.default_rng(1)
    for _ in range(3000):
        agent.reward(agent.select((0.6, 0.8)), float(rng.random() < 0.5), (0.6, 0.8))
    again = Agent.from_json(agent.to_json())
    assert again.to_json() == agent.to_json()


def test_numbers_too_large_to_count_with_are_silence():
    """Finite, and of a possible report; but their squares are not."""
    agent = agent_of(shares="information", vetting=False)
    learn(agent, np.random.default_rng(2), 20)
    believed = agent.belief((0.6, 0.8))
    huge = ContextReport(np.full(3, 1e200), np.zeros((3, 2)), np.tile(5e199 * np.eye(2), (3, 1, 1)))
    agent.hear("other", huge)
    assert np.array_equal(agent.belief((0.6, 0.8)), believed)


@pytest.mark.parametrize("shares", ["equal", "information"])
@pytest.mark.parametrize(("pulls", "below"), [(1e9, 0.99), (1e12, 1e8), (9e15, 9e15)])
def test_a_matrix_below_0_within_the_slack_of_its_pulls_takes_nothing_from_the_others(shares, pulls, below):
    """A liar claims as many pulls as it likes, and with them what rounding may do: no audit refuses it."""
    agent, rng = agent_of(f=1, shares=shares), np.random.default_rng(3)
    for sender in range(5):
        neighbour = agent_of(seed=sender + 10)
        learn(neighbour, rng, 150)
        agent.hear(sender, neighbour.report())
    learn(agent, rng, 20)
    before = agent.belief((0.6, 0.8))
    agent.hear("liar", ContextReport(np.full(3, pulls), np.zeros((3, 2)), np.tile(np.diag([-below, 1.0]), (3, 1, 1))))
    after = agent.belief((0.6, 0.8))
    assert after.estimates == pytest.approx(before.estimates, abs=0.1)
    assert (after.weights < 3.0 * before.weights).all()
    assert agent.select((0.6, 0.8)) in ARMS and agent.explain()["liar"].keys() == {*ARMS}


@pytest.mark.parametrize("shares", ["equal", "information"])
def test_what_one_neighbour_knows_without_end_of_one_direction_is_no_obstacle(shares):
    """With f = 0 it counts in full: next to it, λ and all that the others know is less than rounding."""
    rng = np.random.default_rng(4)
    agent = agent_of(ridge=1e-6, shares=shares, vetting=False)
    learn(agent, rng, 3)
    for along in contexts(rng, 40):
        told = np.tile(9e15 * np.outer(along, along), (3, 1, 1))
        agent.hear("other", ContextReport(np.full(3, 9e15), np.zeros((3, 2)), told))
        for x in ((0.6, 0.8), along):
            belief = agent.belief(x)
            assert np.isfinite(belief).all() and (belief.weights > 0.0).all()
            assert agent.explain(x)["other"].keys() == {*ARMS}


def test_a_state_that_no_agent_has_is_refused():
    agent = agent_of()
    learn(agent, np.random.default_rng(8), 20)
    state = json.loads(agent.to_json())
    for damage in (
        {"statistics": state["statistics"][:-1]},
        {"statistics": [[arm, n + 1, *rest] for arm, n, *rest in state["statistics"]]},
        {"statistics": [[arm, *row[:-1], row[-1] + 0.1] for arm, *row in state["statistics"]]},
        {"context": 3},
        {"latest": [2.0, 0.0]},
        {"trial": [0.0, 0.5]},
        {"trial": [None]},
        {"trial": []},
    ):
        with pytest.raises(BadInput):
            Agent.from_json(json.dumps({**state, **damage}))


# bad input


BAD = [
    (1.0,),
    (1.0, 0.0, 0.0),
    (np.nan, 0.0),
    (np.inf, 0.0),
    (0.9, 0.9),
    (0.0, 0.0),
    "x",
    ("a", "b"),
    1.0,
    None,
    [[1.0, 0.0]],
]


@pytest.mark.parametrize("x", BAD, ids=str)
def test_a_bad_context_is_refused_in_one_sentence_and_nothing_is_lost(x):
    agent = agent_of()
    learn(agent, np.random.default_rng(9), 5)
    before = agent.to_json()
    for ask in (
        lambda: agent.select(x),
        lambda: agent.reward("red", 1.0, x),
        lambda: agent.select_many([(1.0, 0.0), x]),
    ):
        with pytest.raises(BadInput, match=r"^context .*; allowed: (2 (finite )?numbers|a norm above 0)[^\n]*$"):
            ask()
    assert agent.to_json() == before


def test_a_context_where_none_is_expected_is_refused():
    agent = Agent(2)
    before = agent.to_json()
    for ask in (agent.select, agent.belief, agent.explain, lambda x: agent.reward(0, 1.0, x)):
        with pytest.raises(BadInput, match="context is not allowed; allowed: none"):
            ask((1.0, 0.0))
    assert agent.to_json() == before
    with pytest.raises(BadInput, match="ridge is not allowed here"):
        Agent(2, ridge=2.0)


@pytest.mark.parametrize(
    "settings",
    [
        {"context": 0},
        {"context": 2.0},
        {"context": True},
        {"context": 513},
        {"ridge": 0.0},
        {"ridge": np.nan},
        {"shares": "all"},
        {"vetting": 1},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(BadInput, match=next(iter(settings))):
        agent_of(**settings)


def test_what_needs_no_contexts_is_refused():
    agent = agent_of()
    with pytest.raises(BadInput, match="warm start is not allowed with contexts"):
        agent.warm_start({"red": (3, 0.5)})
    with pytest.raises(BadInput, match="best is not allowed with contexts"):
        agent.best()


def test_a_report_of_another_kind_or_size_is_refused_and_what_was_heard_stays():
    agent, other = agent_of(), agent_of()
    learn(other, np.random.default_rng(10), 20)
    agent.hear("other", other.report())
    before, report = agent.to_json(), other.report()
    bad = [
        Report([1.0], [0.5], ("red",)),
        Agent(ARMS, **PAIR, context=3).report(),
        report._replace(pulls=report.pulls / 2),
        report._replace(grams=-report.grams),
        report._replace(moments=report.moments + 100.0),
        report._replace(grams=report.grams + np.array([[0.0, 0.3], [0.0, 0.0]])),
        report._replace(moments=report.moments * np.nan),
    ]
    for wrong in bad:
        with pytest.raises(BadInput, match="report"):
            agent.hear("other", wrong)
    with pytest.raises(BadInput, match="allowed: a Report"):
        Agent(ARMS).hear("other", report)
    assert agent.to_json() == before


def test_arms_that_only_one_side_knows_are_left_out():
    agent, other = agent_of(vetting=False), Agent(["violet", "red"], **PAIR, context=2)
    learn(other, np.random.default_rng(11), 40, {"violet": (0.1, 0.1), "red": THETA["red"]})
    for arm in ARMS:
        agent.reward(arm, 0.5, (0.6, 0.6))
    agent.hear("other", other.report())
    assert agent.explain((1.0, 0.0)) == {"other": {"red": Fate.KEPT, "green": Fate.SILENT, "blue": Fate.SILENT}}
