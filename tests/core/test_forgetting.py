"""Tallies that forget follow arms that change; alone with `ucb` they are D-UCB and SW-UCB."""

import math

import naive
import numpy as np
import pytest

from byzmab import Agent, BadInput, Experiment, Report, simulate
from byzmab.core.forgetting import parse_tally
from byzmab.node.config import Config
from byzmab.simulation.single_run import Run

XI = 0.6  # of the two papers; the policy's α is 4 ξ


def padded(values, count, xi, log_of):
    """The index of an arm: its mean, and the padding 2 √(ξ ln n / N) of Garivier and Moulines with B = 1."""
    return math.inf if count == 0 else sum(values) / count + 2 * math.sqrt(xi * math.log(log_of) / count)


def d_ucb(history, arms, gamma):
    """The indices of D-UCB: arXiv 0805.3415, Section 2; history is (arm, reward) from the first play on."""
    ages = range(len(history) - 1, -1, -1)
    indices = []
    for arm in range(arms):
        worth = [(gamma**age, reward) for age, (pulled, reward) in zip(ages, history, strict=True) if pulled == arm]
        count = sum(weight for weight, _ in worth)
        total = sum(gamma**age for age in ages)
        indices.append(padded([weight * reward for weight, reward in worth], count, XI, total))
    return indices


def sw_ucb(history, arms, window):
    """The indices of SW-UCB, from the last `window` plays."""
    recent = history[-window:]
    rewards = [[reward for pulled, reward in recent if pulled == arm] for arm in range(arms)]
    return [padded(values, len(values), XI, min(len(history), window)) for values in rewards]


@pytest.mark.parametrize(("tally", "indices", "parameter"), [("forget:0.97", d_ucb, 0.97), ("window:40", sw_ucb, 40)])
def test_alone_the_choices_are_those_of_garivier_and_moulines(tally, indices, parameter):
    experiment = Experiment(
        agents=2, byzantine=0, filter="solo", policy=f"ucb:{4 * XI}", tally=tally, drift="steps:60", horizon=200, runs=1
    )
    run = Run(experiment, 0)
    keys = naive.key_of(experiment, 0, naive.POLICY)
    history = [(arm, float(run.state.ever_totals[0, arm])) for arm in range(4)]
    for time in range(experiment.horizon):
        expected = indices(history, 4, parameter)
        before = run.state.ever_totals[0].copy()
        run.advance(time + 1)
        chosen = int(run.state.choices[0])
        assert chosen == naive.argmax(expected, naive.Stream(naive.fold(naive.fold(keys, 0), time))), f"round {time}"
        history.append((chosen, float(run.state.ever_totals[0, chosen] - before[chosen])))


@pytest.mark.parametrize("tally", ["forget:0.99", "window:200"])
def test_forgetting_follows_an_arm_that_changes_and_costs_where_none_does(tally):
    """Paired over 10 runs: less regret with three changes, more without, both by more than two standard errors.

    The first with `trimmed`, which audits nothing: `guarded` expels these liars where all is kept, and only there, as
    counts that are forgotten cannot be audited. That is worth as much as forgetting.
    """
    base = Experiment(arms=(0.8, 0.5, 0.4), policy="ucb:0.2", attack="extreme", horizon=2000, runs=10, record=4)
    for filter, drift, sign in (("trimmed", "steps:500", -1), ("trimmed", "none", 1), ("guarded", "none", 1)):
        all_kept, forgot = (
            simulate(base.but(filter=filter, drift=drift, tally=kept)).network_regret[:, -1] for kept in ("all", tally)
        )
        more = sign * (forgot - all_kept)
        assert more.mean() > 2 * more.std(ddof=1) / math.sqrt(10)


def test_a_live_agent_tells_what_is_left_of_its_rewards():
    agent = Agent(2, tally="forget:0.5")
    for arm, value in ((0, 1.0), (1, 0.0), (0, 0.0)):
        agent.reward(arm, value)
    report = agent.report()
    assert report.pulls.tolist() == [1.25, 0.5]
    assert report.means == pytest.approx([0.2, 0.0])
    assert agent.tally(0).pulls == 2
    window = Agent(2, tally="window:2")
    for arm, value in ((0, 1.0), (1, 0.0), (1, 1.0)):
        window.reward(arm, value)
    assert window.report().pulls[1] == 2.0 and window.report().means[1] == 0.5
    assert 0.0 < window.report().pulls[0] < 1e-6
    window.reset(1)
    assert window.report().pulls[1] == 0.0


def test_a_neighbour_that_tells_more_than_is_left_of_ones_own_is_heard_by_guarded():
    agent = Agent(2, f=0, filter="guarded", tally="window:4")
    for value in (0.0, 1.0, 0.0, 1.0):
        agent.reward(0, value)
        agent.reward(1, value)
    agent.hear("neighbour", Report(np.array([4.0, 4.0]), np.array([0.9, 0.1])))
    assert agent.belief().estimates[0] > agent.belief().estimates[1]


def test_what_needs_all_rewards_is_refused_where_they_are_forgotten():
    agent = Agent(2, tally="window:4")
    with pytest.raises(BadInput, match="best does not go with tally 'window:4'"):
        agent.best()
    with pytest.raises(BadInput, match="warm start does not go with tally 'window:4'; allowed: all"):
        agent.warm_start({0: (3, 0.5)})
    with pytest.raises(BadInput, match=r"tally 'window:4' is not what a node does: .*; allowed: all"):
        Config(name="a", network="n", key="k", data="d", arms=("x", "y"), tally="window:4")


@pytest.mark.parametrize(
    "tally", ["forget", "forget:0", "forget:1", "forget:x", "window:1", "window:2.5", "all:1", "", 3]
)
def test_a_tally_that_is_none_is_told_with_what_is_allowed(tally):
    with pytest.raises(BadInput, match=r"tally .* is not allowed; allowed: all, forget:g .* or window:n"):
        parse_tally(tally)
