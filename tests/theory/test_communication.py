"""How much is told, and how stale it is, when arms are told as their counts grow."""

import math

import numpy as np
import pytest

from byzmab import Experiment
from byzmab.core.filters.pull import cap_of, pool_around
from byzmab.core.tell import parse_tell
from byzmab.paper.bounds import measure
from byzmab.simulation.single_run import Run
from byzmab.theory.communication import most_arms_told


def played(growth, **settings):
    """Round by round: the tallies on which a round was decided, and what everyone had told by then."""
    run = Run(Experiment(byzantine=0, f=2, attack="none", tell=f"growth:{growth}", horizon=400, **settings), 0)
    agents = run.state.agents
    for time in range(400):
        pulls = run.state.pulls.copy()
        run.advance(time + 1)
        yield pulls, run.state.told_pulls[agents : 2 * agents]


def test_the_bound_is_the_formula():
    assert most_arms_told(parse_tell("every"), 4, 10_000) == 40_000
    assert most_arms_told(parse_tell("every:3"), 4, 10_000) == 4 * 3334
    assert most_arms_told(parse_tell("growth:0"), 4, 10_000) == 10_004
    expected = 4 * (1 + math.log(2501) / math.log(1.1))
    assert most_arms_told(parse_tell("growth:0.1"), 4, 10_000) == pytest.approx(expected)
    assert most_arms_told(parse_tell("growth:0.1"), 4, 10) == 14  # one for each pull


@pytest.mark.parametrize("growth", [0, 0.02, 0.1, 0.5, 1])
def test_no_more_is_told_than_the_bound(growth):
    experiment = Experiment(byzantine=0, f=2, attack="none", tell=f"growth:{growth}", horizon=3000, runs=1, record=1)
    summary = measure(experiment).summary()
    assert 0 < summary["arms_told"] <= summary["most_arms_told"]
    assert summary["why_no_upper_bound"] == "the paper proves it with tell every"


@pytest.mark.parametrize("growth", [0.02, 0.1, 0.5])
def test_what_one_goes_by_is_stale_by_at_most_the_share(growth):
    stale = 0
    for pulls, told in played(growth):
        assert (told <= pulls).all()
        assert (told * (1 + growth) >= pulls * (1 - 1e-12)).all()
        stale += (told < pulls).sum()
    assert stale > 0


@pytest.mark.parametrize("kappa", [1.1, 1.5])
def test_telling_less_is_at_worst_a_smaller_kappa(kappa):
    """A(κ/(1+δ)) ⊆ A′(κ) ⊆ A(κ), for all pairs of agents and all arms."""
    growth = 0.1
    for pulls, told in played(growth, kappa=kappa):
        passes = kappa * told[:, None] >= pulls[None]
        assert (passes <= (kappa * pulls[:, None] >= pulls[None])).all()
        assert (passes >= (kappa / (1 + growth) * pulls[:, None] >= pulls[None] * (1 + 1e-12))).all()


@pytest.mark.parametrize(("kappa", "holds"), [(1.5, True), (1.1, True), (1.0, False)])
def test_the_agent_with_the_fewest_pulls_hears_everyone_if_kappa_allows_for_the_share(kappa, holds):
    found = []
    for pulls, told in played(0.1, kappa=kappa):
        others = told + np.where(pulls == pulls.min(axis=0), np.inf, 0.0)  # but those with the fewest themselves
        found.append(kappa * others.min(axis=0) * (1 + 1e-12) >= pulls.min(axis=0))
    assert np.all(found) == holds


@pytest.mark.parametrize("growth", [0.1, 0.5])
def test_the_cap_of_guarded_falls_by_no_more_than_the_share(growth):
    """Where 2f others have more pulls than n, C ≥ n/(1+δ) and the pulls pooled are W ≥ n (r − 2f)/(1+δ)."""
    f, met, lowered = 2, 0, 0
    for pulls, told in played(growth, filter="guarded:proven=1", policy="ucb"):
        for agent, arm in np.ndindex(pulls.shape):
            own, others = pulls[agent, arm], np.delete(told[:, arm], agent)
            ahead = int((np.delete(pulls[:, arm], agent) > own).sum())
            if ahead <= 2 * f:
                continue
            cap = cap_of(own, others.copy(), f, 0)
            kept = pool_around(0.5, cap, others.copy(), np.full(others.size, 0.5), f)[1].kept
            met += 1
            lowered += cap < own
            assert cap * (1 + growth) >= own * (1 - 1e-12)
            assert (own + kept) * (1 + growth) >= own * (ahead + 1 - 2 * f) * (1 - 1e-12)
    assert met > 0 and lowered > 0
