"""On dense graphs reports are ordered once for all agents: the same choices, in a fraction of time and memory."""

from dataclasses import dataclass

import naive
import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from byzmab import Attack, BadInput, Experiment, Filter, compiled, simulate
from byzmab.attacks import ATTACKS
from byzmab.attacks.extreme import Extreme
from byzmab.attacks.gaussian import Gaussian
from byzmab.core.filters import FILTERS
from byzmab.core.filters.trimmed import Trimmed
from byzmab.core.policies import POLICIES
from byzmab.simulation.density import is_dense
from byzmab.simulation.single_run import Run, plain_and_dense
from byzmab.simulation.sizes import bytes_of
from byzmab.testing import check

DENSE = [name for name, filter in FILTERS.entries.items() if filter.believe_dense is not None]
GRAPHS = ("complete", "erdos-renyi:0.9")
NETWORK = {"agents": 24, "byzantine": 3, "f": 3, "arms": (0.3, 0.7, 0.6, 0.65), "horizon": 80, "runs": 1}


def assert_same_choices(experiment, run=0):
    plain, dense = plain_and_dense(experiment, run)
    for time in range(1, experiment.horizon + 1):
        for played in (plain, dense):
            played.advance(time)
        assert np.array_equal(dense.state.choices, plain.state.choices), f"round {time}"
    assert np.array_equal(dense.state.regret, plain.state.regret)
    for counted in ("messages", "arms_told"):
        assert getattr(dense.state, counted) == getattr(plain.state, counted)


def test_the_paper_filter_and_ours_have_a_dense_path():
    assert set(DENSE) == {"trimmed", "mean", "pooled", "screened", "guarded"}


@pytest.mark.parametrize("attack", ATTACKS.entries)
@pytest.mark.parametrize("filter", DENSE)
def test_every_filter_meets_every_attack_with_the_same_choices(filter, attack):
    """And each of them every graph."""
    graph = GRAPHS[(DENSE.index(filter) + list(ATTACKS.entries).index(attack)) % 2]
    assert_same_choices(Experiment(filter=filter, attack=attack, graph=graph, **NETWORK))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("tell", ["growth:0", "growth:0.1", "growth:0.6", "every:7"])
@pytest.mark.parametrize("filter", DENSE)
def test_what_is_told_now_and_then_leads_to_the_same_choices(filter, tell, graph):
    attack = ("constant", "adaptive", "alie")[
        (DENSE.index(filter) + len(tell) + len(graph)) % 3
    ]  # all pairs, not all triples
    assert_same_choices(Experiment(filter=filter, attack=attack, graph=graph, tell=tell, **NETWORK))


@pytest.mark.parametrize(
    "settings",
    [
        {"f": 0},
        {"f": 1},
        {"f": 2},
        {"f": 7},
        {"f": 10},  # of 23 neighbours 3 are left
        {"f": 12},  # too few neighbours
        {"f": 2_000_000_000},
        {"byzantine": 0},
        {"byzantine": 0, "f": 0},
        {"byzantine": 23, "f": 1},
        {"kappa": 1.0},
        {"kappa": [1.0 + number / 21 for number in range(21)]},
        {"kappa": "random", "arms": "random:6"},
        {"arms": "random:70", "horizon": 20},  # more than bits in a word of news
        {"epoch": 4},
        {"memory": 5},
        {"rewards": ("bernoulli", "beta:3", "uniform:0.2")},
        {"rewards": ("gaussian", "pareto:1.2")},
        {"agents": 2, "byzantine": 1, "f": 0},
        {"agents": 200, "byzantine": 12, "f": 10, "horizon": 30},
    ],
    ids=str,
)
@pytest.mark.parametrize("filter", DENSE)
def test_every_setting_is_played_with_the_same_choices(filter, settings):
    """Every setting with every filter, and with every network; all three together only in part."""
    networks = ("adaptive", "complete"), ("gaussian", "erdos-renyi:0.95"), ("constant:0.2,0.9", "complete")
    attack, graph = networks[(DENSE.index(filter) + len(str(settings))) % 3]
    assert_same_choices(Experiment(filter=filter, attack=attack, graph=graph, **{**NETWORK, **settings}))


