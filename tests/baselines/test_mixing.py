"""Sums and counts mixed over the graph: coop-UCB and DDUCB keep what they promise, and one liar ruins them."""

import numpy as np
import pytest
from anchors import EDGE, alone, choices_of, regret_of

from byzmab import BadInput, Experiment
from byzmab.baselines.base import adjacency, mixing_matrix
from byzmab.baselines.coop_ucb import graph_constants
from byzmab.baselines.dducb import COUNTS
from byzmab.simulation.single_run import Run

TRIANGLE_AND_ONE = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], float)


def test_the_constants_of_landgrens_graph_are_those_printed():
    """Four agents, a triangle and one that hangs on it: 2.31, 2.31, 0, 5.43, with κ = d_max / (d_max + 1)."""
    assert graph_constants(mixing_matrix(TRIANGLE_AND_ONE)).round(2).tolist() == [2.31, 2.31, 0.0, 5.43]


def test_with_kappa_1_the_constants_are_others():
    degrees = TRIANGLE_AND_ONE.sum(axis=1)
    mixing = np.eye(4) - (np.diag(degrees) - TRIANGLE_AND_ONE) / degrees.max()
    assert graph_constants(mixing).round(2).tolist() == [1.43, 1.43, 0.75, 3.76]


def test_with_d_max_less_one_an_eigenvalue_is_minus_one_and_nothing_is_mixed():
    degrees = TRIANGLE_AND_ONE.sum(axis=1)
    as_printed = np.eye(4) - (np.diag(degrees) - TRIANGLE_AND_ONE) / (degrees.max() - 1)
    assert np.linalg.eigvalsh(as_printed).min() == pytest.approx(-1)


def test_on_a_complete_graph_nothing_is_left_to_pay_for():
    assert graph_constants(mixing_matrix(1 - np.eye(6))) == pytest.approx(np.zeros(6))


@pytest.mark.parametrize(("gamma", "alpha"), [(2, 1), (4, 2)])
def test_one_agent_with_coop_ucb_is_ucb_alone(gamma, alpha):
    experiment = Experiment(algorithm=f"coop-ucb:{gamma}", agents=1, byzantine=0, horizon=400, runs=1)
    assert choices_of(experiment) == choices_of(alone(experiment, alpha))


def test_mixed_counts_never_differ_from_the_average_by_more_than_the_bound():
    """|n̂ − n_cent| ≤ ε_n = √N Σ_{p ≥ 2} |λ_p| / (1 − |λ_p|), on a ring."""
    run = Run(Experiment(algorithm="coop-ucb", graph="ring", byzantine=0, f=0, horizon=500, runs=1), 0)
    values = np.abs(np.linalg.eigvalsh(mixing_matrix(adjacency(run.state))))
    values.sort()
    bound = np.sqrt(10) * (values[:-1] / (1 - values[:-1])).sum()
    worst = 0.0
    for time in range(1, 500):
        before = run.state.pulls.mean(axis=0)
        run.advance(time)
        worst = max(worst, np.abs(run.state.weights - before).max())
    assert 0.5 < worst <= bound


@pytest.mark.parametrize("algorithm", ["coop-ucb", "dducb"])
def test_liars_make_regret_linear_with_and_without_trimming(algorithm):
    """0.05 a round under `constant` and at the edge of honest values, within five percent; without trimming over a
    tenth a round under `extreme`."""
    for f, attack in ((0, "constant"), (2, "constant"), (0, EDGE), (2, EDGE)):
        assert regret_of(algorithm, attack, f=f, runs=2)[0] == pytest.approx(500, rel=0.05)
    assert regret_of(algorithm, "extreme", f=0, runs=2)[0] > 1000


def in_use(run):
    """Counts that agents use, agents × arms."""
    return run.state.used[COUNTS]


@pytest.mark.parametrize(("algorithm", "steps"), [("dducb", 12), ("dducb:plain=1", 40)])
def test_no_pull_is_lost_in_mixing(algorithm, steps):
    """At the end of a stage the counts in use add up to all pulls before that stage; a ring of ten has 12 or 40 steps."""
    run = Run(Experiment(algorithm=algorithm, graph="ring", byzantine=0, f=0, horizon=400, runs=1), 0)
    assert run.state.steps == steps
    before = run.state.pulls.sum(axis=0)
    for stage in range(1, 400 // steps):
        run.advance(stage * steps)
        assert in_use(run).sum(axis=0) == pytest.approx(before, rel=1e-12)
        before = run.state.pulls.sum(axis=0)


def test_on_a_complete_graph_everyone_uses_all_pulls_but_the_last_round():
    run = Run(Experiment(algorithm="dducb", byzantine=0, f=0, horizon=100, runs=1), 0)
    for time in range(1, 100):
        before = run.state.pulls.mean(axis=0)
        run.advance(time)
        assert in_use(run) == pytest.approx(np.tile(before, (10, 1)))


def test_a_silent_neighbour_takes_no_mass_away():
    """All but one silent: what that one uses is its own pulls, as if it were alone."""
    run = Run(Experiment(algorithm="dducb", byzantine=9, f=0, attack="starve", horizon=50, runs=1), 0)
    before = run.state.pulls[9].copy()
    run.advance(1)
    assert in_use(run)[9] == pytest.approx(before)


@pytest.mark.parametrize("algorithm", ["coop-ucb", "dducb"])
def test_graphs_that_are_not_the_same_both_ways_are_refused(algorithm):
    for settings in ({"graph": "erdos-renyi:0.5"}, {"graph": "edges:3:1>2,2>3,3>1"}, {"graph": "edges:4:1-2,3-4"}):
        with pytest.raises(BadInput, match=f"does not go with algorithm '{algorithm}'.*allowed: .*undirected"):
            Experiment(algorithm=algorithm, byzantine=0, **settings)
