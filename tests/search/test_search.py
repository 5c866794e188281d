"""Attack search finds what hurts more, the same with the same seed, and leaves it where it can be used."""

import json
import re

import pytest

from byzmab import BadInput, Experiment, ResultStore, simulate
from byzmab.attacks.crafted import Crafted
from byzmab.search import judge, save_search, search_attack
from byzmab.search import search as module
from byzmab.search.space import Space
from byzmab.search.words import in_words
from byzmab.sweep import store as store_module

SMALL = Experiment(horizon=300, runs=6, seed=3)


@pytest.fixture(scope="module")
def found():
    return search_attack(SMALL, trials=30, runs=4)


def test_the_known_attacks_come_first_with_their_own_regret(found):
    for (name, regret), trial in zip(found.known.items(), found.trials, strict=False):
        assert regret == trial.regret == simulate(SMALL.but(attack=name, runs=4, record=1)).network_regret[:, -1].mean()


def test_it_finds_more_than_it_started_with(found):
    assert found.best.regret > max(found.known.values())
    assert found.best.regret == simulate(SMALL.but(attack=found.attack, runs=4, record=1)).network_regret[:, -1].mean()


@pytest.mark.parametrize("optimizer", ["cma-es", "tpe", "random"])
def test_the_same_seed_finds_the_same_whatever_the_workers(optimizer):
    first, second = (search_attack(SMALL, 12, 2, optimizer, workers=workers) for workers in (1, 2))
    assert first.trials == second.trials
    other = search_attack(SMALL.but(seed=4), 12, 2, optimizer)
    assert [trial.attack for trial in other.trials] != [trial.attack for trial in first.trials]


def test_it_is_judged_on_seeds_it_was_not_searched_on(found):
    judgement = judge(found)
    assert {result.experiment.seed for result in judgement.results.values()} == {SMALL.seed + 1}
    assert {result.experiment.runs for result in judgement.results.values()} == {6}
    first, *_, last = judgement.results
    assert (first, last) == ("found", "solo")
    means = {name: result.network_regret[:, -1].mean() for name, result in judgement.results.items()}
    assert judgement.excess("extreme").difference == pytest.approx(means["found"] - means["extreme"])


def test_an_attack_of_ones_own_is_judged_too(found):
    experiment = SMALL.but(attack="alie:3")
    assert "alie:3" in judge(search_attack(experiment, 3, 2)).results


def stopping_after(trials, monkeypatch):
    """Ctrl-C while the next trial is simulated."""
    left = iter(range(trials))

    def interrupted(*args, **settings):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return simulate(*args, **settings)

    for place in (module, store_module):
        monkeypatch.setattr(place, "simulate", interrupted)


def test_control_c_keeps_the_best_so_far_and_the_store_goes_on_from_there(found, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stopping_after(10, patch)
        stopped = search_attack(SMALL, 30, 4, store=ResultStore(tmp_path))
    assert stopped.interrupted
    assert stopped.trials == found.trials[:10]
    with monkeypatch.context() as patch:
        stopping_after(20, patch)  # one more than is needed would stop it again
        resumed = search_attack(SMALL, 30, 4, store=ResultStore(tmp_path))
    assert resumed.trials == found.trials
    assert not resumed.interrupted


def test_control_c_before_anything_was_tried_stays_control_c(monkeypatch):
    stopping_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        search_attack(SMALL, 30, 4)


def test_what_is_saved_is_the_attack_that_was_found(found, tmp_path):
    names = {path.name for path in save_search(found, tmp_path, judge(found))}
    assert names == {"found.py", "search.json", "search.png", "search.pdf", "regret.png", "regret.pdf"}
    again = simulate(SMALL.but(attack=f"{tmp_path}/found.py:Found", runs=4, record=1))
    assert again.network_regret[:, -1].mean() == found.best.regret
    saved = json.loads((tmp_path / "search.json").read_text())
    assert saved["search"]["regrets"] == [trial.regret for trial in found.trials]
    assert (
        simulate(SMALL.but(attack=saved["attack"]["name"], runs=4, record=1)).network_regret[:, -1].mean()
        == found.best.regret
    )


def test_the_saved_file_says_what_the_attack_does_and_how_it_was_found(found, tmp_path):
    save_search(found, tmp_path)
    text = " ".join((tmp_path / "found.py").read_text().split())
    for sentence in in_words(found.attack, SMALL):
        assert sentence in text
    assert "30 trials of 4 runs each, optimizer cma-es, seed 3" in text
    assert "filter = 'trimmed'" in text


def test_a_setting_with_quotes_does_not_break_the_saved_file(tmp_path):
    place = tmp_path / 'a"""b'
    place.mkdir()
    (place / "mine.py").write_text(
        "from byzmab import Policy, compiled\n@compiled\ndef choose(belief, time, params, rng): return 0\nclass Mine(Policy):\n    choose = staticmethod(choose)\n"
    )
    strange = search_attack(SMALL.but(policy=f"{place}/mine.py:Mine", horizon=20), 3, 1)
    save_search(strange, tmp_path)
    compile((tmp_path / "found.py").read_text(), "found.py", "exec")


def test_every_corner_of_the_space_is_an_attack():
    space = Space.of(SMALL)
    for end in (0, 1):
        attack = space.attack({name: bounds[end] for name, bounds in space.bounds.items()})
        assert Crafted.from_text(attack.to_text()) == attack
    assert space.attack(space.known["extreme"]).best_count == 1.0
    low = {name: bounds[0] for name, bounds in space.bounds.items()}
    assert space.attack(low).best_count == 0.0
    assert space.attack({**low, "best_count": 2.0}).best_count == 100.0


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (Crafted(), ["best arm it claims n + 1 pulls of mean 0", "other arms it claims n + 1 pulls of mean 1"]),
        (Crafted(-0.25), ["25% of the way from the smallest honest one to 0"]),
        (Crafted(second=2), ["the mean at place 2 among the honest ones, the largest being at 0"]),
        (Crafted(second_count=0, other_counts=0.1), ["second best arm it is silent", "too few to be consistent"]),
        (Crafted(isolate=4), ["fewer than 4 honest reports"]),
        (Crafted(share=0.5, switch=100), ["Until round 100 only 50% of the receivers", "From then on"]),
        (Crafted(share=0.5, switch=300), ["All the time only 50% of the receivers", "so that they fall behind"]),
    ],
)
def test_an_attack_is_told_in_words(attack, words):
    text = " ".join(in_words(attack, SMALL))
    for part in words:
        assert part in text
    assert ("struck" in text) == (attack.share < 1.0)


@pytest.mark.parametrize(
    ("experiment", "settings", "words"),
    [
        (SMALL.but(byzantine=0), {}, "byzantine 0"),
        (SMALL.but(filter="solo"), {}, "filter 'solo'"),
        (SMALL, {"trials": 2}, "trials 2"),
        (SMALL, {"runs": 0}, "search runs 0"),
        (SMALL, {"optimizer": "cma"}, "did you mean 'cma-es'"),
        (SMALL, {"workers": 0}, "workers 0"),
    ],
)
def test_what_cannot_be_searched_is_told(experiment, settings, words):
    with pytest.raises(BadInput, match=re.escape(words)):
        search_attack(experiment, **settings)


def test_one_run_is_too_few_to_judge():
    with pytest.raises(BadInput, match="runs 1"):
        judge(search_attack(SMALL.but(runs=1), 3, 1))
