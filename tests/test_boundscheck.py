"""With NUMBA_BOUNDSCHECK=1 every index is checked: `make boundscheck` runs the contracts and part of the parity tests so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from byzmab import BadInput, Experiment, Graph, compiled, simulate
from byzmab.cli.main import main

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
