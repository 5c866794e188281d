"""Any agents can be chosen to lie, and results are told under the numbers that people know agents by."""

import json

import networkx as nx
import numpy as np
import pytest

from byzmab import BadInput, Experiment, Graph, Result, ResultStore, compare, compiled, open_sweep, run_sweep, simulate
from byzmab.experiment.assumptions import most_liars, too_few_neighbours, too_many_liars
from byzmab.experiment.files import read_experiment, to_toml
from byzmab.experiment.settings import from_text
from byzmab.paper.bounds import measure
from byzmab.simulation.single_run import Run
from byzmab.testing import check

pytestmark = pytest.mark.filterwarnings("ignore:f = ", "ignore:at ")
SMALL = Experiment(agents=7, byzantine=[3, 5], f=1, attack="extreme", horizon=120, runs=3, record=6)
NORMAL = [1, 2, 4, 6, 7]


def test_results_are_told_under_the_agents_own_numbers():
    result = simulate(SMALL)
    assert result.regret["agent"].values.tolist() == NORMAL
    assert result.summary()["experiment"]["byzantine"] == [3, 5]
    assert [agent["agent"] for agent in measure(SMALL.but(runs=1)).summary()["agents"]] == NORMAL


def test_who_lies_does_not_change_the_luck_of_the_others():
    """Alone, with the same seed, an agent does the same whoever lies."""
    alone = SMALL.but(filter="solo")
    first, second = (simulate(alone.but(byzantine=liars)).regret for liars in ([3, 5], 2))
    both = [4, 6, 7]
    assert first.sel(agent=both).equals(second.sel(agent=both))
    assert compare(alone, alone.but(byzantine=[1, 5])).runs == 3


def test_the_first_agents_may_be_listed_as_well():
    listed, counted = (simulate(SMALL.but(byzantine=liars)) for liars in ([2, 1], 2))
    assert np.array_equal(listed.regret_values, counted.regret_values)


@pytest.mark.parametrize("graph", ["ring:2", "star:3", "edges:7:1-2,2-3,4>1,5-6,7>6", "firms"])
@pytest.mark.parametrize("byzantine", [[3, 5], [7], [2, 4, 6]])
def test_everyone_hears_whom_the_graph_says_whoever_lies(graph, byzantine):
    """Row by row, the engine's graph is the one between the agents' own numbers."""
    agents = 10 if graph == "firms" else 7
    experiment = Experiment(agents=agents, byzantine=byzantine, f=0, graph=graph, horizon=5, runs=1)
    played, plain = Run(experiment, 0), Run(experiment.but(byzantine=0), 0)
    heard = []
    for run in (played, plain):
        run.advance(1)
        starts, edges, numbers = run.state.graph_starts, run.state.graph, run.state.numbers
        heard.append({
            int(numbers[row]): {int(numbers[other]) for other in edges[starts[row] : starts[row + 1]]}
            for row in range(agents)
        })  # fmt: skip
    assert heard[0] == heard[1]
    liars = {number - 1 for number in byzantine}
    counts = [len(heard[1][number] & liars) for number in experiment.parts.order]
    assert most_liars(experiment).tolist() == counts


def test_warnings_name_agents_by_their_own_numbers():
    path = Experiment(graph="edges:6:1-2,2-3,3-4,4-5,5-6", byzantine=[3], f=0)
    assert too_many_liars(path).endswith("2, 4")
    assert too_few_neighbours(path.but(f=1, graph="edges:5:1-2,1-3,1-4,1-5,3-2", byzantine=[5])).endswith("2, 3, 4")


def test_a_graph_of_ones_own_is_drawn_by_the_agents_own_numbers():
    @compiled
    def neighbours(receiver, agents, byzantine, params, rng, out):
        out[0] = (receiver + 1) % agents
        return 1

    class Chain(Graph):
        """Everyone hears the next one."""

    Chain.neighbours = staticmethod(neighbours)
    check(Chain())
    played = Run(SMALL.but(graph=Chain(), f=0), 0)
    played.advance(1)
    # rows: agents 3 5 1 2 4 6 7, who hear 4 6 2 3 5 7 1
    assert played.state.graph[:7].tolist() == [4, 5, 3, 0, 1, 6, 2]


def test_a_graph_of_ones_own_that_names_nobody_is_told_so():
    @compiled
    def neighbours(receiver, agents, byzantine, params, rng, out):
        out[0] = 77
        return 1

    class Lost(Graph):
        """Hears somebody who is not there."""

    Lost.neighbours = staticmethod(neighbours)
    with pytest.raises(BadInput, match="named neighbours that do not exist"):
        Run(SMALL.but(graph=Lost(), f=0), 0).advance(1)


@pytest.mark.parametrize("liars", [[], [0], [8], [3, 3], [True], ["Oslo"], [1, 2, 3, 4, 5, 6, 7], [1.5], "some"])
def test_agents_that_are_not_there_cannot_lie(liars):
    with pytest.raises(BadInput, match=r"byzantine .* is not allowed; allowed: "):
        SMALL.but(byzantine=liars)


def test_flags_and_files_take_a_number_or_agents(tmp_path):
    texts = {"2": 2, "3,5": [3, 5], "3,": [3], "Rome,Oslo": ["Rome", "Oslo"]}
    assert {text: from_text("byzantine", text) for text in texts} == texts
    with pytest.raises(BadInput, match="byzantine 'x' is not allowed"):
        from_text("byzantine", "x")
    (tmp_path / "experiment.toml").write_text(to_toml(SMALL))
    assert np.array_equal(
        simulate(read_experiment(tmp_path / "experiment.toml")).regret_values, simulate(SMALL).regret_values
    )


def test_a_sweep_over_who_lies_keeps_every_agent_apart(tmp_path):
    points = [SMALL.but(byzantine=liars) for liars in (2, [3, 5], [7])]
    run_sweep(points, ResultStore(tmp_path))
    regret = open_sweep(tmp_path).regret
    others = [name for name in regret.dims if name not in ("agent", "byzantine")]
    missing = regret.isnull().all(others)
    told = {tuple(missing["agent"].values[lies.values].tolist()) for lies in missing.transpose("byzantine", "agent")}
    assert told == {(1, 2), (3, 5), (7,)}


def test_labels_of_a_graph_name_liars_and_are_told_with_the_results(tmp_path):
    offices = nx.complete_graph(["Rome", "Oslo", "Bern", "Kyiv", "Riga"])
    experiment = Experiment(graph=offices, byzantine=["Bern"], f=1, horizon=60, runs=2, record=3)
    assert experiment.settings()["byzantine"] == [3]
    result = simulate(experiment)
    assert result.regret["label"].values.tolist() == ["Rome", "Oslo", "Kyiv", "Riga"]
    result.save(tmp_path / "result.nc")
    loaded = Result.load(tmp_path / "result.nc")
    assert loaded.regret.equals(result.regret)
    assert loaded.experiment.parts.graph.labels == experiment.parts.graph.labels
    (tmp_path / "offices.json").write_text(json.dumps(nx.node_link_data(offices, edges="edges")))
    again = experiment.but(graph=str(tmp_path / "offices.json"))
    assert np.array_equal(simulate(again).regret_values, result.regret_values)
