"""Rewards of a log have its means, and a policy is worth on a log what it earns where the log comes from."""

import numpy as np
import pandas
import pytest

from byzmab import BadInput, Experiment, Result, inverse_propensity, replay_policy, simulate
from byzmab.core.draws import fold
from byzmab.experiment.files import read_experiment
from byzmab.results.directory import write_result
from byzmab.sweep.identity import address
from byzmab.worlds import Pull
from byzmab.worlds.event_log import Event, read_events
from byzmab.worlds.replay import Replay

pytestmark = pytest.mark.filterwarnings("ignore:f = ")
LOG = "arm,reward,page\nred,1,a\ngreen,0,b\nred,0.5,a\ngreen,0.2,a\ngreen,0.4,c\n"
SMALL = Experiment(agents=3, byzantine=1, f=0, filter="solo", horizon=60, runs=2, record=4)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    return f"replay:{tmp_path / 'log.csv'}"


def test_arms_have_the_means_of_the_log_and_pulls_its_rewards(log):
    experiment = SMALL.but(rewards=log)
    assert experiment.parts.means == pytest.approx((0.75, 0.2))
    assert simulate(experiment).regret_values.max() > 0
    plugin = experiment.parts.rewards[0]
    pulls = [draw(plugin, 0, number) for number in range(400)]
    assert set(pulls) == {1.0, 0.5}
    assert np.mean(pulls) == pytest.approx(0.75, abs=0.0625)  # five standard errors of 0.25 / √400


def draw(plugin, arm, number, agent=0):
    luck = np.array([fold(np.uint64(3), number)], np.uint64)
    return type(plugin).reward(Pull(0, agent, arm, number, 0.5, 0.5), np.array(plugin.params), luck)


def test_in_order_every_event_comes_once_before_any_comes_again(log):
    plugin = SMALL.but(rewards=f"{log}:in-order").parts.rewards[0]
    for agent in range(4):
        seen = [draw(plugin, 1, number, agent) for number in range(6)]
        assert sorted(seen[:3]) == [0.0, 0.2, 0.4]
        assert seen[:3] == seen[3:]
    assert len({draw(plugin, 1, 0, agent) for agent in range(4)}) > 1


def test_a_log_that_tells_of_agents_gives_each_its_own_rewards(tmp_path):
    (tmp_path / "log.csv").write_text("agent,arm,reward\n1,1,1\n1,2,0\n2,1,0\n2,2,1\n")
    experiment = Experiment(rewards=f"replay:{tmp_path / 'log.csv'}", byzantine=0, filter="solo", horizon=40, runs=1)
    assert experiment.parts.agents == 2
    assert experiment.settings()["arms"] == [[1.0, 0.0], [0.0, 1.0]]
    pulls = simulate(experiment).pulls.sum("third")
    assert pulls.sel(agent=1, arm=1) > 30 and pulls.sel(agent=2, arm=2) > 30


def test_a_result_comes_with_its_log_and_can_be_read_without(log, tmp_path):
    experiment = SMALL.but(rewards=f"{log}:in-order")
    result = simulate(experiment)
    (tmp_path / "out").mkdir()
    write_result(result, tmp_path / "out")
    (tmp_path / "log.csv").unlink()
    again = read_experiment(tmp_path / "out" / "experiment.toml")
    assert np.array_equal(simulate(again).regret_values, result.regret_values)
    (tmp_path / "out" / "log.csv").unlink()
    assert np.array_equal(Result.load(tmp_path / "out" / "result.nc").regret_values, result.regret_values)
    with pytest.raises(BadInput, match="cannot be read"):
        simulate(Result.load(tmp_path / "out" / "result.nc").experiment)


