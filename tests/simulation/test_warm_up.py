"""Everything that is built in can be compiled beforehand, and then nothing is compiled where it is played."""

import subprocess
import sys

import pytest
from command import byzmab

from byzmab.attacks import ATTACKS
from byzmab.baselines import BASELINES
from byzmab.simulation import warm_up
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.parts import PLUGINS

NAMES = {
    **{kind: known.entries for kind, known in PLUGINS.items()},
    "attack": ATTACKS.entries,
    "algorithm": BASELINES.entries,
}


@pytest.mark.parametrize("kind", NAMES)
def test_every_built_in_part_is_among_the_combinations(kind):
    texts = [settings[kind] for settings in warm_up.combinations() if kind in settings]
    assert {text.partition(":")[0] for text in texts} >= set(NAMES[kind])


def test_every_combination_is_an_experiment_that_can_be_played():
    for settings in warm_up.combinations():
        if settings != warm_up.AGENT:
            assert Experiment(**{**warm_up.SMALL, **settings}).parts


def test_what_was_warmed_up_is_not_compiled_again(monkeypatch):
    monkeypatch.setattr(warm_up, "combinations", lambda: [warm_up.FIRST, warm_up.AGENT, {"policy": "tuned"}])
    seen = []
    assert warm_up.warm_up(1, progress=lambda done, total: seen.append((done, total))) == 3
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert "compiling" not in byzmab("simulate", "--policy", "tuned", "--runs", 2, "--horizon", 50).stderr


def test_a_simulation_imports_no_loop_that_it_does_not_play():
    """They would be compiled by the import: a fifth of the first simulation."""
    code = (
        "import sys, byzmab; byzmab.simulate(byzmab.Experiment(runs=1, horizon=5), workers=1);"
        "print([name for name in ('byzmab.contexts.round', 'byzmab.engine.baseline_round') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
