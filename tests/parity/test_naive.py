"""The compiled engine makes the choices of the literal transcription, arm by arm, on the same luck."""

import os

import naive
import pytest

from byzmab import Experiment
from byzmab.attacks import ATTACKS
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES
from byzmab.simulation.single_run import Run

ALL = "BYZMAB_PAIRS" in os.environ  # in `make test-long` all three together, otherwise every pair of them
SHORT = {"horizon": 60}  # where there are many cases
SMALL = {"agents": 7, "byzantine": 2, "f": 1, "arms": (0.3, 0.7, 0.6), "horizon": 150, "runs": 1}


def engine_choices(experiment, run=0):
    played = Run(experiment, run)
    choices = []
    for time in range(experiment.horizon):
        played.advance(time + 1)
        choices.append(played.state.choices.tolist())
    told = [int(getattr(played.state, name)) for name in ("messages", "arms_told")]
    return choices, played.state.regret[:, -1], told


def assert_same_choices(experiment, run=0):
    expected, regret, told = naive.play(experiment, run)
    found, found_regret, found_told = engine_choices(experiment, run)
    for time, (theirs, ours) in enumerate(zip(expected, found, strict=True)):
        assert ours == theirs, f"round {time}"
    assert found_regret == pytest.approx(regret)
    assert found_told == told


@pytest.mark.parametrize("attack", ATTACKS.entries)
@pytest.mark.parametrize("filter", FILTERS.entries)
def test_every_filter_meets_every_attack_as_transcribed(filter, attack):
    assert_same_choices(Experiment(filter=filter, attack=attack, **{**SMALL, **SHORT}))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"f": "auto"},
        {"graph": "erdos-renyi:0.7", "time_varying": True},
        {"graph": "erdos-renyi:0.7", "time_varying": True, "memory": 3},
        {"subset": 4, "delay": 1},
        {"tell": "growth:0.1"},
        {"tell": "every:5", "graph": "ring:4"},
        {"tell": "growth:0.1", "graph": "erdos-renyi:0.7", "time_varying": True},
        {"epoch": 3},
    ],
    ids=str,
)
def test_audits_expel_as_transcribed(settings):
    """Also attacks that switch, half-way."""
    for filter, attack in (
        ("guarded", "alie"),
        ("guarded", "alie:careful=1"),
        ("trimmed", "mimic"),
        ("pooled", "crafted:0.5,1.25,-0.3,switch=40,careful=1"),
        ("screened", "constant:careful=1"),
        ("guarded", "crafted:best=3.6,second=2.1,errors=2,share=0.5,isolate=2,switch=45"),
        ("guarded", "crafted:second_count=0,share=0.5,spared_count=1,switch=40"),
        ("guarded", "crafted:second_count=0,share=0.5,spared_count=0,switch=40,careful=1"),
    ):
        assert_same_choices(
            Experiment(filter=filter, attack=attack, audit=True, **{**SMALL, "horizon": 90, **settings})
        )


@pytest.mark.parametrize("policy", POLICIES.entries)
@pytest.mark.parametrize("filter", ["trimmed", "screened", "guarded:proven=1"])
def test_every_policy_chooses_as_transcribed(policy, filter):
    assert_same_choices(Experiment(filter=filter, policy=policy, attack="extreme", **{**SMALL, "horizon": 90}))


@pytest.mark.parametrize("time_varying", [False, True])
@pytest.mark.parametrize(
    "graph",
    [
        "complete",
        "ring:4",
        "ring:6",
        "star",
        "star:3",
        "erdos-renyi:0.6",
        "erdos-renyi:0.1",
        "two-case:3-4",
        "two-case:binomial",
    ],
)
def test_every_graph_is_heard_as_transcribed(graph, time_varying):
    for attack in ("gaussian", "adaptive"):
        assert_same_choices(Experiment(graph=graph, time_varying=time_varying, attack=attack, **{**SMALL, **SHORT}))


@pytest.mark.parametrize("graph", ["complete", "ring:4", "star:3", "star:5", "erdos-renyi:0.6", "two-case:3-4"])
def test_liars_anywhere_are_played_as_transcribed(graph):
    for attack, filter, settings in (
        ("gaussian", "trimmed", {"kappa": (1.0, 1.2, 1.4, 1.6, 1.9)}),
        ("adaptive", "guarded", {"kappa": "random", "rewards": ("bernoulli", "beta:3", "gaussian")}),
        ("constant", "pooled", {"memory": 3, "delay": 1, "time_varying": True}),
        ("mimic", "screened", {"tell": "growth:0.2", "epoch": 2}),
    ):
        chosen = {"graph": graph, "attack": attack, "filter": filter, "byzantine": [6, 3], **settings}
        assert_same_choices(Experiment(**{**SMALL, **SHORT, **chosen}))


