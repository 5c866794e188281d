"""Audits: liars that give themselves away are expelled, careful and honest agents never."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from byzmab import BadInput, Experiment, Result, simulate
from byzmab.attacks import ATTACKS
from byzmab.attacks.crafted import Crafted
from byzmab.core.audit import ROUNDING, can_follow, follows, nearest
from byzmab.core.report import Report
from byzmab.engine.audit import Past, audit, be_careful
from byzmab.experiment.files import read_experiment, to_toml
from byzmab.simulation.single_run import Run

SMALL = Experiment(agents=8, byzantine=2, filter="guarded", policy="ucb:0.2", horizon=150, runs=2)
counts, shares = some.integers(1, 10**9), some.floats(0.0, 1.0)


def expelled(experiment, run=0):
    """Who was expelled in a run: a table of liars × agents."""
    played = Run(experiment, run)
    played.advance(experiment.horizon)
    return played.state.expelled.reshape(experiment.parts.byzantine, experiment.parts.agents)


@given(some.lists(some.tuples(some.integers(0, 50), shares), min_size=2, max_size=20))
def test_whatever_an_honest_agent_tells_can_follow_what_it_told_before(rewarded):
    """Any number of further pulls, with any rewards; told as a count and a mean, as reports are."""
    pulls, total, told = 0, 0.0, (0.0, 0.0)
    for more, reward in rewarded:
        pulls, total = pulls + more, total + sum([reward] * more)
        if pulls:
            now = float(pulls), pulls * (total / pulls)
            assert can_follow(*now, *told)
            assert follows(*now, *told)
            told = now


@given(counts, shares, some.floats(0.0, 1e12), some.floats(-1e6, 1e6))
def test_the_nearest_lie_passes_and_what_passes_already_stays(past, share, pulls, mean):
    told = float(past), past * share
    count, lie = nearest(pulls, mean, *told, False)
    if pulls <= 0.0:
        assert (count, lie) == (0.0, 0.0)
        assert nearest(pulls, mean, *told, True) == (told[0], told[1] / told[0]), "no news"
        return
    assert nearest(pulls, mean, *told, True) == (count, lie)
    assert can_follow(count, count * lie, *told)
    assert 0.0 <= lie <= 1.0 + 1e-9
    if can_follow(pulls, pulls * mean, *told):
        assert (count, count * lie) == pytest.approx((pulls, pulls * mean), rel=1e-6, abs=2 * ROUNDING * count)


@pytest.mark.parametrize("fall", [(9.0, 4.5), (10.0, 5.1), (10.0, 4.9), (12.0, 7.1), (12.0, 4.9)])
def test_counts_that_fall_and_rewards_that_jump_cannot_follow(fall):
    assert not can_follow(*fall, 10.0, 5.0)
    assert not follows(*fall, 10.0, 5.0)


@pytest.mark.parametrize("attack", ["alie", "mimic", "gaussian", "constant", "adaptive"])
def test_who_gives_itself_away_is_expelled_by_all_who_hear_it(attack):
    """Then the others go on with f = 0, as if there had never been a liar that they heard."""
    who = expelled(SMALL.but(attack=attack))
    assert who.sum() == 2 * 7, "nobody hears itself"
    assert not expelled(SMALL.but(attack="none")).any()
    unheard = SMALL.but(attack="none", agents=6, byzantine=0, f=0, horizon=2_000, runs=20)
    caught = SMALL.but(attack=attack, horizon=2_000, runs=20)
    regrets = [simulate(experiment).network_regret[:, -1].mean() for experiment in (caught, unheard)]
    assert regrets[0] == pytest.approx(regrets[1], rel=0.25)


@pytest.mark.parametrize("settings", [{}, {"tell": "every:4"}, {"agents": 60, "horizon": 40}], ids=str)
def test_who_leaves_out_an_arm_is_expelled_where_no_report_is_lost(settings):
    """By those it was silent to, in the first round in which it was; a liar cannot lower f now and raise it later."""
    few = "best_count=0.2,second_count=0,other_counts=0.2,spared_count=0.2"
    split = SMALL.but(attack=f"crafted:{few},share=0.5,switch=20", reliable_links=True, **settings)
    others = split.agents - 1  # who hear a liar
    assert 0 < expelled(split.but(horizon=5)).sum() < 2 * others
    assert expelled(split.but(horizon=30)).sum() == 2 * others


@pytest.mark.parametrize(
    "settings",
    [
        {"graph": "erdos-renyi:0.6", "time_varying": True, "reliable_links": True},
        {"subset": 4, "reliable_links": True},
        {"agents": 60},
        {},
    ],
    ids=str,
)
def test_silence_gives_nobody_away_unless_links_are_declared_reliable(settings):
    assert not expelled(SMALL.but(attack="starve", audit=True, **settings)).any()
    everywhere = SMALL.but(attack="starve", reliable_links=True)
    assert expelled(everywhere).sum() == 2 * 7


@pytest.mark.parametrize("attack", ATTACKS.entries)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"graph": "erdos-renyi:0.6", "time_varying": True, "memory": 5},
        {"graph": "erdos-renyi:0.6", "time_varying": True, "tell": "growth:0.1"},
        {"tell": "every:4"},
        {"agents": 60, "horizon": 40},  # dense
    ],
    ids=str,
)
def test_careful_liars_are_never_expelled(attack, settings):
    assert not expelled(SMALL.but(attack=f"{attack}:careful=1", audit=True, **settings)).any()


def test_liars_are_no_more_careful_than_they_must_be():
    """A lie that passes is told as it is."""
    few = "crafted:best_count=0.2,second_count=0.2,other_counts=0.2"
    bold, careful = (simulate(SMALL.but(attack=name)) for name in (few, f"{few},careful=1"))
    assert np.array_equal(bold.regret_values, careful.regret_values)
    assert not np.array_equal(careful.regret_values, simulate(SMALL.but(attack="none")).regret_values)


def past_of_nobody(arms):
    return Past(np.zeros((1, arms)), np.zeros((1, arms)), np.zeros(1), np.zeros(1, np.int64))


@pytest.mark.parametrize("whole", [True, False])
@given(rounds=some.lists(some.tuples(some.integers(0, 2), some.booleans(), some.integers(0, 7)), max_size=40))
def test_an_honest_agent_passes_whatever_is_lost_or_not_due(whole, rounds):
    """It pulls one arm a round; some reports are lost; where not everything is due, some arms are as they were."""
    pulls, known, past = np.ones(3), np.zeros(3), past_of_nobody(3)
    for time, (arm, arrives, arms) in enumerate(rounds):
        told = [whole or bool(arms >> k & 1) for k in range(3)]
        if arrives:
            known = np.where(told, pulls, known)
            assert audit(past, 0, known, np.full(3, 0.5), False, time, whole)
        pulls[arm] += 1.0


@pytest.mark.parametrize(
    ("time", "reports", "passes"),
    [
        (27, [(10, 10, 10), (10, 11, 10)], True),
        (26, [(10, 10, 10)], False),  # of at most 3 + 26
        (27, [(1, 1, 1), (2, 2, 1)], False),  # two pulls in one round
        (27, [(1, 1, 1), (1, 1, 1), (2, 1, 1)], True),
    ],
)
def test_an_agent_that_claims_more_pulls_than_rounds_gives_itself_away(time, reports, passes):
    """All arms together: no arm alone does."""
    past = past_of_nobody(3)
    heard = [audit(past, 0, np.array(p, float), np.full(3, 0.5), False, time + i, True) for i, p in enumerate(reports)]
    assert all(heard) is passes
    assert expelled(SMALL.but(attack="extreme", horizon=2)).sum() == 2 * 7


@given(some.lists(some.tuples(*[some.floats(0.0, 1e6)] * 3, *[shares] * 3, some.integers(0, 9)), max_size=12))
def test_a_careful_lie_passes_whatever_it_wants_to_claim(lies):
    past, time = past_of_nobody(3), 0
    for *wanted, later in lies:
        lie = Report(np.array(wanted[:3]), np.array(wanted[3:]))
        be_careful(past, 0, lie, False, time)
        assert audit(past, 0, lie.pulls, lie.means, False, time, True)
        time += later


def test_only_guarded_audits_unless_it_is_said():
    assert SMALL.parts.audits
    assert SMALL.settings()["audit"] is None, "a saved experiment with another filter goes by that one"
    assert not SMALL.but(audit=False).parts.audits
    assert not SMALL.but(filter="trimmed").parts.audits
    assert SMALL.but(filter="trimmed", audit=True).parts.audits
    assert not SMALL.but(tally="window:50").parts.audits
    assert not Experiment(algorithm="dducb", filter="guarded").parts.audits
    assert not Experiment(context=2, arms="random:3", filter="guarded", attack="flip").parts.audits


def test_an_audit_changes_what_other_filters_do():
    paper = SMALL.but(filter="trimmed", attack="mimic")
    assert expelled(paper.but(audit=True)).any()
    assert not np.array_equal(simulate(paper).regret_values, simulate(paper.but(audit=True)).regret_values)


def test_files_and_results_keep_whether_it_was_audited(tmp_path):
    for audited in (True, False):
        file = tmp_path / f"{audited}.toml"
        file.write_text(to_toml(SMALL.but(audit=audited)))
        assert read_experiment(file).parts.audits is audited
    simulate(SMALL.but(audit=False)).save(tmp_path / "result.nc")
    assert not Result.load(tmp_path / "result.nc").experiment.parts.audits


def test_an_attack_of_ones_own_may_be_careful_from_the_start(tmp_path):
    """Its other parameters stay where they are."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom byzmab.attacks.crafted import Crafted\n\n\n"
        "@dataclass(frozen=True)\nclass Mine(Crafted):\n    careful: int = 1\n    best: float = 0.5\n"
    )
    attack = SMALL.but(attack=f"{tmp_path}/mine.py:Mine").parts.attack
    assert attack.params == Crafted(best=0.5).params
    assert attack.careful == 1
    assert not expelled(SMALL.but(attack=f"{tmp_path}/mine.py:Mine")).any()


@pytest.mark.parametrize("text", ["alie:1.2,careful=1", "constant:0.2,0.8,careful=1", "crafted:careful=1", "none"])
def test_careful_stands_among_the_parameters(text):
    attack = ATTACKS.resolve(text)
    assert ATTACKS.resolve(ATTACKS.name_of(attack)) == attack
    assert attack.careful == ("careful" in text)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"audit": "yes"}, "audit 'yes' is not allowed; allowed: true or false"),
        ({"audit": True, "tally": "forget:0.9"}, "audit does not go with tally 'forget:0.9'"),
        ({"audit": True, "algorithm": "dducb"}, "audit does not go with algorithm 'dducb'"),
        ({"attack": "alie:careful=1", "algorithm": "dducb"}, "careful=1 does not go with algorithm 'dducb'"),
        ({"attack": "alie:careful=2"}, "has careful=2; allowed: 0 or 1"),
        ({"attack": "alie:1,1"}, "not understood"),
        ({"attack": "constant:careful=x"}, "not understood"),
        ({"attack": "constant:means=0.9"}, "not understood"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(settings, words):
    with pytest.raises(BadInput, match=words):
        SMALL.but(**settings)
