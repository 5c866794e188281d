"""With NUMBA_BOUNDSCHECK=1 every index is checked: `make boundscheck` runs the contracts and part of the parity tests so."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from byzmab import BadInput, Experiment, Graph, compiled, simulate
from byzmab.cli.main import main
from byzmab.engine.state import State
from byzmab.engine.typed import Array
from byzmab.simulation.single_run import Run

TESTS = Path(__file__).parent
FILES = ("test_boundscheck.py", "test_contracts.py", "parity/test_naive.py")
CHECKED = "outside_its_arrays or keeps_its_contract or every_graph"
IS_CHECKED = "NUMBA_BOUNDSCHECK" in os.environ
# Nothing is optimized: numba keeps no machine code that checks indices, and nearly all of the time goes into compiling.
SETTINGS = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0"}
SAMPLE = [] if os.environ.get("BYZMAB_PAIRS") == "all" else ["--sample"]  # all of them: `make boundscheck`


@pytest.mark.skipif(IS_CHECKED, reason="this is that process")
@pytest.mark.timeout(1800)  # on a busy machine; conftest lets it begin first
def test_nothing_of_ours_reaches_outside_its_arrays_with_every_index_checked():
    """In one process, which compiles all of it, beside the other tests."""
    command = [sys.executable, "-m", "pytest", "--quick", *SAMPLE, "-k", CHECKED]
    command += [str(TESTS / file) for file in FILES]
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, env={**around, **SETTINGS}, cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout and "failed" not in done.stdout


@compiled
def neighbours(receiver, agents, byzantine, params, rng, out):
    out[out.size] = 0
    return 0


class Careless(Graph):
    """Writes behind the end of its array."""

    neighbours = staticmethod(neighbours)


@pytest.mark.skipif(not IS_CHECKED, reason="indices are not checked")
def test_a_plugin_that_writes_outside_its_arrays_is_caught():
    with pytest.raises((BadInput, IndexError), match="out of bounds"):
        simulate(Experiment(graph=Careless(), filter="mean", agents=5, byzantine=1, horizon=3, runs=1))


ATTACK = """\
from byzmab import Attack, compiled

@compiled
def lie(world, sender, receiver, params, scratch, rng, report):
    report.pulls[report.pulls.size + 2] = 3.0

class Outside(Attack):
    lie = staticmethod(lie)
"""


@pytest.mark.skipif(not IS_CHECKED, reason="indices are not checked")
def test_a_command_says_of_a_plugin_that_it_writes_outside_its_arrays(tmp_path, monkeypatch, capsys):
    """In one sentence, as of any other mistake."""
    (tmp_path / "outside.py").write_text(ATTACK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["byzmab", "simulate", "--horizon", "20", "--runs", "1", "--attack", "outside.py:Outside"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2, said
    assert "IndexError" in said and "Traceback" not in said


SMALL = {"agents": 6, "byzantine": 1, "f": 1, "arms": (0.5, 0.4, 0.3), "horizon": 12, "runs": 1}
SETUPS = (  # and whether the path for dense graphs is taken
    ({"filter": "guarded", "attack": "extreme:careful=1"}, False),
    ({"filter": "guarded", "attack": "extreme", "agents": 9}, True),
    ({"filter": "trimmed", "tell": "growth:0.1", "agents": 9}, True),
    ({"filter": "trimmed", "tell": "growth:0.1"}, False),
    (
        {
            "filter": "trimmed",
            "graph": "erdos-renyi:0.7",
            "time_varying": True,
            "memory": 3,
            "delay": 1,
            "subset": 3,
            "tally": "window:5",
        },
        False,
    ),
    ({"filter": "guarded", "context": 2, "arms": "random:3", "attack": "flip"}, False),
)
# What no access of these set-ups reaches: parameters, tables of drifts and data of files, what only algorithms or cached
# reports with contexts have, and arrays with room to spare.
ELSEWHERE = {
    *("receiver_queue", "free_rows", "extreme_senders", "due_times", "constant"),
    *("schedule_rounds", "schedule", "schedule_common", "offsets", "shifts", "drift_params", "reward_params"),
    *("attack_params", "algorithm_params", "pool_contexts", "pool_means", "statistics", "versions", "leans"),
}


def made(experiment, dense):
    return Run(experiment, 0, dense=dense)


def raises_shortened(experiment, dense, field, axis, left):
    """Return whether a run with a shortened array raises; None where the array has no memory of its own."""
    run = made(experiment, dense)
    values = run.state.arrays[field.name]
    if values.size == 0 or values.base is not None:
        return None
    run.state.hold(field, np.ascontiguousarray(np.delete(values, slice(left(values.shape[axis]), None), axis)))
    try:
        run.advance(experiment.horizon)
    except BadInput as error:
        return "IndexError" in str(error)
    return False


@pytest.mark.skipif(not IS_CHECKED, reason="indices are not checked")
@pytest.mark.skipif(os.environ.get("BYZMAB_PAIRS") != "all", reason="takes a minute: see make boundscheck")
def test_whatever_array_is_shorter_than_declared_an_access_outside_its_arrays_raises():
    """By one on each axis; where there is room to spare, as in lists of edges, with nothing left on it."""
    found, emptied = {}, {}
    for settings, dense in SETUPS:
        experiment = Experiment(**{**SMALL, **settings})
        for field in (field for field in State.fields.values() if isinstance(field, Array)):
            for axis in range(len(field.shape)):
                key = field.name, axis
                if not found.get(key):
                    found[key] = raises_shortened(experiment, dense, field, axis, lambda size: size - 1)
                if not found[key] and not emptied.get(key):
                    emptied[key] = raises_shortened(experiment, dense, field, axis, lambda size: 0)
    missed = {name for name, axis in found if not found[name, axis] and not emptied.get((name, axis))}
    assert missed <= ELSEWHERE
    assert sum(map(bool, found.values())) > 150
