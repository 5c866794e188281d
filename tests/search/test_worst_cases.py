"""The worst cases of all filters: who is searched against, with which policy, and what the table says."""

import sys

import pytest

from byzmab import Experiment, ResultStore, simulate
from byzmab.attacks import ATTACKS
from byzmab.core.filters import FILTERS
from byzmab.search import contestants, search_attack, worst_cases

SMALL = Experiment(horizon=150, runs=4, seed=2)


@pytest.fixture(scope="module")
def cases():
    wanted = [item for item in contestants() if item.filter in ("pooled", "guarded")]
    return worst_cases(SMALL, wanted, trials=6, runs=2)


def test_every_filter_that_hears_is_searched_against_with_its_policy_or_the_one_given():
    everyone = set(FILTERS.entries) - {"solo"}
    usual = contestants()
    assert {item.filter for item in usual} == everyone
    assert {item.policy for item in usual if item.filter == "guarded"} == {"moss"}
    assert {item.policy for item in usual if item.filter == "trimmed"} == {"ucb", "tuned"}
    assert {item.policy for item in usual if item.filter == "screened"} == {"tuned"}
    given = contestants("kl-ucb")
    assert {item.filter for item in given} == everyone
    assert len(given) == len(everyone)
    assert {item.policy for item in given} == {"kl-ucb"}


def test_solo_stands_beside_every_filter_with_the_same_policy(cases):
    for case in cases:
        alone = simulate(SMALL.but(filter="solo", policy=case.contestant.policy, attack="none", seed=3))
        row = case.summary()
        assert row["solo"]["regret"]["mean"] == alone.network_regret[:, -1].mean()
        assert row["policy"] == case.contestant.policy


def test_the_worst_with_a_name_is_the_worst_of_all_of_them_on_fresh_seeds(cases):
    for case in cases:
        row, experiment = case.summary(), SMALL.but(**case.contestant._asdict(), seed=3)
        named = [name for name in ATTACKS.entries if name != "crafted"]
        if experiment.parts.audits:
            named += [f"{name}:careful=1" for name in named if name not in ("none", "starve")]
        regrets = {name: simulate(experiment.but(attack=name)).network_regret[:, -1].mean() for name in named}
        assert row["named"]["regret"]["mean"] == max(regrets.values())
        assert regrets[row["named"]["attack"]] == max(regrets.values())
        found = simulate(experiment.but(attack=row["found"]["attack"])).network_regret[:, -1].mean()
        assert row["found"]["regret"]["mean"] == found
        assert row["found_above_solo"]["difference"] == pytest.approx(found - row["solo"]["regret"]["mean"])


def test_control_c_leaves_those_that_are_finished_and_the_store_goes_on(cases, tmp_path, monkeypatch):
    begun = []

    def interrupted(experiment, *args, **settings):
        begun.append(experiment)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return search_attack(experiment, *args, **settings)

    wanted, store = [case.contestant for case in cases], ResultStore(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[worst_cases.__module__], "search_attack", interrupted)
        stopped = worst_cases(SMALL, wanted, 6, 2, store)
    assert [case.contestant for case in stopped] == wanted[:1]
    before = store.computed
    resumed = worst_cases(SMALL, wanted, 6, 2, store)
    assert [case.summary() for case in resumed] == [case.summary() for case in cases]
    second = len(cases[1].judgement.results) * SMALL.runs + len(cases[1].search.trials) * cases[1].search.runs
    assert 0 < store.computed - before <= second + SMALL.runs  # only the second was played


def test_progress_never_goes_back():
    told = []
    wanted = contestants()[-2:]
    worst_cases(SMALL, wanted, 4, 1, progress=lambda done, total, now: told.append((done, total, now)))
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] <= told[-1][1]
    assert {now.split(":")[0] for _, _, now in told} >= {"screened tuned"}
