"""How far agents differ, and what others' reports are worth then: core/differences.py."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byzmab import Agent, Experiment, simulate
from byzmab.core.believe import ALL_ARMS
from byzmab.core.differences import limit_others, measure_difference, measure_neighbour, own_variance, worth_of
from byzmab.core.errors import BadInput
from byzmab.core.report import Belief, Report

UNIT = st.floats(0.0, 1.0)
COUNTS = st.integers(1, 10**6)
DIFFERENCES = st.floats(1e-9, 1.0)


def belief_of(estimate, weight, doubt, own_mean, own_pulls):
    return Belief(*(np.array([float(number)]) for number in (estimate, weight, doubt, own_mean, own_pulls)))


@given(n=COUNTS, others=COUNTS, mean=UNIT, estimate=UNIT, doubt=UNIT, apart=DIFFERENCES)
def test_others_are_never_worth_more_than_the_difference_allows(n, others, mean, estimate, doubt, apart):
    """At most v/τ² pulls, and the estimate moves from what was pooled towards the own mean, never past it."""
    belief = belief_of(estimate, n + others, doubt, mean, n)
    limit_others(belief.own_weights, belief.own_estimates, ALL_ARMS, (0, 1), apart, belief)
    left = belief.weights[0] - n
    assert -1e-9 * n <= left <= min(others, own_variance(n, mean) / apart) * (1 + 1e-9) + 1e-9 * n
    assert min(mean, estimate) - 1e-12 <= belief.estimates[0] <= max(mean, estimate) + 1e-12


@given(n=COUNTS, others=COUNTS, mean=UNIT, estimate=UNIT, doubt=UNIT, apart=st.just(0.0) | DIFFERENCES)
def test_no_report_takes_a_narrow_bound_from_own_data_away(n, others, mean, estimate, doubt, apart):
    belief = belief_of(estimate, n + others, doubt, mean, n)
    limit_others(belief.own_weights, belief.own_estimates, ALL_ARMS, (0, 1), apart, belief)
    narrow = mean + 0.3 * math.sqrt(own_variance(n, mean) / n)
    assert belief.estimates[0] + belief.doubts[0] >= narrow - 1e-12
    if apart == 0.0:
        assert (belief.estimates[0], belief.weights[0]) == (estimate, n + others)


@given(told=COUNTS, n=COUNTS, variance=st.floats(1e-6, 0.25), apart=DIFFERENCES)
def test_a_report_is_worth_no_more_than_its_pulls_ones_own_and_what_is_in_common(told, n, variance, apart):
    worth = worth_of(float(told), float(n), apart, variance)
    assert 0.0 <= worth <= min(told, n, variance / apart) * (1 + 1e-9)


def drawn_tallies(rng, means, pulls):
    return np.full(means.size, float(pulls)), rng.binomial(pulls, means) / pulls


def test_differences_are_found_where_there_are_some_and_seldom_where_there_are_none():
    """Twenty arms and 200 pulls: τ = 0.1 is found to a third, and equal means hardly ever look different."""
    rng, equal, apart = np.random.default_rng(4), [], []
    for _ in range(300):
        means = rng.uniform(0.3, 0.7, 20)
        own, other = drawn_tallies(rng, means, 200), drawn_tallies(rng, means, 200)
        equal.append(measure_neighbour(*own, *other))
        other = drawn_tallies(rng, np.clip(means + 0.1 * rng.standard_normal(20), 0, 1), 200)
        apart.append(measure_neighbour(*own, *other))
    assert np.mean(np.array(equal) > 0.0) < 0.06  # two standard deviations of a skewed sum, on one side
    assert 0.1**2 * 0.67 < np.mean(apart) < 0.1**2 * 1.33


def test_reports_alone_hide_no_difference_from_ones_own_rewards():
    """Whatever the others say of each other, an agent whose own means are elsewhere notices it."""
    own_pulls, own_means = np.full(4, 100.0), np.array([0.3, 0.4, 0.45, 0.5])
    pooled = np.array([0.5, 0.45, 0.4, 0.3])
    weights = np.full(4, 900.0)
    belief = Belief(pooled + (own_means - pooled) * own_pulls / weights, weights, np.zeros(4), own_means, own_pulls)
    assert measure_difference(own_pulls, own_means, belief) > 0.05**2


def play(agent, means, rounds, rng):
    for _ in range(rounds):
        arm = agent.select()
        agent.reward(arm, float(rng.random() < means[arm]))


def test_a_live_agent_with_other_arms_than_its_neighbours_learns_by_itself():
    rng, seeds = np.random.default_rng(1), range(3)
    wrong = dict.fromkeys(("guarded", "guarded:spread=0"), 0)
    for name in wrong:
        for seed in seeds:
            agent = Agent(2, f=0, filter=name, policy="moss", seed=seed)
            for round in range(40):
                count = 50.0 * (round + 1)
                for sender in range(4):
                    agent.hear(sender, Report(np.array([count, count]), np.array([0.8, 0.4])))
                play(agent, (0.4, 0.6), 25, rng)
            wrong[name] += agent.report().pulls[0]
    assert wrong["guarded"] < 0.25 * 3000 < 0.75 * 3000 < wrong["guarded:spread=0"]


def test_an_agent_that_was_stored_chooses_as_it_would_have_chosen():
    rng = np.random.default_rng(2)
    agent = Agent(2, f=0, filter="guarded", policy="moss", seed=5)
    for sender in range(4):
        agent.hear(sender, Report(np.array([900.0, 900.0]), np.array([0.8, 0.4])))
    play(agent, (0.4, 0.6), 130, rng)  # between two measurements
    again = Agent.from_json(agent.to_json())
    assert json_differences(again) == json_differences(agent)
    assert max(json_differences(agent)[1].values()) > 0.0
    for _ in range(30):
        assert agent.select() == again.select()


def json_differences(agent):
    own, neighbours = agent._state()["differences"]
    return own, dict(neighbours)


@pytest.mark.parametrize("text", ["guarded:spread=-0.5", "guarded:spread=much", "guarded:proven=1,spread=0.1"])
def test_a_spread_is_auto_or_a_bound(text):
    with pytest.raises(BadInput, match="spread=auto"):
        Experiment(filter=text)


def test_agents_that_differ_do_no_worse_than_alone_whatever_is_told():
    """Spread 0.1, twice the gap: as much regret as alone, where pooling as if means were equal costs twice as much."""
    base = Experiment(spread=0.1, policy="moss", attack="alie:careful=1", runs=10, horizon=2000, seed=3)
    regret = {
        name: simulate(base.but(filter=name)).regret_values[:, :, -1].mean()
        for name in ("solo", "guarded", "guarded:spread=0")
    }
    assert regret["guarded"] < 1.1 * regret["solo"]
    assert regret["guarded:spread=0"] > 2.0 * regret["solo"]


def test_worths_add_up_to_what_a_belief_is_worth_beyond_own_pulls():
    """Four alike neighbours are worth much; one whose arms are the other way round is worth less than one pull."""
    rng = np.random.default_rng(3)
    agent = Agent(2, f=0, filter="guarded", policy="moss", seed=1)
    for sender in range(4):
        agent.hear(sender, Report(np.array([900.0, 900.0]), np.array([0.4, 0.6])))
    agent.hear("stranger", Report(np.array([900.0, 900.0]), np.array([0.9, 0.1])))
    play(agent, (0.4, 0.6), 200, rng)
    worths, belief = agent.worths(), agent.belief()
    total = np.sum([list(of_arms.values()) for of_arms in worths.values()], axis=0)
    assert total == pytest.approx(belief.weights - belief.own_weights)
    assert max(worths["stranger"].values()) < 1.0
    assert min(worths["stranger"].values()) == 0.0
    assert "unlike" in agent.explain()["stranger"].values()
    assert min(worths[0].values()) > 0.0
