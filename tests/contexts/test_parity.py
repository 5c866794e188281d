"""The compiled loop with contexts makes the choices of the literal transcription, arm by arm, on the same luck."""

import naive_contexts
import pytest

from byzmab import Experiment
from byzmab.attacks import CONTEXT_ATTACKS
from byzmab.baselines.contexts import CONTEXT_BASELINES
from byzmab.core.filters import FILTERS
from byzmab.simulation.single_run import Run

SMALL = Experiment(
    context=3,
    arms="random:3",
    filter="pooled",
    policy="tuned",
    agents=8,
    byzantine=2,
    f=2,
    attack="flip",
    horizon=35,
    runs=1,
)
BY_HAND = [[0.1, 0.3, -0.2], 0.6, [0.0, -0.2, 0.45]]  # parameters, and a mean that no context changes


def choices_of(run, horizon):
    choices = []
    for time in range(horizon):
        run.advance(time + 1)
        choices.append(run.state.choices.tolist())
    return choices


def assert_same_choices(experiment):
    expected, regret, told, leads = naive_contexts.play(experiment, 0)
    run = Run(experiment, 0)
    for time, (theirs, ours) in enumerate(zip(expected, choices_of(run, experiment.horizon), strict=True)):
        assert ours == theirs, f"round {time}"
    assert run.state.regret[:, -1] == pytest.approx(regret)
    assert [int(getattr(run.state, name)) for name in ("messages", "arms_told")] == told
    if experiment.algorithm == "resilient":  # what was heard is the same too, whether or not it was followed
        assert run.state.trial[:, 0] == pytest.approx(leads, abs=1e-9)
    return leads


@pytest.mark.parametrize("attack", CONTEXT_ATTACKS.entries)
def test_every_attack_is_met_as_transcribed(attack):
    shares = ("equal", "information")[list(CONTEXT_ATTACKS.entries).index(attack) % 2]  # each with half of the attacks
    assert_same_choices(SMALL.but(attack=attack, shares=shares))
    assert_same_choices(SMALL.but(attack=attack, shares="projection", vetting=False, f=1))


@pytest.mark.parametrize(
    "text",
    [
        "best=3,others=2,share=0.5,spared=1,switch=20,centre=0",
        "knows=1,centre=2,size=0.5",
        "knows=1,inflates=1,size=3",
        "knows=1,centre=3,best=4",
        "inflates=1,centre=0,size=0",
    ],
)
def test_the_family_of_the_search_lies_as_transcribed(text):
    assert_same_choices(SMALL.but(attack=f"crafted-at:{text}"))


@pytest.mark.parametrize("algorithm", CONTEXT_BASELINES.entries)
def test_every_baseline_plays_as_transcribed(algorithm):
    for attack in ("none", "extreme-at"):
        assert_same_choices(SMALL.but(algorithm=algorithm, attack=attack))


@pytest.mark.parametrize(
    "settings",
    [
        {"delay": 1},
        {"subset": 5, "memory": 4, "delay": 1},
        {"graph": "erdos-renyi:0.7", "time_varying": True, "memory": 3},
        {"tell": "growth:0.2"},
        {"tell": "every:4"},
        {"tell": "growth:0.1", "graph": "erdos-renyi:0.8", "time_varying": True},
        {"contexts": "leaning:3", "ridge": 0.2},
        {"f": "auto", "rewards": ["bernoulli", "uniform:0.3"]},
        {"arms": BY_HAND, "policy": "ucb"},
        {"byzantine": 0, "f": 0, "context": 1},
    ],
    ids=str,
)
def test_every_setting_is_played_as_transcribed(settings):
    for attack in ("stealth", "starve"):
        assert_same_choices(SMALL.but(**{"attack": attack, **settings}))


def test_whoever_was_led_astray_goes_on_alone_as_transcribed():
    """Where no liars are expected, nobody is left out; so what is heard is soon worth less than oneself."""
    leads = assert_same_choices(SMALL.but(f=0, attack="large"))
    assert max(leads[SMALL.byzantine :]) < -1


@pytest.mark.parametrize("filter", ["guarded", "trimmed", "solo"])
def test_filters_decide_on_pairs_as_transcribed(filter):
    for shares in ("equal", "information", "projection"):
        assert_same_choices(SMALL.but(filter=filter, shares=shares, attack="alie-at"))


@pytest.mark.parametrize("filter", FILTERS.entries)
def test_with_a_constant_context_and_no_ridge_projection_is_the_algorithm_without_contexts(filter):
    """d = 1, x = 1, λ → 0: equal choices on equal random numbers, for every filter, without and with silent liars.

    Rewards are continuous: reports of equal influence would be trimmed by what rounding makes of them. With contexts
    no differences between agents are measured, so that without them they are declared to be none.
    """
    alike = {"guarded": "guarded:spread=0"}.get(filter, filter)
    common = {"agents": 8, "byzantine": 2, "policy": "ucb:0.2", "rewards": "beta", "horizon": 150, "runs": 1}
    for attack in ("none", "starve"):
        plain = Experiment(filter=alike, attack=attack, **common)
        constant = plain.but(filter=filter, context=1, ridge=1e-13, shares="projection", vetting=False)
        runs = Run(plain, 0), Run(constant, 0)
        without, with_context = (choices_of(run, plain.horizon) for run in runs)
        for time in range(plain.horizon):
            assert with_context[time] == without[time], f"round {time}"
        assert runs[1].state.regret == pytest.approx(runs[0].state.regret)
