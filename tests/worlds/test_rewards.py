"""Rewards have the mean that was asked for and the distribution that they are named after."""

import numpy as np
import pytest
from scipy import stats

from byzmab import BadInput, Experiment, ResultStore, run_sweep, simulate
from byzmab.core.draws import fold
from byzmab.experiment.files import read_experiment
from byzmab.experiment.settings import from_text, to_text
from byzmab.results.directory import write_result
from byzmab.sweep.identity import address
from byzmab.worlds import REWARDS, Pull
from byzmab.worlds.rewards import prepared_for

MEANS = np.array([1e-6, 0.01, 0.2, 0.5, 0.62, 0.97, 1 - 1e-6])
SMALL = Experiment(agents=5, byzantine=1, horizon=60, runs=2, record=5)
COIN = """
from dataclasses import dataclass
from byzmab import Rewards, compiled
from byzmab.core.draws import unit

@compiled
def reward(pull, params, rng):
    return LEVEL + (1.0 - LEVEL) * (unit(rng[0]) < (pull.mean - LEVEL) / (1.0 - LEVEL)) if pull.mean > LEVEL else pull.mean

LEVEL = 0.1

@dataclass(frozen=True)
class Coin(Rewards):
    reward = staticmethod(reward)
    unused: float = 1.0
    unused_too: float = 2.0
"""


def drawn(rewards, mean, count):
    """So many rewards of one mean."""
    plugin = REWARDS.resolve(rewards)
    params = np.array(plugin.params)
    pull = Pull(0, 0, 0, 0, mean, float(prepared_for(plugin, np.array([mean]))[0]))
    lucks = (np.array([fold(np.uint64(7), number)], np.uint64) for number in range(count))
    return np.array([type(plugin).reward(pull, params, luck) for luck in lucks])


@pytest.mark.parametrize("sigma", [0.005, 0.1, 0.4, 1.0, 10.0])
def test_the_truncated_bell_around_the_chosen_location_has_the_mean_asked_for(sigma):
    """By scipy's truncated normal distribution, which is exact where the location is within some σ of [0, 1]."""
    locations = REWARDS.resolve(f"gaussian:{sigma}").prepare(MEANS)
    near = (locations > -5 * sigma) & (locations < 1 + 5 * sigma)
    assert near.any()
    for mean, location in zip(MEANS[near], locations[near], strict=True):
        bell = stats.truncnorm(-location / sigma, (1 - location) / sigma, location, sigma)
        assert bell.mean() == pytest.approx(mean, abs=1e-7)


def test_a_bell_near_an_end_is_moved_beyond_it_and_one_in_the_middle_stays():
    locations = REWARDS.resolve("gaussian:0.1").prepare(np.array([0.02, 0.5, 0.98]))
    assert locations[0] < 0 and locations[2] > 1
    assert locations[1] == pytest.approx(0.5)
    assert locations[0] == pytest.approx(1 - locations[2])


@pytest.mark.parametrize("sigma", [0.1, 0.3, 2.0])
@pytest.mark.parametrize("mean", [0.03, 0.3, 0.8])
def test_gaussian_rewards_are_distributed_as_a_truncated_bell(sigma, mean):
    """Kolmogorov and Smirnov's test with 2 000 draws, at a level of 10⁻⁴ for each of nine."""
    location = float(REWARDS.resolve(f"gaussian:{sigma}").prepare(np.array([mean]))[0])
    bell = stats.truncnorm(-location / sigma, (1 - location) / sigma, location, sigma)
    assert stats.kstest(drawn(f"gaussian:{sigma}", mean, 2000), bell.cdf).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.5, 20.0])
@pytest.mark.parametrize("mean", [0.05, 0.4, 0.9])
def test_pareto_rewards_are_distributed_as_a_bounded_pareto(alpha, mean):
    """The same test; and the density x^(−α−1) on [L, 1] has the mean asked for, by quadrature."""
    least = float(np.exp(-REWARDS.resolve(f"pareto:{alpha}").prepare(np.array([mean]))[0]))
    bounded = stats.truncpareto(alpha, 1 / least, scale=least)
    assert bounded.mean() == pytest.approx(mean, rel=1e-6)
    assert stats.kstest(drawn(f"pareto:{alpha}", mean, 2000), bounded.cdf).pvalue > 1e-4


