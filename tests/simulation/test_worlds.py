"""The mean of an agent's arm in a round is the one that was asked for, and regret is against that agent's best arm."""

import json

import numpy as np
import pytest

from byzmab import BadInput, Experiment, Result, ResultStore, open_sweep, run_sweep, simulate
from byzmab.experiment.assumptions import clipped_means, outside_the_model
from byzmab.experiment.files import read_experiment, to_toml
from byzmab.experiment.settings import from_text
from byzmab.results.directory import write_result
from byzmab.simulation.single_run import Run
from byzmab.simulation.true_means import draw_own_means
from byzmab.testbed.provision import Options, provision

pytestmark = pytest.mark.filterwarnings("ignore:f = ", "ignore:at ", "ignore:spread ")
TABLE = [[0.9, 0.1], [0.2, 0.6], [0.3, 0.8], [0.7, 0.4]]
SMALL = Experiment(agents=4, byzantine=1, f=0, filter="solo", horizon=60, runs=2, record=6)


def test_regret_is_against_each_agents_own_best_arm():
    """Of two arms, what was pulled of the worse one costs the gap of that agent."""
    result = simulate(SMALL.but(arms=TABLE))
    worse = [1, 0, 0, 1]
    for agent in (2, 3, 4):
        pulled = result.pulls.sel(agent=agent, arm=worse[agent - 1] + 1).sum("third").values
        gap = abs(np.diff(TABLE[agent - 1])[0])
        assert result.regret.sel(agent=agent).values[:, -1] == pytest.approx(gap * pulled)


def test_agents_keep_their_means_whoever_lies():
    by_number = [simulate(SMALL.but(arms=TABLE, byzantine=liars)).regret.sel(agent=4) for liars in (1, [2], [3])]
    assert by_number[0].equals(by_number[1]) and by_number[0].equals(by_number[2])


def test_a_spread_has_its_standard_deviation_is_drawn_anew_in_every_run_and_stays_in_the_unit_interval():
    experiment = Experiment(agents=100, arms=(0.5, 0.5), spread=0.1)
    runs = np.array([draw_own_means(experiment, run) for run in range(20)])
    assert runs.std() == pytest.approx(0.1, rel=0.05)  # 4 000 draws: standard error 1.1 %
    assert len({row.tobytes() for row in runs}) == 20
    wide = draw_own_means(experiment.but(spread=0.5), 0)
    assert wide.min() == 0.0 and wide.max() == 1.0
    assert "they are clipped" in clipped_means(experiment.but(spread=0.5))
    assert clipped_means(experiment) is None


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"arms": {1: [0.9, 0.2], 21: [0.1, 0.2]}}, {20: [0.9, 0.2], 21: [0.1, 0.2]}),
        (
            {"arms": (0.9, 0.5, 0.2), "drift": "steps:10"},
            {9: [0.9, 0.5, 0.2], 10: [0.2, 0.9, 0.5], 20: [0.5, 0.2, 0.9]},
        ),
        ({"arms": (0.5, 0.95), "drift": "periodic:20,0.1"}, {5: [0.6, 0.85], 15: [0.4, 1.0]}),
        ({"arms": {1: TABLE, 5: TABLE[::-1]}, "drift": "steps:8"}, {4: [0.9, 0.1], 5: [0.7, 0.4], 8: [0.65, 0.45]}),
    ],
    ids=str,
)
def test_means_in_a_round_are_those_asked_for(settings, expected):
    """Of agent 1. In the last case the common means, 0.525 and 0.475, change places from round 8 on."""
    run = Run(SMALL.but(**settings), 0)
    for when, means in expected.items():
        run.advance(when)
        assert run.state.own_means[0] == pytest.approx(means)


def test_dynamic_regret_is_against_the_best_arm_of_each_round():
    """Two arms that change places cost whoever stays with one of them half of all rounds."""
    arms = {1: [1.0, 0.0], 31: [0.0, 1.0]}
    result = simulate(SMALL.but(arms=arms, policy="greedy"))
    curve = result.regret.sel(agent=2, run=0)
    assert curve.sel(round=30) == 0.0
    assert curve.sel(round=60) > 10.0
    assert curve.sel(round=60) - curve.sel(round=50) <= 10.0


def test_a_walk_is_seeded_stays_inside_and_moves_by_its_standard_deviation():
    run, again = (Run(SMALL.but(arms=(0.5, 0.4), drift="walk:0.01", horizon=400), 0) for _ in range(2))
    seen = []
    for when in range(1, 401):
        run.advance(when)
        seen.append(run.state.own_means[1].copy())
    again.advance(400)
    assert np.array_equal(again.state.own_means, run.state.own_means)
    steps = np.diff(seen, axis=0)
    assert steps.std() == pytest.approx(0.01, rel=0.15)  # 798 steps: standard error 2.5 %
    assert np.min(seen) >= 0.0 and np.max(seen) <= 1.0


CSV = "agent,round,first,second\n1,1,0.9,0.1\n2,1,0.2,0.6\n1,30,0.5,0.4\n2,30,0.3,0.8\n"


