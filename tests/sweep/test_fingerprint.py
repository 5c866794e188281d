"""The address of a result covers what a plug-in really is, and where that cannot be known nothing is stored."""

import sys
import threading
import warnings

import numpy as np
import pytest

from byzmab import Experiment, ResultStore, open_sweep, run_sweep, simulate
from byzmab.attacks.extreme import Extreme
from byzmab.core import sources
from byzmab.sweep import identity
from byzmab.sweep.identity import NotStored, address

SMALL = Experiment(agents=5, byzantine=1, horizon=60, runs=4, record=5)
FACTORY = """
import os
from byzmab import Policy, compiled
SCALE = float(os.environ.get("SCALE", "1"))

def epsilon_greedy(epsilon, depth=2):
    @compiled
    def choose(belief, time, rng):
        return 0 if epsilon * SCALE < 0.5 else depth

    class EpsilonGreedy(Policy):
        pass

    EpsilonGreedy.choose = staticmethod(choose)
    return EpsilonGreedy

Careful, Wild = epsilon_greedy(0.01), epsilon_greedy(0.9)
"""
USER = """
from byzmab.attacks.extreme import Extreme
from helper import PLACE
class Mine(Extreme):
    pass
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Makes folders of modules, each loaded as if in a process of its own."""

    def make(name, **files):
        place = tmp_path / name
        place.mkdir()
        for file, text in files.items():
            (place / f"{file}.py").write_text(text)
            monkeypatch.delitem(sys.modules, file, raising=False)
        monkeypatch.setattr(sys, "path", [str(place), *(entry for entry in sys.path if str(tmp_path) not in entry)])
        return place

    return make


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    monkeypatch.setattr(identity, "_SAID", set())


def test_two_classes_of_one_factory_have_two_addresses(folder):
    folder("here", factory=FACTORY)
    from factory import Careful, Wild, epsilon_greedy

    careful, wild = (address(SMALL.but(policy=policy)) for policy in (Careful, Wild))
    assert careful != wild
    assert careful.lasting and wild.lasting
    assert address(SMALL.but(policy=epsilon_greedy(0.01))) == careful
    assert address(SMALL.but(policy=epsilon_greedy(0.01, depth=3))) != careful


def test_a_global_that_a_function_reads_is_part_of_it(folder, monkeypatch):
    place = folder("here", factory=FACTORY)
    before = address(SMALL.but(policy=f"{place}/factory.py:Careful"))
    monkeypatch.setenv("SCALE", "2")
    other = folder("there", factory=FACTORY)
    assert address(SMALL.but(policy=f"{other}/factory.py:Careful")) != before
    monkeypatch.delenv("SCALE")
    again = folder("again", factory=FACTORY)
    assert address(SMALL.but(policy=f"{again}/factory.py:Careful")) == before


@pytest.mark.parametrize("edited", ["helper", "deeper"])
def test_what_a_plugin_imports_from_the_users_own_files_is_part_of_it(folder, edited):
    files = {"mine": USER, "helper": "from deeper import PLACE\n", "deeper": "PLACE = 1\n"}
    first, same, other = (
        address(SMALL.but(attack=f"{folder(name, **content)}/mine.py:Mine"))
        for name, content in (
            ("first", files),
            ("same", files),
            ("other", {**files, edited: files[edited] + "OTHER = 2\n"}),
        )
    )
    assert first == same != other


def test_an_installed_package_counts_by_its_version(folder, monkeypatch):
    place = folder("here", mine="import rich\n" + USER.replace("from helper import PLACE\n", ""))
    before = address(SMALL.but(attack=f"{place}/mine.py:Mine"))
    monkeypatch.setattr(sources, "version", lambda name: "99.0")
    assert address(SMALL.but(attack=f"{place}/mine.py:Mine")) != before


def test_an_attribute_of_a_class_is_part_of_it():
    deep, flat = (type("Mine", (Extreme,), {"depth": depth, "__module__": __name__}) for depth in (1, 2))
    assert address(SMALL.but(attack=deep)) != address(SMALL.but(attack=flat))


def made_without_a_file():
    space = {"Extreme": Extreme}
    exec("class Mine(Extreme):\n    def check(self): pass\n", space)
    return type("Mine", (Extreme,), {"check": space["Mine"].check, "__module__": __name__})


def holding_what_has_no_stable_form():
    return type("Mine", (Extreme,), {"lock": threading.Lock(), "__module__": __name__})


@pytest.mark.parametrize("make", [made_without_a_file, holding_what_has_no_stable_form])
def test_what_cannot_be_known_is_not_stored_and_that_is_said_once(tmp_path, make):
    experiment = SMALL.but(attack=make())
    with pytest.warns(NotStored, match=r"not stored: attack 'Mine' cannot be known again") as told:
        first = ResultStore(tmp_path).get(experiment)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = ResultStore(tmp_path)
        assert np.array_equal(again.get(experiment).regret_values, first.regret_values)
    assert again.reused == 0
    assert np.array_equal(first.regret_values, simulate(experiment).regret_values)
    assert not list(tmp_path.rglob("*.npz"))


def test_a_plugin_edited_since_it_was_loaded_is_not_stored(folder):
    place = folder("here", factory=FACTORY)
    from factory import Careful

    (place / "factory.py").write_text(FACTORY.replace("0.5", "0.6"))
    with pytest.warns(NotStored, match=r"not what its source file factory\.py says"):
        assert not address(SMALL.but(policy=Careful)).lasting


@pytest.mark.filterwarnings("ignore::byzmab.sweep.identity.NotStored")
def test_a_sweep_gives_what_it_does_not_store(tmp_path):
    points = [SMALL.but(attack=holding_what_has_no_stable_form(), kappa=kappa) for kappa in (1.1, 1.5)]
    store = ResultStore(tmp_path)
    run_sweep([*points, SMALL], store)
    assert len(open_sweep(store).points) == 3
    assert len(open_sweep(tmp_path).points) == 1
    for point in points:
        assert np.array_equal(store.read(point).regret_values, simulate(point).regret_values)
