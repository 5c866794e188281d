"""The cache of machine code: what it keeps, what it removes, and that it says when it compiles."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from command import byzmab, copy_machine_code

from byzmab.core import compiler
from byzmab.core.report import Floats
from byzmab.simulation import warm_up

SMALL = ["simulate", "--runs", "1", "--horizon", "10"]


def age(path, days):
    then = time.time() - days * 86400
    os.utime(path, (then, then))


def test_only_what_is_ours_and_long_unused_is_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("BYZMAB_CACHE_DIR", str(tmp_path))
    old, recent = compiler.open_cache("old"), compiler.open_cache("recent")
    age(old / compiler.MARKER, 30)
    for stranger in (tmp_path / "thesis", tmp_path / "machine-code" / "thesis"):
        stranger.mkdir()
        age(stranger, 30)
    mine = compiler.open_cache("mine")
    assert not old.exists()
    assert recent.exists() and mine.exists()
    assert (tmp_path / "thesis").exists() and (tmp_path / "machine-code" / "thesis").exists()


def test_nowhere_to_write_is_no_reason_to_fail(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BYZMAB_CACHE_DIR", str(tmp_path / "file"))
    assert compiler.open_cache("mine").is_dir()


OWN = """
from byzmab import Attack, compiled


@compiled
def lie(world, sender, receiver, params, scratch, rng, out):
    out.means[0] = 1.0


class Own(Attack):
    lie = staticmethod(lie)
"""


def test_a_run_says_that_it_compiles_and_one_whose_code_is_kept_does_not(tmp_path):
    """A plug-in of one's own is compiled once, and again when a number that it reads was edited."""
    mark = f"MARK = {time.time_ns()}.0\n"  # never compiled before
    (tmp_path / "own.py").write_text(mark + OWN.replace("1.0", "1.0 / MARK"))
    attacks = ["constant", "constant", "own.py:Own", "own.py:Own"]
    ended = [byzmab(*SMALL, "--attack", attack, cwd=tmp_path) for attack in attacks]
    assert ["compiling" in run.stderr for run in ended[1:]] == [False, True, False]
    (tmp_path / "own.py").write_text(mark.replace(".0", ".5") + OWN.replace("1.0", "1.0 / MARK"))
    assert "compiling" in byzmab(*SMALL, "--attack", "own.py:Own", cwd=tmp_path).stderr


def test_the_key_of_the_cache_covers_every_module_with_compiled_functions():
    """An edited page or command recompiles nothing; an edited compiled function recompiles everything."""
    decorators = ("@compiled", "specialize(")
    holders = [path for path in compiler.PACKAGE.rglob("*.py") if any(word in path.read_text() for word in decorators)]
    covered = tuple(str(compiler.PACKAGE / place) for place in compiler.COMPILED)
    assert len(holders) > 50
    assert [str(path) for path in holders if not str(path).startswith(covered)] == []


PLAIN = """
import numba
from byzmab import Experiment
from byzmab.core import compiler
from byzmab.simulation.single_run import Run
import naive

assert compiler.PLAIN and "_nrt" not in compiler.BORROWING
for filter, attack in (("trimmed", "constant"), ("guarded", "alie:careful=1")):
    experiment = Experiment(filter=filter, attack=attack, agents=7, byzantine=2, horizon=40, runs=1)
    played, choices = Run(experiment, 0), []
    for time in range(experiment.horizon):
        played.advance(time + 1)
        choices.append(played.state.choices.tolist())
    assert choices == naive.play(experiment, 0)[0], filter
"""


def test_with_public_njit_alone_the_choices_are_those_of_the_transcription():
    """BYZMAB_PLAIN_NUMBA=1 is the way out if a new numba breaks what core/inlining.py leans on."""
    around = {**os.environ, "BYZMAB_PLAIN_NUMBA": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PLAIN], env=around, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@compiler.compiled
def inner(x):
    return x


def doubled(x):
    return 2 * inner(x)


def tripled(x):
    return 3 * inner(x)


def loop(x):
    return inner(x)


SIZE = 0


def sized(x):
    return SIZE + inner(x)


