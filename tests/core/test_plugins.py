"""Parameters of plug-ins: read by position or by name, told in the shortest form, and heard by the compiled function."""

import numpy as np
import pytest

from byzmab import Agent, BadInput, Experiment
from byzmab.experiment.parts import PLUGINS
from byzmab.simulation.single_run import Run

EPS = """
from dataclasses import dataclass

from byzmab import Filter, Policy, compiled
from byzmab.core.draws import below, uniform
from byzmab.core.policies.base import argmax_at_random


@compiled
def choose(belief, time, params, rng):
    if uniform(rng) < params[0]:
        return below(rng, belief.estimates.size)
    return argmax_at_random(belief.estimates, rng)


@dataclass(frozen=True)
class Eps(Policy):
    eps: float = 0.1
    choose = staticmethod(choose)


@compiled
def believe(heard):
    if heard.means.size == 0:
        return heard.own_mean, heard.own_pulls, 0.0
    return heard.own_mean + heard.params[0] * (heard.means.mean() - heard.own_mean), heard.own_pulls, heard.params[1]


@dataclass(frozen=True)
class Lean(Filter):
    share: float = 0.5
    doubt: float = 0.0
    believe = staticmethod(believe)
"""


@pytest.fixture
def eps(tmp_path, monkeypatch):
    (tmp_path / "eps.py").write_text(EPS)
    monkeypatch.chdir(tmp_path)


def pulls_with(**settings):
    played = Run(Experiment(horizon=60, runs=1, **settings), 0)
    played.advance(60)
    return played.state.pulls


@pytest.mark.parametrize(
    ("kind", "few", "many"), [("policy", "Eps:0.1", "Eps:0.9"), ("filter", "Lean:0.1", "Lean:0.9")]
)
def test_a_users_own_parameter_reaches_its_compiled_function(kind, few, many, eps):
    first, again, other = (pulls_with(**{kind: f"eps.py:{text}"}) for text in (few, few, many))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_live_agent_hears_the_parameters_too(eps):
    def choices(policy):
        agent = Agent(4, policy=policy, filter="eps.py:Lean:share=0.2", seed=3)
        for _ in range(60):
            arm = agent.select()
            agent.reward(arm, arm / 4)
        return [agent.tally(arm).pulls for arm in range(4)], Agent.from_json(agent.to_json()).policy

    (bold, kept), (shy, _) = choices("eps.py:Eps:0.9"), choices("eps.py:Eps:0.1")
    assert bold != shy
    assert kept.eps == 0.9


@pytest.mark.parametrize(
    ("kind", "text", "short"),
    [
        ("policy", "ucb", "ucb"),
        ("policy", "ucb:2", "ucb"),
        ("policy", "ucb:alpha=0.5", "ucb:0.5"),
        ("policy", "tuned", "tuned"),
        ("policy", "softmax:temperature=0.5", "softmax:temperature=0.5"),
        ("policy", "softmax:4,temperature=1", "softmax:4"),
        ("policy", "thompson:a=2,b=3", "thompson:2,3"),
        ("filter", "screened:doubt=0.1", "screened:doubt=0.1"),
        ("filter", "screened:0.3,0.3", "screened:0.3"),
        ("attack", "crafted:switch=40", "crafted:switch=40"),
        ("attack", "constant", "constant"),
        ("attack", "alie:c=2", "alie:2"),
        ("graph", "erdos-renyi:q=0.5", "erdos-renyi:0.5"),
        ("graph", "star", "star"),
        ("rewards", "beta:4", "beta"),
        ("rewards", "gaussian:sigma=0.2", "gaussian:0.2"),
    ],
)
def test_parameters_are_read_by_position_or_name_and_told_as_short_as_can_be(kind, text, short):
    registry = PLUGINS[kind]
    plugin = registry.resolve(text)
    assert registry.name_of(plugin) == short
    assert registry.resolve(short) == plugin


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("policy", "ucb:beta=2"),
        ("policy", "ucb:2,3"),
        ("policy", "ucb:-1"),
        ("policy", "ucb:nan"),
        ("policy", "greedy:1"),
        ("policy", "softmax:temperature=1,3"),
        ("attack", "crafted:switch=4,2"),
        ("policy", "softmax:0"),
        ("policy", "softmax:2.5"),
        ("policy", "thompson:1,a=2"),
        ("filter", "screened:0"),
        ("filter", "trimmed:1"),
        ("rewards", "bernoulli:1"),
        ("rewards", "gaussian:0.1,2"),
    ],
)
def test_parameters_that_are_none_get_one_sentence_that_says_what_is_allowed(kind, text):
    with pytest.raises(BadInput, match=rf"{kind} parameters .* are not understood; allowed: ") as caught:
        PLUGINS[kind].resolve(text)
    assert "\n" not in str(caught.value)


def test_the_parameters_of_a_users_own_are_named_when_they_are_misunderstood(eps):
    with pytest.raises(BadInput, match=r"allowed: share=0.5, doubt=0$"):
        PLUGINS["filter"].resolve("eps.py:Lean:0.1,0.2,0.3")