TELL = ("growth:0", "growth:0.1", "growth:0.7", "every:1", "every:4")
TABLE = [[0.3, 0.7, 0.6], [0.9, 0.1, 0.2], [0.55, 0.4, 0.6], [0.7, 0.7, 0.1], [0.2, 0.6, 0.55], [0.6, 0.55, 0.4]]
MOVING = [[0.3, 0.7, 0.6], [0.6, 0.5, 0.4]] * 3 + [[0.1, 0.2, 0.9]]


@pytest.mark.parametrize(
    "settings",
    [
        {"spread": 0.2},
        {"arms": [*TABLE, [0.4, 0.4, 0.45]], "byzantine": [6, 3], "rewards": ("beta:3", "gaussian:0.2")},
        {"arms": {1: TABLE[0], 20: TABLE[1], 33: TABLE[2]}, "delay": 1},
        {"arms": {1: MOVING, 30: [*TABLE, [0.4, 0.4, 0.45]]}, "spread": 0.05, "drift": "walk:0.05"},
        {"drift": "steps:13", "spread": 0.1, "byzantine": [6, 3], "kappa": "random"},
        {"drift": "periodic:30,0.3", "arms": "random:4", "tell": "growth:0.2"},
    ],
    ids=str,
)
def test_agents_that_differ_and_arms_that_drift_are_played_as_transcribed(settings):
    for filter, attack in (("trimmed", "adaptive"), ("guarded", "alie"), ("pooled", "crafted:0.5,0.2,target=3")):
        assert_same_choices(Experiment(**{**SMALL, **SHORT, "filter": filter, "attack": attack, **settings}))