@pytest.mark.parametrize("policy", POLICIES.entries)
def test_every_policy_chooses_the_same(policy):
    for filter in DENSE:
        assert_same_choices(Experiment(filter=filter, policy=policy, attack="alie", **NETWORK), run=1)


def test_a_given_graph_from_which_few_edges_are_missing_is_played_with_the_same_choices():
    graph = nx.complete_graph(range(1, 31), nx.DiGraph)
    graph.remove_edges_from([(1, 9), (9, 1), (2, 3), (20, 30), (21, 30), (22, 30), (30, 4), (5, 6)])
    for filter in DENSE:
        assert_same_choices(Experiment(graph=graph, filter=filter, attack="gaussian", byzantine=4, f=4, horizon=60))


@pytest.mark.parametrize("filter", ["guarded:proven=1", "guarded:0.2,0,1", "screened:0.2,1"])
def test_parameters_reach_the_dense_path(filter):
    for attack in ("alie", "extreme"):
        assert_same_choices(Experiment(filter=filter, attack=attack, **NETWORK))


@settings(max_examples=60)
@given(
    agents=st.integers(1, 20),
    byzantine=st.integers(0, 6),
    f=st.integers(0, 9),
    q=st.sampled_from([0.0, 0.3, 0.8, 0.95, 1.0]),
    kappa=st.sampled_from([1.0, 1.5, 1.999, "random"]),
    attack=st.sampled_from(list(ATTACKS.entries)),
    filter=st.sampled_from(DENSE),
    arms=st.sampled_from([(0.5, 0.5), (0.0, 1.0), (0.2, 0.9, 0.4)]),
    rewards=st.sampled_from(["bernoulli", "beta:2"]),
    epoch=st.sampled_from([1, 2, 7]),
    seed=st.integers(0, 10**6),
)
def test_any_fixed_graph_however_sparse_gives_the_same_choices(agents, byzantine, q, **others):
    assume(byzantine < agents)
    graph = f"erdos-renyi:{q}"
    assert_same_choices(Experiment(agents=agents, byzantine=byzantine, graph=graph, horizon=40, runs=1, **others))


@pytest.mark.parametrize("filter", DENSE)
def test_a_network_that_is_dense_by_the_rule_plays_as_transcribed(filter):
    experiment = Experiment(agents=60, byzantine=4, f=4, arms=(0.3, 0.7, 0.6), horizon=12, runs=1, filter=filter)
    assert is_dense(experiment)
    played = Run(experiment, 0)
    expected, *_ = naive.play(experiment, 0)
    for time, theirs in enumerate(expected):
        played.advance(time + 1)
        assert played.state.choices.tolist() == theirs, f"round {time}"


@pytest.mark.filterwarnings("ignore:f = ")
@pytest.mark.parametrize(
    ("changes", "dense"),
    [
        ({}, True),
        ({"graph": "erdos-renyi:0.99"}, True),
        ({"filter": "pooled", "epoch": 3, "kappa": "random"}, True),
        ({"agents": 20}, False),
        ({"graph": "erdos-renyi:0.5"}, False),
        ({"graph": "star"}, False),
        ({"f": 40}, False),
        ({"filter": "guarded"}, True),
        ({"filter": "screened"}, True),
        ({"filter": "median"}, False),
        ({"filter": "solo"}, False),
        ({"delay": 1}, False),
        ({"subset": 5}, False),
        ({"graph": "erdos-renyi:1", "time_varying": True}, False),
        ({"algorithm": "coop-ucb2"}, False),
    ],
    ids=str,
)
def test_only_large_networks_in_which_nearly_everyone_hears_everyone_are_dense(changes, dense):
    experiment = Experiment(agents=100, byzantine=5, f=5, horizon=3, runs=1).but(**changes)
    assert is_dense(experiment) == dense
    assert Run(experiment, 0).state.dense == dense
    simulate(experiment)


