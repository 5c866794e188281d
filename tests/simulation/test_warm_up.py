"""What is built in can be compiled beforehand, and then nothing is compiled where it is played."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from command import BYZMAB, copy_machine_code
from waiting import LONG

from byzmab.attacks import ATTACKS, CONTEXT_ATTACKS
from byzmab.baselines import BASELINES
from byzmab.baselines.contexts import CONTEXT_BASELINES
from byzmab.contexts.believe import MOST_KNOWN
from byzmab.core.compiler import watching_compilation
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.recommended import AT_CONTEXTS
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import PLUGINS
from byzmab.simulation import warm_up
from byzmab.simulation.loops import rounds_of

NAMES = {
    **{kind: known.entries for kind, known in PLUGINS.items()},
    "attack": ATTACKS.entries,
    "algorithm": BASELINES.entries,
}
NAMES_AT_CONTEXTS = {
    "attack": CONTEXT_ATTACKS.entries,
    "filter": FILTERS.entries,
    "algorithm": CONTEXT_BASELINES.entries,
    "rewards": ["bernoulli", "beta", "poisoned", "uniform"],
}


def names_in(combinations, kind):
    return {settings[kind].partition(":")[0] for settings in combinations if kind in settings}


@pytest.mark.parametrize("kind", NAMES)
def test_every_built_in_part_is_among_the_combinations(kind):
    assert names_in(warm_up.combinations(), kind) >= set(NAMES[kind])


@pytest.mark.parametrize("kind", NAMES_AT_CONTEXTS)
def test_so_is_every_part_that_goes_with_contexts(kind):
    assert names_in(warm_up.context_combinations(), kind) == set(NAMES_AT_CONTEXTS[kind])


def test_a_network_at_contexts_is_among_them():
    wanted = {name: AT_CONTEXTS[name] for name in ("attack", "filter", "policy")}
    assert any(wanted.items() <= settings.items() for settings in warm_up.context_combinations())


def test_every_combination_is_an_experiment_that_can_be_played():
    for settings in warm_up.combinations() + warm_up.context_combinations():
        assert Experiment(**{**warm_up.SMALL, **settings}).parts


def test_every_combination_and_live_agents_are_tasks():
    tasks = [(task.func, *task.args) for stage in warm_up.stages() for task in stage]
    played = warm_up.combinations() + warm_up.context_combinations()
    assert len(tasks) == len(played) + 2
    for task in [
        (warm_up.compile_agent,),
        (warm_up.compile_agent, 2),
        *((warm_up.compile_for, item) for item in played),
    ]:
        assert task in tasks


def test_an_agent_at_contexts_of_another_size_needs_no_other_machine_code():
    names = []
    warm_up.compile_agent(2)
    with watching_compilation(names.append):
        warm_up.compile_agent(3)
    assert names == []


def test_what_is_recommended_at_contexts_is_warmed_up_for_every_dimension():
    sizes = [warm_up.AT_CONTEXTS | {"context": d} for d in range(1, MOST_KNOWN + 2)]
    assert all(settings in warm_up.context_combinations() for settings in sizes)
    names = []
    warm_up.compile_for(sizes[-1])
    with watching_compilation(names.append):
        warm_up.compile_for(warm_up.AT_CONTEXTS | {"context": MOST_KNOWN + 5})
    assert names == []


def test_what_was_warmed_up_is_not_compiled_again(monkeypatch, tmp_path):
    """With machine code of its own: that of other tests, without what believes and chooses."""
    compile_for = partial(warm_up.compile_for, warm_up.FIRST)
    compile_for()
    copy_machine_code(tmp_path, "*believe_all*", "*choose_all*")
    monkeypatch.setenv("BYZMAB_CACHE_DIR", str(tmp_path))
    tasks = [[compile_for], [partial(warm_up.compile_for, {"filter": "solo"})]]
    monkeypatch.setattr(warm_up, "stages", lambda: tasks)
    seen = []
    assert warm_up.warm_up(1, progress=lambda done, total: seen.append((done, total))) == 2
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert list(tmp_path.rglob("*believe_all*.nbc"))
    played = subprocess.run([*BYZMAB, "simulate", "--runs", "2", "--horizon", "50"], capture_output=True, text=True)
    assert played.returncode == 0
    assert "compiling" not in played.stderr


WARM_UP = """
import contextlib, sys
from byzmab.cli import main
from byzmab.simulation import warm_up

warm_up.wanted_bar = lambda progress, what: contextlib.nullcontext(lambda done, total: print(done, flush=True))
sys.argv = ["byzmab", "warm-up", "--workers", "2"]
main.main()
"""


def test_ctrl_c_ends_all_workers_and_shows_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-c", WARM_UP],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    for done in ("0", "1", "2"):  # so both workers have begun
        assert process.stdout.readline().strip() == done
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=LONG)  # until no worker has stderr any more
    assert process.returncode == 130
    assert errors == "stopped\n"


def test_a_process_that_is_ended_from_outside_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(warm_up, "stages", lambda: [[partial(os._exit, 1)]])
    with pytest.raises(BadInput, match="workers 1: a process was ended from outside"):
        warm_up.warm_up(1)


def test_a_simulation_imports_no_loop_that_it_does_not_play():
    """They would be compiled by the import: a fifth of the first simulation."""
    code = (
        "import sys, byzmab; byzmab.simulate(byzmab.Experiment(runs=1, horizon=5), workers=1);"
        "print([name for name in ('byzmab.contexts.round', 'byzmab.engine.baseline_round') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("settings", "dense", "loop"),
    [
        ({}, False, "tell_tallies"),
        ({}, True, "tell_and_order"),
        ({"tell": "growth:0.1"}, False, "tell_all"),
        ({}, False, "pull_all"),
        ({"tally": "forget:0.99"}, False, "pull_and_forget"),
    ],
)
def test_what_few_experiments_need_is_in_loops_that_only_they_compile(settings, dense, loop):
    names = [played.py_func.__name__ for played in rounds_of(Experiment(**settings), dense).loops]
    assert sum(name.startswith(loop) for name in names) == 1
