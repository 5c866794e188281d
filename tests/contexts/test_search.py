"""Attack search where rewards depend on contexts."""

import json

import numpy as np
import pytest

from byzmab import BadInput, Experiment, simulate
from byzmab.attacks import CONTEXT_ATTACKS
from byzmab.attacks.contexts.crafted_at import CraftedAt
from byzmab.search.context_space import ContextSpace, in_words_at
from byzmab.search.judge import judge
from byzmab.search.keep import save_search
from byzmab.search.search import search_attack

SMALL = Experiment(
    context=3,
    arms="random:3",
    agents=6,
    byzantine=1,
    filter="pooled",
    policy="tuned",
    horizon=120,
    runs=3,
    attack="flip",
)


@pytest.fixture(scope="module")
def found():
    return search_attack(SMALL, 40, 2)


def test_blind_alie_is_a_member_of_the_family():
    one, other = (simulate(SMALL.but(attack=name)) for name in ("blind-alie", "crafted-at"))
    assert np.array_equal(one.regret_values, other.regret_values)


def test_silence_is_a_member_of_the_family():
    one, other = (simulate(SMALL.but(attack=name)) for name in ("starve", "crafted-at:size=0"))
    assert np.array_equal(one.regret_values, other.regret_values)


def test_every_corner_of_the_space_is_an_attack_that_can_be_written_down():
    space = ContextSpace(1000)
    for branch, _ in space.starts:
        for end in (0, 1):
            attack = space.attack(branch, {name: ends[end] for name, ends in space.bounds(branch).items()})
            assert CraftedAt.from_text(attack.to_text()) == attack
            assert (attack.knows, attack.centre, attack.inflates) == branch
            assert all(sentence.endswith(".") for sentence in in_words_at(attack, 1000))


def test_what_is_found_is_the_worst_that_was_tried_and_is_judged_beside_all_attacks(found, tmp_path):
    assert len(found.trials) == 40
    assert found.best.regret == max(trial.regret for trial in found.trials) >= found.known["blind-alie"]
    judgement = judge(found)
    assert {*judgement.results} == {"found", "solo", *CONTEXT_ATTACKS.entries} - {"crafted-at"}
    save_search(found, tmp_path, judgement)
    again = simulate(SMALL.but(attack=f"{tmp_path}/found.py:Found", runs=2, record=1))
    assert again.network_regret[:, -1].mean() == found.best.regret
    saved = json.loads((tmp_path / "search.json").read_text())
    assert CONTEXT_ATTACKS.resolve(saved["attack"]["name"]) == found.attack


def test_baselines_with_contexts_can_be_searched_against():
    trimmed = SMALL.but(algorithm="lin-trimmed")
    assert search_attack(trimmed, 6, 1).best.regret > 0.0
    with pytest.raises(BadInput, match="algorithm 'lin-ucb' hears nobody"):
        search_attack(trimmed.but(algorithm="lin-ucb"), 6, 1)


@pytest.mark.parametrize("text", ["size=-1", "share=2", "centre=4", "knows=2", "best=inf", "switch=-1", "inflates=5"])
def test_parameters_that_make_no_sense_are_refused(text):
    with pytest.raises(BadInput, match="not understood"):
        CraftedAt.from_text(text)


def test_half_of_the_receivers_are_struck_until_the_switch():
    """Those who are spared, and told the truth, believe what they would under a lie of no size."""
    averaging = SMALL.but(filter="mean", vetting=False, horizon=400)
    spared = averaging.but(attack="crafted-at:best=3,others=3,share=0,switch=1000,centre=2")
    harmless = averaging.but(attack="crafted-at:best=0,others=0,centre=2")
    one, other = (simulate(experiment) for experiment in (spared, harmless))
    assert np.array_equal(one.regret_values, other.regret_values)
    struck = simulate(spared.but(attack="crafted-at:best=3,others=3,share=0.5,switch=1000,centre=2"))
    assert not np.array_equal(one.regret_values, struck.regret_values)