def test_the_address_of_a_result_covers_the_events(log, tmp_path):
    before = address(SMALL.but(rewards=log))
    assert before != address(SMALL.but(rewards=f"{log}:in-order"))
    (tmp_path / "log.csv").write_text(LOG.replace("0.5", "0.6"))
    assert before != address(SMALL.but(rewards=log))
    assert before.lasting


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("arm,value\nred,1\n", "has no events with reward; allowed: columns arm and reward"),
        ("arm,reward\n", "has no events with arm and reward"),
        ("arm,reward\nred,x\n", "event 1 is not understood"),
        ("arm,reward\nred,1.5\n", "event 1 is not allowed"),
        ("arm,reward,propensity\nred,1,0\n", "event 1 is not allowed"),
        ("arm,reward\nred,1\n", "has events of one arm only"),
        ("agent,arm,reward\n1,red,1\n2,blue,1\n", "has no event of arm 'blue' and agent 1"),
    ],
)
def test_a_broken_log_is_refused_with_what_is_wrong(tmp_path, text, words):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(BadInput, match=words):
        Experiment(rewards=f"replay:{tmp_path / 'log.csv'}")


def test_what_does_not_go_with_a_log_is_refused(log):
    for settings in ({"arms": (0.5, 0.4)}, {"spread": 0.1}, {"drift": "walk:0.1"}, {"rewards": [log, "beta"]}):
        with pytest.raises(BadInput, match="of a log"):
            SMALL.but(**{"rewards": log, **settings})
    with pytest.raises(BadInput, match=r"log 'nowhere.csv' cannot be read"):
        SMALL.but(rewards="replay:nowhere.csv")


def test_parquet_is_read_like_csv_where_pandas_can(tmp_path, monkeypatch):
    """pandas reads Parquet by another package, which need not be installed: here it reads CSV in its place."""
    (tmp_path / "log.csv").write_text(LOG)
    monkeypatch.setattr(pandas, "read_parquet", lambda path: pandas.read_csv(path.replace(".parquet", ".csv")))
    assert read_events(str(tmp_path / "log.parquet")) == read_events(str(tmp_path / "log.csv"))

    def refuse(path):
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pandas, "read_parquet", refuse)
    with pytest.raises(BadInput, match="no pyarrow; allowed: CSV, or Parquet with pyarrow installed"):
        read_events(str(tmp_path / "log.parquet"))


def logged(count, seed=0):
    """Events of three Bernoulli arms, logged with chances ½, 0.3 and 0.2."""
    rng, means, chances = np.random.default_rng(seed), [0.7, 0.4, 0.2], [0.5, 0.3, 0.2]
    arms = rng.choice(3, count, p=chances)
    return [Event(str(arm), float(rng.random() < means[arm]), 0, chances[arm]) for arm in arms]


def test_shares_of_arms_are_worth_their_means():
    """Within four standard errors; without weights the log would say 0.51."""
    shares = {"0": 0.2, "1": 0.3, "2": 0.5}
    found = inverse_propensity(logged(4000), shares)
    assert abs(found.value - (0.2 * 0.7 + 0.3 * 0.4 + 0.5 * 0.2)) < 4 * found.stderr < 0.06
    assert inverse_propensity(logged(4000), {"2": 1.0}).used < 1000
    assert inverse_propensity(logged(4000), {2: 1.0}) == inverse_propensity(logged(4000), {"2": 1.0})


def test_a_policy_replayed_on_a_log_earns_what_it_earns_in_the_world_of_the_log():
    """As many rounds alone in that world: within four standard errors of both."""
    found = replay_policy(logged(6000), "ucb:0.2")
    assert found.value > 0.6 and found.used < found.events == 6000
    world = Experiment(
        arms=(0.7, 0.4, 0.2), agents=1, byzantine=0, filter="solo", policy="ucb:0.2", horizon=found.used, runs=20
    )
    lost = simulate(world).network_regret[:, -1].mean() / found.used
    assert abs(found.value - (0.7 - lost)) < 4 * found.stderr
    assert found.weighted == pytest.approx(found.value, abs=0.1)


def test_what_cannot_be_evaluated_is_told_in_one_sentence():
    with pytest.raises(BadInput, match="log has no propensities"):
        inverse_propensity([Event("a", 1.0), Event("b", 0.0)], {"a": 1.0})
    with pytest.raises(BadInput, match=r"shares .* are not allowed; allowed: chances of the arms 0, 1, 2, 1 in all"):
        inverse_propensity(logged(100), {"0": 0.5})
    with pytest.raises(BadInput, match="log has 1 arms"):
        replay_policy([Event("a", 1.0)])
    assert Replay.from_events(logged(100), "x").means[0][0] > 0.5
