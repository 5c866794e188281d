"""Opening sweeps: every point is there, told apart by name, and no source of a plug-in is needed."""

import hashlib
import json
import sys

import networkx
import numpy as np
import pytest

from byzmab import BadInput, Experiment, ResultStore, Sweep, open_sweep, run_sweep, simulate
from byzmab.attacks.extreme import Extreme

SMALL = Experiment(agents=5, byzantine=1, horizon=60, runs=3, record=5)
PLUGIN = "from byzmab.attacks.extreme import Extreme\nclass Mine(Extreme):\n    pass\n"


def numbered(graph):
    return networkx.relabel_nodes(graph, {node: node + 1 for node in graph})


RING, WHOLE = numbered(networkx.cycle_graph(5)), numbered(networkx.complete_graph(5))


@pytest.mark.filterwarnings("ignore::byzmab.experiment.assumptions.TooFewNeighbours")
@pytest.mark.parametrize("by_sweep", [False, True])
def test_two_networkx_graphs_are_two_rows_with_different_names(tmp_path, by_sweep):
    points = (SMALL.but(graph=RING), SMALL.but(graph=WHOLE))
    run_sweep(points, ResultStore(tmp_path))
    data = open_sweep(tmp_path, Sweep(points, ("graph",), {}) if by_sweep else None)
    assert data.varied == ["graph"]
    assert repr(data).startswith(f"<SweepData: 2 points over graph, {2 * SMALL.runs} runs;")
    assert len(set(data.table["graph"])) == 2
    assert all(name.startswith("networkx #") for name in data.table["graph"])
    assert data.regret.sizes["graph"] == 2
    expected = [simulate(point).network_regret[:, -1].mean() for point in points]
    assert sorted(data.table["mean"]) == pytest.approx(sorted(expected))


def test_instances_of_one_name_are_rows_of_their_own(tmp_path):
    kinds = [type("Mine", (Extreme,), {"depth": depth, "__module__": __name__}) for depth in (1, 2)]
    run_sweep([SMALL.but(attack=kind()) for kind in kinds], ResultStore(tmp_path))
    assert len(set(open_sweep(tmp_path).table["attack"])) == 2


def test_what_differs_in_nothing_else_keeps_its_name(tmp_path):
    run_sweep([SMALL.but(graph=WHOLE), SMALL.but(graph=WHOLE, kappa=1.2)], ResultStore(tmp_path))
    data = open_sweep(tmp_path)
    assert data.varied == ["kappa"]
    assert {point.settings["graph"] for point in data.points} == {"networkx"}


def test_a_sweep_opens_without_the_source_of_its_plugins(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(PLUGIN)
    (tmp_path / "sweep.toml").write_text(
        '[experiment]\nagents = 5\nbyzantine = 1\nhorizon = 60\nruns = 3\nrecord = 5\n'
        '[grid]\nattack = ["mine.py:Mine", "none"]\n'
    )  # fmt: skip
    run_sweep(Sweep.read(tmp_path / "sweep.toml").points, ResultStore(tmp_path / "out"))
    before = open_sweep(tmp_path / "out", tmp_path / "sweep.toml").frame
    (tmp_path / "mine.py").unlink()
    for name in [name for name in sys.modules if name.startswith("byzmab_plugin_")]:
        monkeypatch.delitem(sys.modules, name)
    assert set(open_sweep(tmp_path / "out").table["attack"]) == {"mine.py:Mine", "none"}
    after = open_sweep(tmp_path / "out", tmp_path / "sweep.toml").frame
    assert np.array_equal(after["regret"], before["regret"])
    with pytest.raises(BadInput, match=r"there is no file"):
        Sweep.read(tmp_path / "sweep.toml")
    absent = Sweep.read(tmp_path / "sweep.toml", must_play=False).points
    with pytest.raises(BadInput, match="its source is needed to play this again"):
        run_sweep(absent, ResultStore(tmp_path / "new"))


def test_what_was_stored_before_there_was_a_choice_of_telling_opens_as_it_was_played(tmp_path):
    alone = SMALL.but(runs=1)  # one run is one block, however slow the machine is
    run_sweep([alone], ResultStore(tmp_path))
    (block,) = tmp_path.rglob("*.npz")
    with np.load(block) as data:
        arrays = {name: data[name] for name in data.files if name != "arms_told"}
    block.unlink()
    np.savez(tmp_path / "old.npz", **arrays)
    content = (tmp_path / "old.npz").read_bytes()
    *runs, _ = block.stem.split("-")
    block.with_name("-".join([*runs, hashlib.sha256(content).hexdigest()[:32]]) + ".npz").write_bytes(content)
    point = block.with_name("point.json")
    known = json.loads(point.read_text())
    del known["settings"]["tell"]
    point.write_text(json.dumps(known))
    (found,) = open_sweep(tmp_path).summary()
    assert found["settings"]["tell"] == "every"
    assert found["regret"]["mean"] == simulate(alone).summary()["regret"]["mean"]