def test_pareto_rewards_are_heavier_tailed_the_smaller_alpha_is():
    """Of one mean, more of it comes in rewards above ½."""
    shares = [drawn(f"pareto:{alpha}", 0.1, 2000) for alpha in (0.5, 1.5, 5.0)]
    above = [values[values > 0.5].sum() / values.sum() for values in shares]
    assert above == sorted(above, reverse=True)
    assert above[0] > 2 * above[1] > 0


def test_arms_of_mean_zero_and_one_are_sure():
    for name in REWARDS.entries:
        assert set(drawn(name, 0.0, 20)) == {0.0}
        assert set(drawn(name, 1.0, 20)) == {1.0}


def test_regret_is_against_the_means_asked_for():
    experiment = SMALL.but(rewards="gaussian:0.3", arms=(0.9, 0.5))
    result = simulate(experiment)
    assert (result.means == [0.9, 0.5]).all()
    worse = result.pull_values.sum(axis=2)[:, :, 1]
    assert result.regret_values[:, :, -1] == pytest.approx(0.4 * worse)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("beta:3", "beta:3"),
        ("bernoulli,beta:3", ["bernoulli", "beta:3"]),
        ("mine.py:Own:1,2,b=3,beta:c=2", ["mine.py:Own:1,2,b=3", "beta:c=2"]),
        ("mine.py:Own:1,2", "mine.py:Own:1,2"),
    ],
)
def test_commas_stand_between_rewards_and_between_their_parameters(text, value):
    assert from_text("rewards", text) == value
    assert to_text(value) == text


@pytest.fixture
def coin(tmp_path):
    """Rewards in a file of the user's own."""
    (tmp_path / "coin.py").write_text(COIN)
    return f"{tmp_path / 'coin.py'}:Coin"


@pytest.mark.parametrize("several", [False, True])
def test_rewards_of_ones_own_are_played_stored_and_written_with_their_file(coin, several, tmp_path):
    rewards = ["bernoulli", f"{coin}:3"] if several else coin
    experiment = SMALL.but(rewards=rewards)
    result = simulate(experiment)
    store = ResultStore(tmp_path / "store")
    run_sweep([experiment], store)
    assert np.array_equal(store.read(experiment).regret_values, result.regret_values)
    (tmp_path / "out").mkdir()
    write_result(result, tmp_path / "out")
    assert (tmp_path / "out" / "coin.py").read_text() == COIN
    (tmp_path / "coin.py").unlink()
    again = read_experiment(tmp_path / "out" / "experiment.toml")
    assert np.array_equal(simulate(again).regret_values, result.regret_values)
    assert str(tmp_path).encode() not in (tmp_path / "out" / "experiment.toml").read_bytes()


def test_the_address_of_a_result_covers_what_rewards_really_are(coin, tmp_path):
    before = [address(SMALL.but(rewards=rewards)) for rewards in (coin, ["beta", coin])]
    (tmp_path / "coin.py").write_text(COIN.replace("LEVEL = 0.1", "LEVEL = 0.2"))
    after = [address(SMALL.but(rewards=rewards)) for rewards in (coin, ["beta", coin])]
    assert len({*before, *after}) == 4
    assert address(SMALL.but(rewards="beta")) == address(SMALL.but(rewards="beta:4"))
    assert address(SMALL.but(rewards=["beta", "uniform"])) != address(SMALL.but(rewards=["uniform", "beta"]))


def test_an_unknown_name_is_told_with_what_is_known():
    with pytest.raises(BadInput, match=r"rewards 'gausian' is not known; did you mean 'gaussian'\?.*file.py:Name"):
        Experiment(rewards="gausian")
