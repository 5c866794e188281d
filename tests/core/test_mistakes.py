"""A mistake in a plug-in is told in one sentence: the file, the line, and the compiler's reason."""

import pytest
from command import byzmab

from byzmab import BadInput, Experiment, simulate

ATTACK = """\
import numpy as np
from byzmab import Attack, compiled

class Thing:
    pass

thing = Thing()

@compiled
def helper(mean):
    return mean.nothing

@compiled
def lie(world, sender, receiver, params, scratch, rng, report):
    for arm in range(report.pulls.size):
        report.pulls[arm] = 3.0
        report.means[arm] = {mistake}

class Mine(Attack):
    lie = staticmethod(lie)
"""
POLICY = """\
from byzmab import Policy, compiled

@compiled
def choose({arguments}):
    return {returned}

class Mine(Policy):
    choose = staticmethod(choose)
"""
FILTER = """\
from byzmab import Filter, compiled

@compiled
def believe(heard):
    return {returned}

class Mine(Filter):
    believe = staticmethod(believe)
"""
ARGUMENTS = "belief, time, params, rng"
MISTAKES = {
    "an unknown name": ("attack", ATTACK.format(mistake="foo(arm)"), 17, "name 'foo' is not defined"),
    "an unknown function of numpy": ("attack", ATTACK.format(mistake="np.foo(1)"), 17, "no attribute 'foo'"),
    "a Python object": ("attack", ATTACK.format(mistake="thing"), 17, "'thing'"),
    "a text for a number": ("attack", ATTACK.format(mistake="'a' + 1"), 17, "add"),
    "a field that is not there": ("attack", ATTACK.format(mistake="world.truths[0]"), 17, "World has no 'truths'; did you mean 'true_means'? known: "),
    "a mistake in another function": ("attack", ATTACK.format(mistake="helper(0.5)"), 11, "'nothing'"),
    "too few arguments": ("policy", POLICY.format(arguments="belief, time, rng", returned=0), 3, "choose(belief, time, params, rng)"),
    "no arm": ("policy", POLICY.format(arguments=ARGUMENTS, returned="0.5"), 3, "choose returns float64; allowed: an arm"),
    "nothing returned": ("policy", POLICY.format(arguments=ARGUMENTS, returned=None), 3, "choose returns none"),
    "two numbers for three": ("filter", FILTER.format(returned="heard.own_mean, heard.own_pulls"), 3, "three numbers"),
    "an unknown field": ("filter", FILTER.format(returned="heard.mean, 1.0, 0.0"), 5, "Heard has no 'mean'; did you mean 'means'? known: "),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_file_line_and_reason(mistake, tmp_path, monkeypatch):
    kind, source, line, reason = MISTAKES[mistake]
    (tmp_path / "mine.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as caught:
        simulate(Experiment(**{kind: "mine.py:Mine"}, horizon=5, runs=1))
    told = str(caught.value)
    assert f"{kind} file mine.py, line {line}:" in told
    assert reason in told
    assert "nopython" not in told


def test_a_command_says_no_more_than_that(tmp_path):
    kind, source, line, reason = MISTAKES["a mistake in another function"]
    (tmp_path / "mine.py").write_text(source)
    done = byzmab("simulate", f"--{kind}", "mine.py:Mine", "--horizon", 5, "--runs", 1, cwd=tmp_path, code=2)
    told = " ".join(done.stderr.replace("│", " ").split())
    assert f"{kind} file mine.py, line {line}:" in told
    assert reason in told
    assert "nopython" not in told
