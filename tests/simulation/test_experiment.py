"""Experiments are checked before anything runs, and survive being written and read."""

import pickle

import networkx as nx
import numpy as np
import pytest

from byzmab import BadInput, Experiment, Result, compare, simulate
from byzmab.experiment.assumptions import too_few_neighbours
from byzmab.experiment.files import read_experiment, to_toml
from byzmab.experiment.settings import ABOUT

BAD = [
    ("f", -1), ("f", 1.5), ("kappa", 2.0), ("kappa", 0.9), ("kappa", float("nan")), ("kappa", [1.1, 1.2]), ("kappa", "some"),
    ("kappa", [1.1] * 7 + [2.5]), ("arms", [0.5]), ("arms", [0.5, 1.2]), ("arms", [0.5, float("nan")]), ("arms", "random:1"),
    ("arms", "random:x"), ("arms", 0.5), ("arms", [0.5, "a"]), ("byzantine", 10), ("byzantine", -1), ("agents", 0),
    ("runs", 0), ("horizon", 0), ("record", 0), ("epoch", 0), ("memory", -1), ("delay", 2), ("subset", 0), ("seed", -1),
    ("attack", "extrem"), ("filter", "trimmd"), ("policy", "ubc"), ("graph", "complet"), ("algorithm", "resilent"),
    ("rewards", "bernouli"), ("rewards", "beta:-1"), ("rewards", "uniform:0.7"), ("rewards", "bernoulli:1"), ("rewards", "gaussian:0"), ("rewards", "pareto:-1"), ("rewards", ["beta", 3]), ("rewards", []),
    ("attack", "constant:2"), ("attack", "constant:a"), ("attack", "alie:-1"), ("attack", "extreme:1"), ("attack", 3),
    ("time_varying", "yes"), ("runs", True), ("horizon", "100"), ("rewards", 3), ("rewards", {"a": 1}), ("algorithm", ["a"]),
    ("f", 5 * 10**18), ("horizon", 2**63), ("agents", 10**20), ("memory", 2**63 - 1), ("record", 10**20), ("arms", "random:" + "9" * 20),
    ("tell", "some"), ("tell", "growth"), ("tell", "growth:2"), ("tell", "growth:-0.1"), ("tell", "growth:nan"), ("tell", "every:0"),
    ("tell", "every:1.5"), ("tell", "every:"), ("tell", 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_bad_setting_is_named_with_its_value_and_what_is_allowed(name, value):
    with pytest.raises(BadInput) as caught:
        Experiment(**{name: value})
    sentence = str(caught.value)
    assert sentence.startswith(name)
    assert "\n" not in sentence
    assert "allowed" in sentence or "known" in sentence


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("attack", "extrem", "extreme"),
        ("filter", "trimd", "trimmed"),
        ("graph", "erdos-reny", "erdos-renyi"),
        ("policy", "kl-ubc", "kl-ucb"),
    ],
)
def test_the_nearest_known_name_is_suggested(name, value, near):
    with pytest.raises(BadInput, match=f"did you mean '{near}'"):
        Experiment(**{name: value})


def test_defaults_follow_from_the_rest():
    assert Experiment().settings()["f"] == 2
    assert Experiment(byzantine=3).parts.f == 3
    assert Experiment(graph="firms", f=1).parts.agents == 10
    assert Experiment(graph=nx.complete_graph(range(1, 6)), byzantine=1).parts.agents == 5


def test_every_setting_is_explained():
    assert set(Experiment().settings()) == set(ABOUT)


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment(tell="growth:0.25"),
        Experiment(
            arms="random:7", kappa="random", graph="erdos-renyi:0.3", time_varying=True, memory=4, subset=3, delay=1
        ),
        Experiment(kappa=[1.1] * 8, rewards=["beta:2", "uniform"], attack="constant:0.1,0.2", epoch=4, record=17),
    ],
)
def test_an_experiment_file_reproduces_the_experiment(tmp_path, experiment):
    path = tmp_path / "experiment.toml"
    path.write_text(to_toml(experiment))
    assert read_experiment(path).settings() == experiment.settings()
    assert pickle.loads(pickle.dumps(experiment)).settings() == experiment.settings()