def test_a_log_is_replayed_as_transcribed(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\n1,0.5\n2,1\n1,0\n3,0.9\n2,0.3\n3,0.2\n3,0.25\n")
    chosen = {"rewards": f"replay:{tmp_path / 'log.csv'}", "filter": "guarded", "attack": "extreme"}
    assert_same_choices(Experiment(**{**SMALL, **SHORT, "arms": Experiment.arms, **chosen}))


@pytest.mark.parametrize("tally", ["forget:0.9", "window:17"])
def test_tallies_that_forget_are_kept_told_and_believed_as_transcribed(tally):
    for filter, attack in (("trimmed", "adaptive"), ("guarded", "extreme"), ("screened", "mimic"), ("median", "alie")):
        for settings in ({}, {"graph": "erdos-renyi:0.7", "time_varying": True, "memory": 2}):
            chosen = {"filter": filter, "attack": attack, "tally": tally, "drift": "steps:20", **settings}
            assert_same_choices(Experiment(**{**SMALL, **SHORT, **chosen}))


def test_the_ten_firms_are_connected_as_transcribed():
    assert_same_choices(Experiment(graph="firms", f=1, arms="random:5", kappa="random", horizon=100, attack="adaptive"))


@pytest.mark.parametrize(
    "settings",
    [
        {"memory": 3},
        {"memory": 30},
        {"delay": 1},
        {"memory": 4, "delay": 1},
        {"epoch": 5},
        {"epoch": 3, "delay": 1},
        {"subset": 2},
        {"subset": 3, "memory": 6, "delay": 1, "epoch": 2},
        {"kappa": (1.0, 1.2, 1.4, 1.6, 1.9)},
        {"kappa": "random", "arms": "random:6"},
        {"rewards": ("bernoulli", "beta:3", "uniform:0.2")},
        {"rewards": ("bernoulli", "poisoned:1,0.2", "bernoulli")},
        {"rewards": ("gaussian:0.2", "pareto", "gaussian:1.5"), "arms": (0.12, 0.8, 0.6)},
        {"f": 0},
        {"f": 2},
        {"f": 3},
        {"f": "auto"},
        {"f": "auto", "memory": 4},
        {"f": "auto", "subset": 4},
    ],
    ids=str,
)
def test_every_setting_is_played_as_transcribed(settings):
    """With every filter, attack and graph, and these with each other; not with all of them at once."""
    networks = [("complete", False), ("erdos-renyi:0.7", False), ("erdos-renyi:0.7", True)]
    attacks = ("gaussian", "adaptive", "constant:0.2,0.9")
    for shift in range(3) if ALL else (len(str(settings)) % 3,):
        for number, filter in enumerate(("trimmed", "pooled", "guarded")):
            graph, time_varying = networks[(number + shift) % 3]
            chosen = {"graph": graph, "time_varying": time_varying, "filter": filter, "attack": attacks[number - shift]}
            assert_same_choices(Experiment(**{**SMALL, **SHORT, **chosen, **settings}))


@pytest.mark.parametrize("tell", TELL)
@pytest.mark.parametrize("attack", ATTACKS.entries)
def test_every_way_of_telling_meets_every_attack_as_transcribed(tell, attack):
    """Every filter goes with every way of telling too; all three together do not."""
    filters, number = list(FILTERS.entries), list(ATTACKS.entries).index(attack)
    for filter in filters if ALL else (filters[(number + TELL.index(tell)) % len(filters)],):
        assert_same_choices(Experiment(filter=filter, attack=attack, tell=tell, **{**SMALL, **SHORT}))


@pytest.mark.parametrize(
    "settings",
    [
        {"delay": 1},
        {"epoch": 3, "delay": 1},
        {"memory": 4},
        {"memory": 4, "delay": 1},
        {"subset": 2},
        {"subset": 3, "memory": 6, "delay": 1, "epoch": 2},
        {"f": "auto", "memory": 30},
        {"kappa": "random", "arms": "random:6"},
    ],
    ids=str,
)
@pytest.mark.parametrize("tell", ["growth:0.2", "every:3"])
def test_every_setting_goes_with_every_way_of_telling_as_transcribed(settings, tell):
    lies = (("trimmed", "adaptive"), ("pooled", "constant"), ("guarded", "crafted:0.5,1.25,-0.3"))
    networks = (("complete", False), ("erdos-renyi:0.6", True), ("ring:4", False), ("erdos-renyi:0.6", False))
    for number, (graph, time_varying) in enumerate(networks):
        filter, attack = lies[(number + len(settings) + len(tell)) % 3]
        chosen = {"graph": graph, "time_varying": time_varying, "filter": filter, "attack": attack, "tell": tell}
        assert_same_choices(Experiment(**{**SMALL, **SHORT, **chosen, **settings}))


def test_growth_by_nothing_tells_as_much_as_everything_in_every_round():
    """Only arms that changed are told, and yet nobody chooses otherwise."""
    for filter in FILTERS.entries:
        experiment = Experiment(filter=filter, attack="none", **SMALL)
        expected, _, (messages, _) = engine_choices(experiment)
        found, _, told = engine_choices(experiment.but(tell="growth:0"))
        assert found == expected
        # everyone pulls one arm a round, and that one is told to six others
        assert filter == "solo" or told == [messages, 7 * 6 * (3 + 149)]


@pytest.mark.parametrize(
    "attack",
    [
        "crafted:0.5,1.25,-0.3",
        "crafted:-1,9,0,0.5,0.6,2,0.5,-0.5,0.8",
        "crafted:0,-1,-1,1,0,0.1,0.333,1.5,0.2,4,60",
        "crafted:-1,-1,-1,1,1,1,0,0.7,1,3,1000",
        "crafted:1,2,0.5,errors=1,spared=0,share=0.5,switch=60,best_share=0.3",
        "crafted:2,1,-1,0.5,2,1,errors=2,pause=20,resume=50",
        "crafted:0.5,-0.3,1,isolate=4,common=1,spared=1.5,pause=10,resume=40",
        "crafted:2,1.5,2,errors=2,common=1",
        "crafted:0.5,-1,target=2",
        "crafted:0.5,0.2,target=1,best_share=0.5,switch=1000",
        "crafted:0.5,0.2,target=3",
    ],
)
@pytest.mark.parametrize(
    "settings",
    [{}, {"graph": "erdos-renyi:0.5", "time_varying": True, "memory": 2}, {"f": 0}, {"delay": 1, "arms": (0.2, 0.6)}],
    ids=str,
)
def test_crafted_lies_are_told_as_transcribed(attack, settings):
    filter = ("trimmed", "pooled")[(len(attack) + len(settings)) % 2]  # each with half of the settings
    assert_same_choices(Experiment(filter=filter, attack=attack, **{**SMALL, "horizon": 90, **settings}))


def test_many_arms_and_many_neighbours_are_played_as_transcribed():
    """More arms than bits in a word of news, and more neighbours than fit a short list."""
    experiment = Experiment(agents=36, byzantine=3, f=3, arms="random:70", horizon=10, attack="alie", filter="trimmed")
    assert_same_choices(experiment)
    assert_same_choices(experiment.but(filter="screened", policy="tuned"), run=3)
    assert_same_choices(experiment.but(filter="guarded", f=6, arms="random:5", horizon=15), run=3)
