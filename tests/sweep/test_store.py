"""The store: what determines a block is its address, and nothing broken is ever taken for a result."""

import json

import numpy as np
import pytest

from byzmab import BadInput, Experiment, ResultStore, simulate
from byzmab.sweep.identity import PLAYING, address, identity
from byzmab.sweep.store import blocks_in

SMALL = Experiment(agents=5, byzantine=1, horizon=60, runs=4)


def same(first, second):
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("rounds", "regret_values", "pull_values", "message_counts", "means")
    )


def test_what_is_read_is_what_was_played(tmp_path):
    store = ResultStore(tmp_path)
    played, read = store.get(SMALL), ResultStore(tmp_path).get(SMALL)
    assert same(played, simulate(SMALL))
    assert same(read, played)


def test_a_block_has_the_same_name_and_bytes_whoever_played_it(tmp_path):
    stores = [ResultStore(tmp_path / name) for name in ("here", "there")]
    for store in stores:
        store.get(SMALL)
    (here,), (there,) = (blocks_in(store.folder(SMALL)) for store in stores)
    assert here.path.name == there.path.name
    assert here.path.read_bytes() == there.path.read_bytes()


def test_more_runs_only_add(tmp_path):
    ResultStore(tmp_path).get(SMALL)
    before = blocks_in(ResultStore(tmp_path).folder(SMALL))
    store = ResultStore(tmp_path)
    more = store.get(SMALL.but(runs=10))
    assert (store.computed, store.reused) == (6, 4)
    assert [(block.first, block.end) for block in blocks_in(store.folder(SMALL))] == [(0, 4), (4, 10)]
    assert before[0] in blocks_in(store.folder(SMALL))
    assert same(more, simulate(SMALL.but(runs=10)))


def test_fewer_runs_are_cut_from_what_is_there(tmp_path):
    ResultStore(tmp_path).get(SMALL)
    store = ResultStore(tmp_path)
    assert same(store.get(SMALL.but(runs=3)), simulate(SMALL.but(runs=3)))
    assert store.computed == 0


