"""Neighbours that are absent, late or few: the defence of a live agent never weakens.

Three arms with means 0.3, 0.6 and 0.5. One neighbour lies: it praises the worst arm, with one pull more than the agent
has. An agent that is alone has a regret of 4 to 33 after 2 500 rounds, one that believes the lie 740.
"""

import warnings

import numpy as np
import pytest

from byzmab import Agent, Report
from byzmab.core.liars import TooFewNeighbours

MEANS = np.array([0.3, 0.6, 0.5])
ROUNDS = 1_500
LOST = 0.2 * ROUNDS  # far above any agent that is alone, far below one that is led astray


def praise(report):
    """A lie: the worst arm is the best, with just enough pulls to be used."""
    return Report(report.pulls + 1, np.array([1.0, 0.0, 0.0]))


def regret_of(agent, present, lies=lambda time: True, honest=6, seed=0):
    """The regret of an agent beside honest ones, `present(time)` of which it hears, and one liar."""
    rng = np.random.default_rng(seed)
    others = [Agent(3, policy="moss", seed=100 + number) for number in range(honest)]
    regret = 0.0
    for time in range(ROUNDS):
        for other in others:
            arm = other.select()
            other.reward(arm, float(rng.random() < MEANS[arm]))
        for number, other in enumerate(others):
            if number < present(time):
                agent.hear(f"honest {number}", other.report())
            else:
                agent.forget(f"honest {number}")
        if lies(time):
            agent.hear("liar", praise(agent.report()))
        else:
            agent.forget("liar")
        arm = agent.select()
        agent.reward(arm, float(rng.random() < MEANS[arm]))
        regret += MEANS.max() - MEANS[arm]
    return regret


def recommended(**settings):
    return Agent(3, filter="guarded", policy="moss", **settings)


@pytest.mark.parametrize("f", ["auto", 2])
@pytest.mark.parametrize(
    ("present", "lies"),
    [
        (lambda time: 4, lambda time: True),  # two never start
        (lambda time: min(6, time // 200), lambda time: True),  # they start late, one after the other
        (lambda time: 2 if 300 <= time < 900 else 6, lambda time: True),  # four leave for a while and return
        (lambda time: 3 if time >= 300 else 6, lambda time: time >= 300),  # the liar waits for that moment
        (lambda time: time % 7, lambda time: True),  # they come and go
        (lambda time: 0, lambda time: True),  # the liar alone
    ],
    ids=["two offline", "late", "away and back", "a liar that waits", "come and go", "nobody but the liar"],
)
def test_absent_neighbours_do_not_weaken_the_defence(f, present, lies):
    assert regret_of(recommended(f=f, neighbours=7), present, lies) < LOST


def test_three_of_four_offline_leave_the_agent_alone():
    """f = 1 needs four reports; the one that is left is the liar's."""
    alone = recommended(f=1, neighbours=0)
    heard = recommended(f="auto", neighbours=4)
    assert regret_of(heard, lambda time: 0, honest=3) == regret_of(alone, lambda time: 0, lambda time: False, honest=3)


@pytest.mark.parametrize("honest", [0, 1, 2])
@pytest.mark.parametrize("filter", ["guarded", "pooled", "screened", "trimmed"])
def test_with_one_to_three_neighbours_auto_ignores_all_reports_and_says_so_once(honest, filter):
    agent = Agent(3, f="auto", filter=filter, policy="moss")
    with pytest.warns(TooFewNeighbours, match=f"may hear {honest + 1}: it ignores all reports") as said:
        alone = Agent(3, f=1, filter="solo", policy="moss")
        assert regret_of(agent, lambda time: honest, honest=honest) == regret_of(
            alone, lambda time: honest, honest=honest
        )
    assert len(said) == 1
    assert agent.ignores_reports
    fates = {fate for row in agent.explain().values() for fate in row.values()}
    assert {fate.value for fate in fates} == {"unused"}


def test_an_agent_with_few_neighbours_says_so_when_it_is_made():
    with pytest.warns(TooFewNeighbours, match="f = auto needs 4 neighbours or more, and this agent may hear 2"):
        recommended(f="auto", neighbours=2)


def test_enough_neighbours_are_heard_without_a_warning():
    agent = recommended(f="auto", neighbours=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regret_of(agent, lambda time: 3, honest=3)
    assert (agent.f, agent.ignores_reports) == (1, False)


def test_f_of_0_is_believing_everyone_and_only_a_person_sets_it():
    """The lie wins where means are declared equal: that is what f = 0 means. Else own rewards show the difference."""
    assert regret_of(Agent(3, f=0, filter="guarded:spread=0", policy="moss"), lambda time: 0) > LOST
    assert regret_of(recommended(f=0), lambda time: 0) < LOST


def test_proof_lowers_f_and_more_proofs_than_f_end_all_trust():
    agent = recommended(f="auto", neighbours=7)
    for number, left in ((1, 1), (2, 0)):
        agent.expel(f"liar {number}")
        assert (agent.f, agent.ignores_reports) == (left, False)
    agent.expel("liar 3")
    assert agent.ignores_reports, "of seven neighbours three lie, and f = 2 cannot be true"
    agent.readmit("liar 3")
    assert not agent.ignores_reports
