"""Who hears whom."""

import json
import math

import networkx as nx
import numpy as np
import pytest

from byzmab import BadInput, Experiment
from byzmab.graphs import GRAPHS, resolve_graph
from byzmab.graphs.given import Given, read_graph, write_graph
from byzmab.simulation.single_run import Run


def lists(graph, agents, byzantine=0, seed=0):
    """The neighbours of every agent in one draw."""
    graph = resolve_graph(graph)
    params = np.array(graph.params, float)
    found = []
    for agent in range(agents):
        out = np.empty(agents, np.int64)
        rng = np.array([seed * 1_000_003 + agent], np.uint64)
        count = type(graph).neighbours(agent, agents, byzantine, params, rng, out)
        found.append(out[:count].tolist())
    return found


def test_a_ring_is_heard_on_both_sides():
    assert lists("ring:4", 7) == [
        [1, 2, 5, 6],
        [0, 2, 3, 6],
        [0, 1, 3, 4],
        [1, 2, 4, 5],
        [2, 3, 5, 6],
        [0, 3, 4, 6],
        [0, 1, 4, 5],
    ]


def test_the_hub_of_a_star_is_the_last_agent_unless_named():
    assert lists("star", 4) == [[3], [3], [3], [0, 1, 2]]
    assert lists("star:2", 4) == [[1], [0, 2, 3], [1], [1]]


def test_every_honest_firm_has_exactly_one_byzantine_neighbour():
    firms = lists("firms", 10)
    for firm in range(2, 10):
        assert sum(other < 2 for other in firms[firm]) == 1
        assert all(firm in firms[other] for other in firms[firm])
    assert sum(map(len, firms)) == 48


@pytest.mark.parametrize("q", [0.0, 0.03, 0.14, 0.15, 0.6, 1.0])
def test_every_edge_is_there_with_probability_q(q):
    """Counted per pair over many draws, within five standard errors."""
    agents, trials = 12, 600
    counts = np.zeros((agents, agents))
    for seed in range(trials):
        for agent, heard in enumerate(lists(f"erdos-renyi:{q}", agents, seed=seed)):
            counts[agent, heard] += 1
    share = counts[~np.eye(agents, dtype=bool)] / trials
    assert np.diag(counts).sum() == 0
    assert share == pytest.approx(np.full(share.size, q), abs=5 * math.sqrt(q * (1 - q) / trials) + 1e-12)


@pytest.mark.parametrize(("case", "degrees"), [("4-5", {4, 5}), ("binomial", set(range(9)))])
def test_two_case_graphs_have_at_most_one_liar_and_uniform_sets(case, degrees):
    trials = 4000
    sizes, with_liar = [], {4: [0, 0]}
    for seed in range(trials):
        heard = lists(f"two-case:{case}", 10, 2, seed)[5]
        liars = sum(other < 2 for other in heard)
        assert liars <= 1
        assert len(heard) in degrees
        sizes.append(len(heard))
        if len(heard) == 4:
            with_liar[4][liars] += 1
    assert np.mean(sizes) == pytest.approx(4.5, abs=0.15)
    # of the sets of 4 among 7 honest and 2 liars with at most one liar, 35 have none and 70 have one
    none, one = with_liar[4]
    assert one / (none + one) == pytest.approx(2 / 3, abs=5 * math.sqrt(2 / 9 / (none + one)))


def test_a_networkx_graph_is_heard_along_its_edges(tmp_path):
    directed = nx.DiGraph([(1, 2), (3, 2), (2, 1)])
    assert lists(directed, 3) == [[1], [0, 2], []]
    assert lists(nx.Graph([(1, 2), (2, 3)]), 3) == [[1], [0, 2], [1]]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(nx.node_link_data(directed)))
    assert read_graph(str(path)).listed == Given.from_networkx(directed).listed
    write_graph(Given.from_networkx(directed), path)
    assert read_graph(str(path)).listed == Given.from_networkx(directed).listed


def test_nodes_of_any_name_are_agents_in_their_order(tmp_path):
    offices = nx.Graph([("Rome", "Oslo"), ("Oslo", 7), (7, ("a", "pair"))])
    graph = Given.from_networkx(offices)
    assert graph.labels == ("Rome", "Oslo", "7", "('a', 'pair')")
    assert graph.listed == ((1,), (0, 2), (1, 3), (2,))
    assert Given.from_networkx(nx.path_graph(3)).labels == ("0", "1", "2")
    assert Given.from_networkx(nx.Graph([(2, 1)])).labels == ()
    write_graph(graph, tmp_path / "offices.json")
    again = read_graph(str(tmp_path / "offices.json"))
    assert (again.labels, again.listed) == (graph.labels, graph.listed)