def test_a_template_is_compiled_once_for_every_number_that_it_is_to_know():
    copies = [compiler.specialize(sized, inner=inner, numbers=(("SIZE", size),)) for size in (3, 4)]
    assert [copy(1) for copy in copies] == [4, 5]
    assert len({copy.py_func.__qualname__ for copy in copies}) == 2


@compiler.compiled_view
def tail(x):
    return x[1:]


@compiler.compiled_borrowing_noinline
def first_of_tail(x: Floats) -> float:
    return tail(x)[0]


class Pair(NamedTuple):
    size: int
    values: Floats


def returns_array(x: Floats) -> Floats:
    return x


def returns_pair(x: Floats) -> tuple[float, Pair]:
    return 0.0, Pair(x.size, x)


def returns_something(x):
    return x


@pytest.mark.parametrize("function", [returns_array, returns_pair, returns_something])
def test_whoever_borrows_arrays_and_returns_one_is_refused(function):
    """It counts no references, so the array would be freed while it is in use."""
    for decorate in (compiler.compiled_borrowing, compiler.compiled_borrowing_noinline):
        with pytest.raises(
            TypeError, match=f"{function.__name__} borrows arrays and returns .*; declare a return type"
        ):
            decorate(function)
    with pytest.raises(TypeError, match="borrows arrays"):
        compiler.specialize(function, borrows=True)


def test_whoever_borrows_arrays_leaves_their_references_as_they_were():
    """Otherwise an array would never be freed, or while it is in use."""
    numbers = np.arange(3.0)
    before = sys.getrefcount(numbers)
    for _ in range(100):
        assert first_of_tail(numbers) == 1.0
        assert tail(numbers)[0] == 1.0
    assert sys.getrefcount(numbers) == before


def makes_array(count: int) -> float:
    return np.empty(count)[0]


def test_whoever_borrows_makes_no_arrays():
    with pytest.raises(numba.core.errors.NumbaError):
        compiler.compiled_borrowing_noinline(makes_array)(3)


def test_machine_code_of_one_function_in_two_templates_is_kept_under_two_names():
    copies = [compiler.specialize(template, inner=inner) for template in (doubled, tripled)]
    loops = [compiler.specialize(loop, inner=copy) for copy in (inner, *copies)]
    assert len({copy.py_func.__qualname__ for copy in loops}) == 3
    assert [copy(1) for copy in loops] == [1, 2, 3]


def test_what_is_inlined_gets_machine_code_of_its_own_only_when_python_calls_it():
    @compiler.compiled
    def half(x):
        return x / 2

    @compiler.compiled
    def quarter(x):
        return half(half(x))

    assert quarter(8.0) == 2.0
    assert (len(quarter.overloads), len(half.overloads)) == (1, 0)
    assert half(8.0) == 4.0 and len(half.overloads) == 1


def test_no_name_is_too_long_for_a_file():
    copy = inner
    for _ in range(30):
        copy = compiler.specialize(loop, inner=copy)
    assert len(copy.py_func.__qualname__) < 200


def test_what_is_inlined_is_compiled_once_for_all_whole_numbers_in_calls():
    @compiler.compiled
    def times(x, factor):
        return x * factor

    @compiler.compiled
    def six_times(x):
        return times(times(x, 2), 3)

    names = []
    with compiler.watching_compilation(lambda name: names.append(name.rpartition(".")[2])):
        assert six_times(7) == 42
    assert sorted(names) == ["six_times", "times"]


COMPILED = """
from byzmab.core.compiler import watching_compilation
from byzmab.simulation import warm_up

names = []
with watching_compilation(names.append):
    warm_up.compile_for({"attack": "smart"})
print(*names)
"""


def test_a_loop_for_another_part_is_compiled_without_compiling_again_what_is_put_into_it(tmp_path, monkeypatch):
    """With machine code of its own: that of other tests, without this attack's loop."""
    warm_up.compile_for({"attack": "smart"})
    copy_machine_code(tmp_path, "*smart*")
    monkeypatch.setenv("BYZMAB_CACHE_DIR", str(tmp_path))
    names = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True).stdout.split()
    assert any(name.startswith("lie_all") for name in names)
    assert not {"world_of", "tell", "audit", "take"} & set(names)
