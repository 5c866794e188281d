"""Simulating: the same digits always, the right statistics, and the reference figures."""

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from byzmab import BadInput, Experiment, Result, compare, simulate
from byzmab.simulation.single_run import Run

SMALL = Experiment(agents=5, byzantine=1, f=1, horizon=300, runs=6)


@pytest.mark.filterwarnings("ignore:f = ")
def test_the_digits_do_not_depend_on_workers_or_executor():
    experiment = SMALL.but(
        graph="erdos-renyi:0.7", time_varying=True, memory=3, attack="gaussian", rewards=["beta", "bernoulli"]
    )
    expected = simulate(experiment, workers=1)
    for workers in (2, 5):
        found = simulate(experiment, workers=workers)
        assert np.array_equal(found.regret_values, expected.regret_values)
        assert np.array_equal(found.pull_values, expected.pull_values)
        assert found.message_counts.tolist() == expected.message_counts.tolist()


def test_another_process_gives_the_same_digits():
    with ProcessPoolExecutor(2) as executor:
        elsewhere = simulate(SMALL, executor=executor, workers=2)
    assert np.array_equal(elsewhere.regret_values, simulate(SMALL).regret_values)


def test_more_runs_only_add():
    few, many = simulate(SMALL), simulate(SMALL.but(runs=9))
    assert np.array_equal(many.regret_values[:6], few.regret_values)
    assert len({tuple(run) for run in many.network_regret}) == 9


def test_another_seed_is_other_luck():
    assert not np.array_equal(simulate(SMALL).regret_values, simulate(SMALL.but(seed=1)).regret_values)


def rewards_by_pull(experiment):
    """The reward of every agent's m-th pull of every arm."""
    played = Run(experiment, 0)
    seen = {}
    for time in range(experiment.horizon):
        totals, pulls = played.state.totals.copy(), played.state.pulls.copy()
        played.advance(time + 1)
        for agent, arm in enumerate(played.state.choices.tolist()):
            seen[agent, arm, pulls[agent, arm]] = played.state.totals[agent, arm] - totals[agent, arm]
    return seen


@pytest.mark.parametrize("rewards", ["bernoulli", ["gaussian", "pareto"]])
def test_two_algorithms_meet_the_same_luck(rewards):
    """The m-th pull of an arm by an agent is rewarded alike, whenever and whyever it is made."""
    first, second = (
        rewards_by_pull(SMALL.but(policy=policy, filter=filter, rewards=rewards))
        for policy, filter in (("ucb", "trimmed"), ("softmax", "solo"))
    )
    shared = set(first) & set(second)
    assert len(shared) > 500
    assert all(first[pull] == pytest.approx(second[pull]) for pull in shared)
    assert (len(set(first.values())) == 2) == (rewards == "bernoulli")


def test_pulls_and_regret_agree():
    result = simulate(SMALL.but(horizon=1000, arms=[0.2, 0.9, 0.5]))
    pulls = result.pulls.sum("third")
    assert (result.pulls.sum("arm") == np.array([333, 333, 334])).all()
    gaps = np.array([0.7, 0.0, 0.4])
    assert result.regret.isel(round=-1).values == pytest.approx((pulls.values * gaps).sum(-1))
    assert result.regret.dims == ("run", "agent", "round")
    assert result.regret["agent"].values.tolist() == [2, 3, 4, 5]
    assert result.regret["round"].values[-1] == 1000


def test_regret_is_recorded_on_a_grid_that_ends_at_the_horizon():
    result = simulate(SMALL.but(horizon=1001, record=10))
    assert result.rounds.size == 10
    assert result.rounds[-1] == 1001
    every = simulate(SMALL.but(horizon=1001, record=5000))
    assert every.rounds.tolist() == list(range(1, 1002))
    assert np.array_equal(every.regret_values[:, :, result.rounds - 1], result.regret_values)


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        ({}, 20 * 300),
        ({"filter": "solo"}, 0),
        ({"epoch": 7}, 20 * 43),
        ({"subset": 3}, 15 * 300),
        ({"delay": 1}, 20 * 299),
        ({"graph": "ring:2"}, 10 * 300),
        ({"tell": "every:7"}, 20 * 43),
        ({"tell": "every:7", "epoch": 3}, 20 * 34),
    ],
)
@pytest.mark.filterwarnings("ignore:f = ")
def test_messages_are_counted(settings, messages):
    result = simulate(SMALL.but(**settings))
    assert result.message_counts.tolist() == [messages] * 6
    assert result.summary()["bytes"] == 6 * messages * 4 * 16