@pytest.mark.parametrize("harm", ["a changed byte", "cut off", "emptied"])
def test_a_broken_block_is_found_and_computed_again(tmp_path, harm):
    store = ResultStore(tmp_path)
    store.get(SMALL)
    (block,) = blocks_in(store.folder(SMALL))
    data = bytearray(block.path.read_bytes())
    data[len(data) // 2] ^= 1
    block.path.write_bytes({"a changed byte": data, "cut off": data[:100], "emptied": b""}[harm])
    again = ResultStore(tmp_path)
    assert same(again.get(SMALL), simulate(SMALL))
    assert (again.computed, again.reused) == (4, 0)


def test_two_machines_merge_by_copying(tmp_path):
    import shutil

    one, other = ResultStore(tmp_path / "one"), ResultStore(tmp_path / "other")
    one.get(SMALL)
    other.write(SMALL, simulate(SMALL.but(runs=7), first=3))  # runs 3 to 9, of which the first also knows one
    other.get(SMALL.but(kappa=1.2))
    shutil.copytree(tmp_path / "other", tmp_path / "one", dirs_exist_ok=True)
    merged = ResultStore(tmp_path / "one")
    assert same(merged.get(SMALL.but(runs=10)), simulate(SMALL.but(runs=10)))
    assert same(merged.get(SMALL.but(kappa=1.2)), simulate(SMALL.but(kappa=1.2)))
    assert merged.computed == 0


def test_half_written_files_of_a_killed_process_are_no_results(tmp_path):
    store = ResultStore(tmp_path)
    store.get(SMALL)
    (block,) = blocks_in(store.folder(SMALL))
    (block.path.parent / f".123-{block.path.name}").write_bytes(b"half")
    assert blocks_in(store.folder(SMALL)) == [block]


def test_provenance_stands_beside_every_block(tmp_path):
    store = ResultStore(tmp_path)
    store.get(SMALL)
    (block,) = blocks_in(store.folder(SMALL))
    origin = json.loads(block.path.with_suffix(".json").read_text())
    assert set(origin) >= {"time", "host", "python", "packages", "algorithm", "revision", "seconds"}
    point = json.loads((block.path.parent / "point.json").read_text())
    assert point["settings"]["horizon"] == 60
    assert point["identity"] == identity(SMALL)


def test_every_setting_but_the_number_of_runs_is_in_the_address():
    changes = {
        "arms": (0.6, 0.2), "agents": 6, "byzantine": 2, "f": 0, "kappa": 1.2, "graph": "ring:2", "time_varying": True,
        "attack": "none", "filter": "pooled", "memory": 3, "policy": "tuned", "rewards": "uniform:0.1", "subset": 2,
        "spread": 0.1, "drift": "steps:9", "tally": "window:9",
        "epoch": 2, "delay": 1, "tell": "growth:0.5", "audit": True, "reliable_links": True, "algorithm": "coop-ucb2", "horizon": 61, "seed": 1, "record": 20,
    }  # fmt: skip
    at_contexts = {"context": 4, "contexts": "leaning", "ridge": 2.0, "shares": "projection", "vetting": False}
    assert {*changes, *at_contexts, "runs"} == set(SMALL.settings())
    contextual = SMALL.but(context=3, arms="random:3")
    played = [SMALL, *(SMALL.but(**{name: value}) for name, value in changes.items())]
    played += [contextual, *(contextual.but(**{name: value}) for name, value in at_contexts.items())]
    assert len(set(map(address, played))) == len(played)
    assert address(SMALL.but(runs=99)) == address(SMALL)


def test_the_version_covers_all_code_that_plays_and_nothing_that_only_shows():
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph("byzmab")
    plays = {"byzmab.simulation.single_run"}
    needed = plays.union(*map(graph.find_upstream_modules, plays))
    places = {name.removeprefix("byzmab.").replace(".", "/") for name in needed}
    places -= {"byzmab", "simulation", "experiment", "html", "extras"}  # the last two compute nothing
    in_part = {place for place in places if place.startswith(("simulation/", "experiment/"))}
    assert places - in_part <= {
        place for place in places if place.startswith(tuple(name for name in PLAYING if "/" not in name))
    }
    assert {f"{place}.py" for place in in_part} == {name for name in PLAYING if "/" in name}


def test_spelling_does_not_change_the_address():
    assert address(SMALL.but(attack="constant:0.4,0.5,0.4,0.3")) == address(SMALL.but(attack="constant"))
    assert address(SMALL.but(f=1)) == address(SMALL)


def test_an_edited_plugin_has_another_address_and_a_moved_one_has_not(tmp_path):
    source = "from byzmab.attacks.extreme import Extreme\nclass Mine(Extreme):\n    pass\n"
    places = [tmp_path / "a.py", tmp_path / "b.py", tmp_path / "c.py"]
    for place, text in zip(places, (source, source, source + "# edited\n"), strict=True):
        place.write_text(text)
    first, moved, edited = (address(SMALL.but(attack=f"{place}:Mine")) for place in places)
    assert first == moved != edited


def test_a_graph_file_counts_by_its_edges(tmp_path):
    import networkx

    paths = [tmp_path / name for name in ("one.json", "same.json", "other.json")]
    for path, graph in zip(
        paths, (networkx.cycle_graph(5), networkx.cycle_graph(5), networkx.complete_graph(5)), strict=True
    ):
        named = networkx.relabel_nodes(graph, {node: node + 1 for node in graph})
        path.write_text(json.dumps(networkx.node_link_data(named, edges="edges")))
    one, same_edges, other = (address(SMALL.but(graph=str(path))) for path in paths)
    assert one == same_edges != other


def test_a_store_that_lacks_runs_says_so(tmp_path):
    with pytest.raises(BadInput, match="does not hold all 4 runs"):
        ResultStore(tmp_path).read(SMALL)
