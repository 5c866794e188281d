"""Believers: the shadow network without a filter, lied to by the same attack over the same rewards."""

import numpy as np
import pytest

from byzmab import Experiment, simulate
from byzmab.testbed.believers import Believers
from byzmab.testbed.liar import AttackView
from byzmab.testbed.plan import AttackPlan, with_liars

NAMES = tuple(f"agent-{number}" for number in range(1, 7))
COMPLETE = tuple(tuple(other for other in range(6) if other != agent) for agent in range(6))
MEANS = (0.5, 0.45, 0.4, 0.3)


def plan_of(attack="extreme", byzantine=1):
    arms = tuple(f"arm-{arm + 1}" for arm in range(4))
    return AttackPlan(attack, byzantine, NAMES, COMPLETE, MEANS, arms, 1, 1.5, "trimmed")


def play(believers, rounds):
    """Everyone decides in turn, and tells the others after every round."""
    for _ in range(rounds):
        believers.exchange()
        for number in range(6):
            believers.decide(number)
    return np.array([stream.regret for stream in believers.rewards])


def test_believers_lose_what_the_simulator_says_of_believing_everyone():
    """The same rewards, the same lies, and reports after every decision, as in the simulator; ties may break otherwise."""
    found = play(Believers(plan_of(), "ucb", 1e9), 404)[1:].mean()
    runs = simulate(Experiment(agents=6, byzantine=1, filter="mean", attack="extreme", horizon=400, runs=40))
    expected = runs.network_regret[:, -1]
    assert abs(found - expected.mean()) < 4 * expected.std()


def test_lies_cost_believers_and_honest_reports_do_not():
    lied_to, honest = (play(Believers(plan_of(attack), "tuned", 1e9), 400)[1:].mean() for attack in ("extreme", "none"))
    assert lied_to > 2 * honest


def test_believers_follow_when_others_become_liars():
    believers = Believers(plan_of("extreme", 1), "tuned", 1e9)
    believers.use(with_liars(plan_of(), "none", {3}))
    assert play(believers, 300)[[0, 1, 3, 4, 5]].mean() < 30.0  # the new liar tells the truth, and so does the old one


@pytest.mark.parametrize("liars", [{1}, {3, 5}, {2, 4, 6}])
def test_a_plan_with_other_liars_names_them_first_and_keeps_who_hears_whom(liars):
    ring = tuple(((agent - 1) % 6, (agent + 1) % 6) for agent in range(6))
    before = AttackPlan(
        "extreme", 1, NAMES, tuple(map(tuple, map(sorted, ring))), MEANS, ("a", "b", "c", "d"), 1, 1.5, "mean"
    )
    after = with_liars(before, "alie", liars)
    assert (after.attack, after.byzantine) == ("alie", len(liars))
    assert {*after.agents[: len(liars)]} == {f"agent-{number}" for number in liars}

    def edges(plan):
        return {(plan.agents[a], plan.agents[b]) for b, heard in enumerate(plan.graph) for a in heard}

    assert edges(after) == edges(before)
    for name in after.agents[: len(liars)]:
        AttackView(after, name)