@pytest.mark.parametrize("changes", [{"filter": "median"}, {"subset": 5}, {"algorithm": "coop-ucb2"}], ids=str)
def test_what_cannot_be_played_dense_is_refused(changes):
    with pytest.raises(BadInput, match="dense"):
        Run(Experiment(**changes), 0, dense=True)


def bytes_on(state):
    arrays = {id(array.base if array.base is not None else array): array for array in state.arrays.values()}
    return sum(array.nbytes for array in arrays.values())


@pytest.mark.parametrize("attack", [name for name, attack in ATTACKS.entries.items() if not attack.sees_edges])
def test_nothing_grows_with_the_square_of_the_agents(attack):
    sizes = []
    for agents in (500, 1000):
        experiment = Experiment(agents=agents, byzantine=4, horizon=2, runs=1, attack=attack)
        played = Run(experiment, 0)
        played.advance(2)
        sizes.append(bytes_on(played.state))
        assert sizes[-1] / 2 < bytes_of(experiment) < 2 * sizes[-1]
    assert sizes[1] < 2.1 * sizes[0]


@compiled
def shout(world, sender, receiver, params, scratch, rng, report):
    for arm in range(report.pulls.size):
        report.pulls[arm] = 1e9
        report.means[arm] = 1e300 if sender % 2 else -1e300


@dataclass(frozen=True)
class Shout(Attack):
    """Claims means that no sum survives."""

    lie = staticmethod(shout)
    sees_edges = False


@pytest.mark.parametrize("filter", ["trimmed", "pooled", "screened", "guarded"])
def test_a_lie_however_large_costs_no_digit(filter):
    experiment = Experiment(attack=Shout(), filter=filter, **NETWORK)
    plain, dense = plain_and_dense(experiment)
    for played in (plain, dense):
        played.advance(experiment.horizon)
    assert dense.state.estimates == pytest.approx(plain.state.estimates, rel=1e-14)
    honest = dense.state.means
    assert (dense.state.estimates <= honest.max(axis=0) + 1e-12).all()


@compiled
def believe(heard):
    total = heard.own_mean
    for mean in heard.means:
        total += mean
    return total / (heard.means.size + 1), heard.own_pulls, 0.0


@compiled
def believe_dense(heard, middle):
    total = heard.own_mean + middle.means
    for mean in heard.means:
        total += mean
    return total / (heard.means.size + middle.size + 1), heard.own_pulls, 0.0


@compiled
def believe_the_ends(heard, middle):
    return believe(heard)


@dataclass(frozen=True)
class Half(Filter):
    """The plain mean of everyone."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_dense)


@dataclass(frozen=True)
class Deaf(Filter):
    """Forgets those in the middle."""

    believe = staticmethod(believe)
    believe_dense = staticmethod(believe_the_ends)


def test_a_filter_of_ones_own_may_be_dense():
    check(Half())
    assert is_dense(Experiment(agents=60, byzantine=0, filter=Half()))


def test_what_is_derived_from_a_dense_filter_but_believes_otherwise_is_not_dense():
    class Other(Trimmed):
        believe = staticmethod(believe)

    class Same(Trimmed):
        """Only another name."""

    class Peeping(Extreme):
        lie = staticmethod(Gaussian.lie)

    assert Other.believe_dense is None
    assert Same.believe_dense is Trimmed.believe_dense
    assert Peeping.sees_edges
    assert not Extreme.sees_edges


def test_a_dense_function_that_believes_something_else_is_caught():
    with pytest.raises(AssertionError, match="believe_dense"):
        check(Deaf())


def test_an_attack_that_looks_at_edges_it_says_it_does_not_see_is_caught():
    @compiled
    def lie(world, sender, receiver, params, scratch, rng, report):
        for arm in range(report.pulls.size):
            report.pulls[arm] = world.starts[receiver + 1] - world.starts[receiver]
            report.means[arm] = 0.5

    class Nosy(Attack):
        """Counts the receiver's neighbours."""

        sees_edges = False

    Nosy.lie = staticmethod(lie)
    with pytest.raises(AssertionError, match="sees_edges"):
        check(Nosy())