def test_a_file_of_means_is_read_written_and_stored_as_what_it_says(tmp_path, monkeypatch):
    (tmp_path / "means.csv").write_text(CSV)
    (tmp_path / "experiment.toml").write_text('arms = "means.csv"\nbyzantine = 0\nhorizon = 60\nruns = 2\nrecord = 6\n')
    experiment = read_experiment(tmp_path / "experiment.toml")
    assert experiment.settings()["arms"] == {"1": [[0.9, 0.1], [0.2, 0.6]], "30": [[0.5, 0.4], [0.3, 0.8]]}
    assert experiment.parts.agents == 2
    result = simulate(experiment)
    (tmp_path / "means.csv").unlink()
    (tmp_path / "out").mkdir()
    write_result(result, tmp_path / "out")
    again = read_experiment(tmp_path / "out" / "experiment.toml")
    assert np.array_equal(simulate(again).regret_values, result.regret_values)
    assert Result.load(tmp_path / "out" / "result.nc").experiment.parts.given == experiment.parts.given
    assert json.loads(json.dumps(experiment.settings())) == experiment.settings()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("a,b\n0.9,0.1\n")
    assert Experiment(arms=from_text("arms", "one.csv")).arms == [0.9, 0.1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no means"),
        ("agent,a,b\n1,0.5,x\n", "line 2 is not understood"),
        ("agent,a,b\n1.5,0.5,0.4\n", "line 2 is not allowed"),
        ("agent,a,b\n1,0.5,0.4\n3,0.5,0.4\n", "leaves an agent out"),
        ("a,b\n0.5,0.4\n0.5,0.4\n", "gives means twice"),
        ("round,a,b\n1,0.5,1.4\n", "is not allowed"),
        ("round,a,b\n2,0.5,0.4\n", "from round 1 on"),
    ],
)
def test_a_broken_file_of_means_is_refused_with_what_is_wrong(tmp_path, text, words):
    (tmp_path / "means.csv").write_text(text)
    with pytest.raises(BadInput, match=words):
        Experiment(arms=str(tmp_path / "means.csv"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"arms": [[0.5, 0.4], [0.3]]}, "arms .* is not allowed; allowed: two or more means"),
        ({"arms": {"one": [0.5, 0.4]}}, "arms .* is not allowed"),
        ({"arms": {1: [0.5, 0.4], 9: [0.5, 0.4, 0.3]}}, "as many arms and agents from each later round"),
        ({"arms": TABLE[:3]}, "arms has means for 3 agents; allowed: one list for all, or 4 lists"),
        ({"arms": "nowhere.csv"}, "arms 'nowhere.csv' cannot be read"),
        ({"spread": -0.1}, "spread -0.1 is not allowed; allowed: a number from 0 to 1"),
        ({"drift": "steps"}, "drift parameters '' are not understood; allowed: steps:2000"),
        ({"drift": "walk:2"}, "drift parameters 2.0 are not understood"),
        ({"drift": "wlak:2"}, "did you mean 'walk'"),
        ({"drift": "walk:0.1", "rewards": "gaussian"}, "rewards 'gaussian' does not go with means that change"),
        ({"tally": "forget:1"}, "tally 'forget:1' is not allowed; allowed: all, forget:g"),
        ({"tally": "window:3"}, "tally 'window:3' is too short; allowed: at least one pull of each of 4 arms"),
        ({"tally": "window:9", "tell": "growth:0.1"}, "tell 'growth:0.1' does not go with tally 'window:9'"),
        ({"tally": "window:9", "algorithm": "consensus"}, "tally window:9 does not go with algorithm"),
    ],
)
def test_worlds_that_cannot_be_are_refused_in_one_sentence(settings, words):
    with pytest.raises(BadInput, match=words):
        SMALL.but(**settings)


@pytest.mark.parametrize("settings", [{"arms": TABLE}, {"spread": 0.1}, {"drift": "steps:9"}, {"tally": "window:9"}])
def test_nodes_and_the_papers_bound_know_one_world_only(settings, tmp_path):
    name = next(iter(settings))
    with pytest.raises(BadInput, match=f"^{name} .* not what nodes do"):
        provision(SMALL.but(**settings), tmp_path / "net", Options())
    assert outside_the_model(SMALL.but(filter="trimmed", **settings))
    assert not outside_the_model(SMALL.but(filter="trimmed"))


def test_worlds_are_settings_of_sweeps_like_any_other(tmp_path):
    points = [SMALL.but(drift=drift, spread=spread) for drift in ("none", "steps:20") for spread in (0.0, 0.1)]
    run_sweep(points, ResultStore(tmp_path))
    regret = open_sweep(tmp_path).regret.isel(round=-1).mean(("run", "agent"))
    assert regret.sizes["drift"] == regret.sizes["spread"] == 2
    assert len(np.unique(regret.values)) == 4
    assert read_toml_again(points[3], tmp_path).settings() == points[3].settings()


def read_toml_again(experiment, folder):
    (folder / "again.toml").write_text(to_toml(experiment))
    return read_experiment(folder / "again.toml")


def test_baselines_are_played_in_any_world():
    plain, moved = (simulate(SMALL.but(algorithm="coop-ucb", drift=drift)) for drift in ("none", "steps:10"))
    assert not np.array_equal(plain.regret_values, moved.regret_values)