def test_the_summary_is_that_of_the_normal_agents_average():
    result = simulate(SMALL)
    summary = result.summary()
    final = result.regret_values[:, :, -1].mean(axis=1)
    assert summary["regret"]["mean"] == pytest.approx(final.mean())
    assert summary["regret"]["std"] == pytest.approx(final.std(ddof=1))
    assert summary["regret"]["stderr"] == pytest.approx(final.std(ddof=1) / 6**0.5)
    assert len(summary["regret"]["per_agent"]) == 4
    assert summary["agent_steps"] == 6 * 5 * 300
    alone = simulate(SMALL.but(runs=1)).summary()["regret"]
    assert alone["std"] is None
    assert alone["stderr"] is None


def test_a_result_survives_its_file(tmp_path):
    result = simulate(SMALL)
    result.save(tmp_path / "result.nc")
    loaded = Result.load(tmp_path / "result.nc")
    assert loaded.summary() == result.summary()
    assert loaded.pulls.equals(result.pulls)
    result.dataset.drop_vars("arms_told").to_netcdf(tmp_path / "old.nc", engine="h5netcdf")  # of version 0.1
    assert Result.load(tmp_path / "old.nc").summary() == result.summary()
    (tmp_path / "broken.nc").write_text("no NetCDF")
    with pytest.raises(BadInput, match=r"broken\.nc"):
        Result.load(tmp_path / "broken.nc")


def test_a_comparison_is_paired_and_its_interval_covers_the_difference():
    a, b = simulate(SMALL), simulate(SMALL.but(attack="extreme"))
    comparison = compare(a, b)
    differences = a.network_regret[:, -1] - b.network_regret[:, -1]
    assert comparison.difference == pytest.approx(differences.mean())
    assert comparison.low < comparison.difference < comparison.high
    assert comparison.high - comparison.low == pytest.approx(2 * 2.5706 * comparison.stderr, rel=1e-3)
    assert str(comparison.runs) in str(comparison)
    with pytest.raises(BadInput, match="horizon differs"):
        compare(a, SMALL.but(horizon=200))
    with pytest.raises(BadInput, match="too few"):
        compare(SMALL.but(runs=1), SMALL.but(runs=1))


def test_pairing_takes_away_luck():
    """The paired error is below that of two independent means."""
    a, b = (
        simulate(SMALL.but(runs=40, horizon=2000, attack="none")),
        simulate(SMALL.but(runs=40, horizon=2000, attack="starve")),
    )
    unpaired = np.hypot(*(result.summary()["regret"]["stderr"] for result in (a, b)))
    assert compare(a, b).stderr < unpaired


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_workers_below_one_are_refused(workers):
    with pytest.raises(BadInput, match="workers"):
        simulate(SMALL, workers=workers)


def test_progress_ends_at_the_total():
    told = []
    simulate(SMALL, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6 * 300, 6 * 300)


def test_an_interruption_stops_every_worker():
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(Experiment(runs=4, horizon=10**9), progress=interrupt)  # would play for hours otherwise


RUNS = int(os.environ.get("BYZMAB_RUNS", "40"))

# Per-agent regret at T = 10⁴ and its standard error, from an independent reference implementation.
REFERENCE = {
    "solo": ({"filter": "solo"}, 230, 1),
    "F2 kappa=1.6": ({"agents": 5, "byzantine": 1, "graph": "erdos-renyi:0.8", "kappa": 1.6}, 211, 2),
    "F3 q=1": ({"graph": "erdos-renyi:1"}, 157, 2),
    "F3 q=.6": ({"graph": "erdos-renyi:0.6"}, 217, 2),
    "F3 q=.2": ({"graph": "erdos-renyi:0.2"}, 230, 2),
    "F4 q=.6": ({"graph": "erdos-renyi:0.6", "time_varying": True}, 249, 2),
    "F5 case 1": ({"graph": "two-case:4-5", "f": 1, "time_varying": True}, 208, 2),
    "F5 case 2": ({"graph": "two-case:binomial", "f": 1, "time_varying": True}, 234, 2),
    "F10 ucb": ({"graph": "firms", "f": 1, "kappa": "random", "attack": "adaptive"}, 183, 2),
    "F10 tuned": ({"graph": "firms", "f": 1, "kappa": "random", "attack": "adaptive", "policy": "tuned"}, 43, 1),
}


@pytest.mark.filterwarnings("ignore:f = ")
@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_figures_come_out(name):
    """Forty runs, within three standard errors of the difference, which is below 4 % of being alone.

    BYZMAB_RUNS=100 in `make test-long`.
    """
    settings, expected, stderr = REFERENCE[name]
    regret = simulate(Experiment(runs=RUNS, **settings)).summary()["regret"]
    error = np.hypot(regret["stderr"], stderr)
    assert abs(regret["mean"] - expected) < 3 * error < 3 * 0.04 * 230