def test_links_are_read_as_edges_and_self_loops_left_out(tmp_path):
    path = tmp_path / "old.json"
    path.write_text(
        '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}, {"source": 1, "target": 1}]}'
    )
    assert read_graph(str(path)).listed == ((1,), (0,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "line 1"),
        ("[]", "nodes"),
        ('{"nodes": [{"id": 1}]}', "edges"),
        ('{"nodes": [{"name": 1}], "edges": []}', "id"),
        ('{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 3}]}', "agent 3"),
        ('{"nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1}]}', "target"),
        ('{"nodes": [{"id": 1}, {"id": 1}], "edges": []}', "twice"),
        ('{"nodes": [{"id": 1}], "edges": [], "directed": "no"}', "directed"),
        ("[" * 100_000, "cannot be read"),
        ('{"nodes": [{"id": 1}, {"id": "1"}], "edges": []}', "twice"),
        ('{"nodes": [{"id": 1.5}], "edges": []}', "number or name"),
    ],
)
def test_a_broken_graph_file_is_refused_with_what_is_wrong(tmp_path, text, words):
    path = tmp_path / "graph.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=words):
        read_graph(str(path))


@pytest.mark.parametrize(
    ("graph", "agents"),
    [
        ("ring:3", 10), ("ring:10", 10), ("ring:x", 10), ("star:11", 10), ("erdos-renyi", 10), ("erdos-renyi:1.5", 10),
        ("erdos-renyi:nan", 10), ("erdos-renyi:0.1,0.2", 10), ("two-case:5", 10), ("two-case:5-4", 10), ("two-case:4-9", 10),
        ("firms", 9), ("firms:2", 10), ("complete:1", 10), ("nowhere.json", 10), ("completely", 10),
    ],
)  # fmt: skip
def test_a_graph_that_does_not_exist_is_refused(graph, agents):
    with pytest.raises(BadInput, match=r"graph|agents"):
        Experiment(graph=graph, agents=agents)


def test_a_tiny_probability_makes_an_empty_graph():
    assert lists("erdos-renyi:1e-300", 8) == [[]] * 8


def test_room_is_made_for_more_edges_than_expected():
    """A graph that grows far beyond the room made for it at first is played to its end."""
    experiment = Experiment(
        graph="erdos-renyi:0.02", agents=60, byzantine=20, f=0, time_varying=True, memory=40, horizon=60, runs=1
    )
    played = Run(experiment, 0)
    played.advance(60)
    state = played.state
    assert state.inbox_capacity >= state.inbox_starts[60] > state.edge_capacity / 2
    assert state.lies <= state.lie_capacity


@pytest.mark.parametrize("name", GRAPHS.entries)
def test_degrees_are_what_is_drawn_on_average(name):
    graph = resolve_graph(
        {"erdos-renyi": "erdos-renyi:0.3", "two-case": "two-case:3-6", "edges": "edges:10:1-2,3>1"}.get(name, name)
    )
    drawn = np.mean([[len(heard) for heard in lists(graph, 10, 2, seed)] for seed in range(400)], axis=0)
    assert drawn == pytest.approx(graph.degrees(10, 2), abs=0.4)


def test_edges_are_read_as_they_are_written_and_written_as_they_are_read():
    graph = resolve_graph("edges:5:1-2,3>1,5-4,2-1")
    assert graph.listed == ((1, 2), (0,), (), (4,), (3,))
    assert GRAPHS.name_of(graph) == "edges:5:1-2,3>1,4-5"
    assert Experiment(graph="edges:5:1-2").parts.agents == 5  # those without an edge count too
    assert resolve_graph("edges:5").listed == ((),) * 5


@pytest.mark.parametrize("text", ["", "4:1-5", "4:0-1", "4:2-2", "4:1-2,", "4:1~2", "x:1-2", "9999999:1-2"])
def test_edges_that_are_none_are_refused(text):
    with pytest.raises(BadInput, match="graph parameters"):
        resolve_graph(f"edges:{text}")
