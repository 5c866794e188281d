"""A saved result opens anywhere; only playing it again needs the source of its plug-ins."""

import sys

import numpy as np
import pytest

from byzmab import BadInput, Experiment, Result, simulate
from byzmab.experiment.files import read_experiment
from byzmab.results.directory import write_result

PLUGIN = "from byzmab.attacks.extreme import Extreme\nfrom helper import NOTHING\nclass Mine(Extreme):\n    pass\n"


@pytest.fixture
def result(tmp_path, monkeypatch):
    """A result with an attack from a folder of its own."""
    (tmp_path / "plug").mkdir()
    (tmp_path / "plug" / "mine.py").write_text(PLUGIN)
    (tmp_path / "plug" / "helper.py").write_text("NOTHING = 0\n")
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    attack = f"{tmp_path / 'plug' / 'mine.py'}:Mine"
    return simulate(Experiment(attack=attack, agents=5, byzantine=1, horizon=60, runs=2, record=5))


def forget(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("byzmab_plugin_") or name == "helper"]:
        monkeypatch.delitem(sys.modules, name)


def test_without_the_source_all_data_and_settings_are_there(result, tmp_path, monkeypatch):
    result.save(tmp_path / "result.nc")
    (tmp_path / "plug" / "mine.py").unlink()
    forget(monkeypatch)
    loaded = Result.load(tmp_path / "result.nc")
    assert loaded.regret.equals(result.regret)
    assert loaded.pulls.equals(result.pulls)
    assert loaded.experiment.settings() == {**result.experiment.settings(), "attack": "mine.py:Mine"}
    assert loaded.summary()["regret"] == result.summary()["regret"]
    loaded.save(tmp_path / "again.nc")
    assert Result.load(tmp_path / "again.nc").regret.equals(result.regret)
    with pytest.raises(BadInput, match=r"there is no file 'mine\.py'; its source is needed to play this again"):
        simulate(loaded.experiment)


def test_a_graph_whose_source_is_not_here_is_only_needed_to_play(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("from byzmab.graphs.regular import Ring\nclass Mine(Ring):\n    pass\n")
    result = simulate(Experiment(graph=f"{tmp_path / 'mine.py'}:Mine", byzantine=0, horizon=20, runs=2, record=5))
    result.save(tmp_path / "result.nc")
    (tmp_path / "mine.py").unlink()
    forget(monkeypatch)
    loaded = Result.load(tmp_path / "result.nc")
    assert loaded.messages.equals(result.messages)
    with pytest.raises(BadInput, match="its source is needed to play this again"):
        simulate(loaded.experiment)


def test_no_absolute_path_is_written_and_the_directory_reproduces_the_result_anywhere(result, tmp_path, monkeypatch):
    write_result(result, tmp_path)
    for name in ("experiment.toml", "result.nc"):
        assert str(tmp_path).encode() not in (tmp_path / name).read_bytes()
    (tmp_path / "plug" / "mine.py").unlink()
    (tmp_path / "plug" / "helper.py").unlink()
    forget(monkeypatch)
    monkeypatch.chdir("/")
    again = simulate(read_experiment(tmp_path / "experiment.toml"))
    assert np.array_equal(again.regret_values, result.regret_values)
    loaded = Result.load(tmp_path / "result.nc")
    assert np.array_equal(simulate(loaded.experiment).regret_values, result.regret_values)


def test_a_file_of_the_same_name_in_the_directory_is_left_alone(result, tmp_path):
    (tmp_path / "mine.py").write_text("mine = 'something else'\n")
    write_result(result, tmp_path)
    assert (tmp_path / "mine.py").read_text() == "mine = 'something else'\n"
    assert 'attack = "plugin-1/mine.py:Mine"' in (tmp_path / "experiment.toml").read_text()
    again = simulate(read_experiment(tmp_path / "experiment.toml"))
    assert np.array_equal(again.regret_values, result.regret_values)