@pytest.mark.parametrize(
    "text",
    [
        "constant:0.1,0.9",
        "alie:2.5",
        "erdos-renyi:0.25",
        "two-case:3-4",
        "two-case:binomial",
        "ring:4",
        "star:3",
        "star",
        "firms",
    ],
)
def test_a_plugin_given_as_an_object_is_written_with_its_parameters(text):
    kind = "attack" if text.startswith(("constant", "alie")) else "graph"
    named = Experiment(**{kind: text})
    plugin = getattr(named.parts, kind)
    again = Experiment(**{kind: plugin}).settings()[kind]
    assert getattr(Experiment(**{kind: again}).parts, kind) == plugin


def test_numbers_of_numpy_are_numbers():
    experiment = Experiment(arms=np.array([0.5, 0.4]), runs=np.int64(3), kappa=np.float64(1.25))
    assert experiment.settings() == Experiment(arms=[0.5, 0.4], runs=3, kappa=1.25).settings()


def test_changes_win_over_the_file(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text("runs = 3\nf = 1\n")
    assert read_experiment(path, {"f": 0}).settings()["f"] == 0
    assert read_experiment(path).runs == 3


@pytest.mark.parametrize("play", [simulate, lambda given: compare(Experiment(), given)])
def test_a_file_is_no_experiment_before_it_is_read(play):
    with pytest.raises(BadInput, match=r"^expected Experiment, got str; use byzmab\.read_experiment\(path\)$"):
        play("a.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("runs = = 3", r"line 1, column"),
        ("f = 1\n\nrusn = 3", r"line 3: key 'rusn' is not known; did you mean 'runs'"),
        ("f = 1\nkappa = 2.5", r"line 2: kappa 2\.5"),
        ("seed = 1\n[graph]\nname = 1", r"line 2: graph"),
        ("\nattack = 'nobody'", r"line 2: attack 'nobody'"),
        ("policy = 'UCB'", r"did you mean 'ucb'"),
        ("filter = trimmed", r"line 1, column 10\); a text stands in quotes"),
        ("[experiment]\nruns = 3", r"line 1: 'experiment' is a table of a sweep; byzmab sweep plays"),
    ],
)
def test_a_broken_file_is_refused_with_line_and_key(tmp_path, text, words):
    path = tmp_path / "experiment.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=words):
        read_experiment(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="No such file"):
        read_experiment(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="cannot be read"):
        read_experiment(tmp_path)
    with pytest.raises(BadInput, match=r"none\.nc' cannot be read: No such file or directory$"):
        Result.load(tmp_path / "none.nc")


def test_files_are_found_beside_the_experiment_file(tmp_path):
    (tmp_path / "two.json").write_text('{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}')
    (tmp_path / "experiment.toml").write_text('graph = "two.json"\nbyzantine = 1\n')
    assert read_experiment(tmp_path / "experiment.toml").parts.agents == 2


def test_too_large_an_f_is_warned_of_once_and_names_at_most_ten():
    assert too_few_neighbours(Experiment(agents=10, byzantine=2, f=2)) is None
    assert too_few_neighbours(Experiment(filter="solo", f=9)) is None
    cooperate = too_few_neighbours(Experiment(agents=10, byzantine=2, f=5))
    assert "11 neighbours to cooperate" in cooperate
    assert "8 normal agents have fewer: 3, 4, 5, 6, 7, 8, 9, 10" in cooperate
    guarantee = too_few_neighbours(Experiment(agents=10, byzantine=2, f=3))
    assert "10 neighbours for the paper's guarantee" in guarantee
    many = too_few_neighbours(Experiment(agents=30, byzantine=2, f=2, graph="erdos-renyi:0.1"))
    assert "28 normal agents expect fewer: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …" in many
    assert too_few_neighbours(Experiment(graph="erdos-renyi:0.2", time_varying=True, memory=100)) is None
    star = too_few_neighbours(Experiment(agents=6, byzantine=1, f=1, graph="star"))
    assert "4 normal agents have fewer: 2, 3, 4, 5" in star
