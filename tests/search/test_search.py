"""Attack search finds what hurts more, the same with the same seed, and leaves it where it can be used."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from byzmab import BadInput, Experiment, ResultStore, simulate
from byzmab.attacks.crafted import Crafted
from byzmab.search import goals, judge, save_search, search_attack
from byzmab.search import search as module
from byzmab.search.optimizer import open_optimizer
from byzmab.search.restarts import Restarts
from byzmab.search.space import FORESEEING, PLAIN, Space
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
    first, second = (search_attack(SMALL, 18, 2, optimizer, workers=workers) for workers in (1, 2))
    assert first.trials == second.trials
    other = search_attack(SMALL.but(seed=4), 18, 2, optimizer)
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
        stopping_after(11, patch)  # solo, then ten attacks
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
    assert "30 trials of 4 runs each, optimizer cma-es, 4 restarts, seed 3" in text
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
    space = Space.of(SMALL.but(audit=True))
    assert {branch.careful for branch, _ in space.starts} == {0, 1}
    assert {branch.careful for branch, _ in Space.of(SMALL).starts} == {0}
    for branch, _ in space.starts:
        for end in (0, 1):
            attack = space.attack(branch, {name: ends[end] for name, ends in space.bounds(branch).items()})
            assert type(attack).from_text(attack.to_text()) == attack
            if isinstance(attack, Crafted):
                assert (attack.errors, attack.common, attack.target, attack.careful) == branch
            else:
                assert (type(attack), attack.careful) == (FORESEEING[branch.kind], branch.careful)
    low = {name: ends[0] for name, ends in space.bounds(PLAIN).items()}
    assert space.attack(PLAIN, low).best_count == 0.0
    assert space.attack(PLAIN, {**low, "best_count": 2.0}).best_count == 100.0
    paused = space.attack(PLAIN, {**low, "pause": 0.5, "resume": 1.0})
    assert (paused.pause, paused.resume) == (38, 300)  # the cube of a share, so that early rounds are easily found
    assert space.attack(PLAIN, {**low, "pause": 1.0, "resume": 0.5}).resume == 0


def test_a_search_starts_within_its_bounds_and_everywhere_in_the_family(found):
    space = Space.of(SMALL)
    attacks = [space.attack(*start) for start in space.starts]
    assert [trial.attack for trial in found.trials[: len(attacks)]] == attacks
    assert len(set(attacks)) == len(attacks)
    for branch, point in space.starts:
        assert all(low <= point[name] <= high for name, (low, high) in space.bounds(branch).items())
        assert point.keys() == space.bounds(branch).keys()
    attacks = [attack for attack in attacks if isinstance(attack, Crafted)]
    for name, values in (("errors", {0, 1, 2, 3}), ("common", {0, 1}), ("target", {0, 2})):
        assert {getattr(attack, name) for attack in attacks} == values


def test_every_restart_has_a_branch_of_its_own_and_the_best_has_the_second_half():
    space = Space.of(SMALL)
    restarts = Restarts(space, "random", 0, 3)
    restarts.tried = [(branch, point, float(number)) for number, (branch, point) in enumerate(space.starts)]
    turns = []
    for branch, optimizer, number in restarts.turns(12):
        optimizer.ask()
        optimizer.tell(0.0)
        restarts.told(number, 100.0 if number == 1 else 0.0)
        turns.append((number, branch))
    assert [number for number, _ in turns] == [0, 1, 2, 0, 1, 2, 1, 1, 1, 1, 1, 1]
    assert len({branch for _, branch in turns}) == 3
    assert turns[0][1] == space.starts[-1].branch  # whose start is worth most


def test_restarts_in_the_same_branch_have_seeds_of_their_own():
    space = Space.of(SMALL)
    for name in ("cma-es", "tpe", "random"):
        restarts = Restarts(space, name, 0, 2)
        restarts.tried = [(*space.starts[0], 1.0)]
        first, second = (optimizer.ask() for _, optimizer, _ in list(restarts.turns(4))[:2])
        assert first != second


@pytest.mark.parametrize("optimizer", ["cma-es", "tpe"])
def test_an_optimizer_comes_near_the_top_of_a_hill(optimizer):
    bounds = {"x": (-1.0, 5.0), "y": (0.0, 1.0)}

    def height(point):
        return -((point["x"] - 3.0) ** 2) - (4.0 * (point["y"] - 0.25)) ** 2

    start = {"x": -1.0, "y": 1.0}
    hill = open_optimizer(optimizer, bounds, [(start, height(start))], seed=1)
    heights = []
    for _ in range(80):
        point = hill.ask()
        assert all(low <= point[name] <= high for name, (low, high) in bounds.items())
        heights.append(height(point))
        hill.tell(heights[-1])
    assert max(heights) > -0.1


def result(regret):
    """A result of two normal agents with these regrets at the horizon, a row for each run."""
    values = np.array(regret, dtype=float)[:, :, None]
    one = simulate(Experiment(agents=3, byzantine=1, filter="solo", horizon=1, runs=len(values), record=1))
    return replace(one, regret_values=values)


def test_goals_are_regret_the_least_gain_of_an_agent_and_the_share_of_runs_locked_in():
    alone = result([[10, 20], [10, 20], [10, 20], [10, 20]])
    attacked = result([[5, 35], [5, 35], [6, 34], [4, 16]])
    beside = goals.Beside(alone, goals.threshold(alone))
    assert beside.lock_in == 30.0  # twice solo's mean
    assert goals.GOALS["regret"](attacked, beside) == 17.5
    assert goals.GOALS["gain"](attacked, beside) == 10.0  # the second agent: 30 instead of 20
    assert goals.GOALS["worst-agent"](attacked, beside) == 30.0
    assert goals.GOALS["victim"](attacked, beside) == 1.5
    assert goals.locked(attacked, 19.0) == 3
    assert goals.GOALS["lock-in"](attacked, beside._replace(lock_in=19.0)) == (3 + 0.5) / 4
    assert goals.GOALS["lock-in"](attacked, beside._replace(lock_in=40.0)) == 0.25 / 4  # half the way: 20 of 40
    assert goals.threshold(alone, 100.0) == 100.0


@pytest.mark.parametrize("goal", ["gain", "lock-in"])
def test_what_is_found_is_worth_most_by_the_goal(goal):
    found = search_attack(SMALL, 16, 4, goal=goal, restarts=2, lock_in=12.0)
    alone = simulate(SMALL.but(filter="solo", attack="none", runs=4, record=1))
    beside = goals.Beside(alone, 12.0)
    worths = [
        goals.GOALS[goal](simulate(SMALL.but(attack=trial.attack, runs=4, record=1)), beside) for trial in found.trials
    ]
    assert [trial.worth for trial in found.trials] == worths
    assert found.best.worth == max(worths)


def test_lock_ins_are_judged_with_an_interval_of_their_share(found):
    judgement = judge(replace(found, lock_in=0.001))
    assert judgement.locked("found")["share"] == 1.0
    assert judgement.locked("found")["low"] == pytest.approx(0.025 ** (1 / 6))  # Clopper & Pearson, 6 of 6
    judgement = judge(found)
    assert judgement.lock_in == pytest.approx(2 * judgement.results["solo"].network_regret[:, -1].mean())
    assert judgement.locked("found")["runs"] == 0


@pytest.mark.parametrize(
    ("attack", "words"),
    [
        (Crafted(), ["best arm it claims n + 1 pulls of mean 0", "other arms it claims n + 1 pulls of mean 1"]),
        (Crafted(-0.25), ["25% of the way from the smallest honest one to 0"]),
        (Crafted(second=2), ["the mean at rank 2 among the honest ones, the largest being at 0"]),
        (Crafted(second_count=0, other_counts=0.1), ["second best arm it is silent", "too few to be consistent"]),
        (Crafted(isolate=4), ["fewer than 4 honest reports"]),
        (
            Crafted(1.5, -2, errors=1),
            ["1.5 standard errors of the receiver below", "2 standard errors of the receiver below"],
        ),
        (Crafted(0, 2, errors=2), ["pulls of the true mean", "2 standard errors of the count it claims above"]),
        (Crafted(0, 2, errors=3), ["pulls of the receiver's own mean", "of the receiver above the receiver's own"]),
        (Crafted(common=1), ["tells everyone the same"]),
        (
            Crafted(target=2),
            ["second best arm it claims n + 1 pulls of mean 1", "On all other arms it reports honestly"],
        ),
        (Crafted(pause=40, resume=90, spared_count=0), ["From round 40 to round 90 it strikes nobody: it is silent."]),
        (
            Crafted(pause=40, resume=300),
            ["From round 40 to the end", "pulls of mean 0; on the best arm it claims n + 1 pulls of mean 1"],
        ),
        (Crafted(share=0.5, switch=100), ["Until round 100 only 50% of the receivers", "From then on"]),
        (Crafted(best_share=0.25, switch=300), ["on the best arm only 25% are struck; to the rest it claims"]),
        (Crafted(share=0.5, switch=300), ["All the time only 50% of the receivers", "so that they fall behind"]),
    ],
)
def test_an_attack_is_told_in_words(attack, words):
    text = " ".join(in_words(attack, SMALL))
    for part in words:
        assert part in text
    assert ("struck" in text) == (attack.share < 1.0 or attack.best_share < 1.0)
    assert ("On the best arm" in text) == (attack.target != 2)


@pytest.mark.parametrize(
    ("experiment", "settings", "words"),
    [
        (SMALL.but(byzantine=0), {}, "byzantine 0"),
        (SMALL.but(filter="solo"), {}, "filter 'solo'"),
        (SMALL, {"trials": 2}, "trials 2"),
        (SMALL, {"runs": 0}, "search runs 0"),
        (SMALL, {"optimizer": "cma"}, "did you mean 'cma-es'"),
        (SMALL, {"workers": 0}, "workers 0"),
        (SMALL, {"restarts": 0}, "restarts 0"),
        (SMALL, {"goal": "lockin"}, "did you mean 'lock-in'"),
        (SMALL, {"lock_in": 0.0}, "lock-in 0.0"),
    ],
)
def test_what_cannot_be_searched_is_told(experiment, settings, words):
    with pytest.raises(BadInput, match=re.escape(words)):
        search_attack(experiment, **settings)


def test_one_run_is_too_few_to_judge():
    with pytest.raises(BadInput, match="runs 1"):
        judge(search_attack(SMALL.but(runs=1), 3, 1))
