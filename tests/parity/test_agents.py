"""Live agents, fed the draws of a simulated run, choose the simulated arms, round by round."""

import os

import numpy as np
import pytest

from byzmab import Agent, Experiment, Report
from byzmab.core.draws import fold
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES
from byzmab.core.recommended import FILTER, POLICY
from byzmab.engine.audit import edge_of
from byzmab.simulation.single_run import Run

# every pair is compiled, for seconds: here each filter and each policy is in one, `make test-long` tries all of them
PAIRS = [
    (filter, policy)
    for number, filter in enumerate(FILTERS.entries)
    for other, policy in enumerate(POLICIES.entries)
    if "BYZMAB_PAIRS" in os.environ
    or (number - other) % max(len(FILTERS.entries), len(POLICIES.entries)) == 0
    or (filter, policy) == (FILTER, POLICY.partition(":")[0])
]


def replay(experiment):
    """Play a run and let a live agent stand beside every normal one."""
    played = Run(experiment, 0)
    state, parts, byzantine = played.state, experiment.parts, experiment.byzantine
    normal = range(byzantine, parts.agents)
    drawn = Run(experiment, 0)
    drawn.advance(1 + experiment.delay)
    may_hear = drawn.state.may_hear.tolist()
    live = {
        i: Agent(
            parts.arms,
            experiment.settings()["f"],
            float(state.kappas[i]),
            experiment.filter,
            experiment.policy,
            seed=int(fold(state.policy_key, i)),
            tally=experiment.tally,
            neighbours=may_hear[i],
        )
        for i in normal
    }
    for i, agent in live.items():
        for _ in range(parts.arms):
            arm = agent.select()
            agent.reward(arm, float(state.means[i, arm]))
    for time in range(experiment.horizon):
        pulls, means, totals = (values.copy() for values in (state.pulls, state.means, state.ever_totals))
        played.advance(time + 1)
        for i, agent in live.items():
            heard = set()
            for entry in range(state.inbox_starts[i], state.inbox_starts[i + 1]):
                sender, row = int(state.inbox_senders[entry]), state.inbox_rows[entry]
                # in a row that this round's pull left alone
                kept = row >= parts.agents or state.history > 1
                told = (state.told_pulls[row], state.told_means[row]) if kept else (pulls[sender], means[sender])
                if state.audits and sender < byzantine and state.expelled[edge_of(state, sender, i)]:
                    agent.expel(f"agent {sender}")
                agent.hear(f"agent {sender}", Report(*told))
                heard.add(f"agent {sender}")
            for sender in set(agent._inbox) - heard:
                agent.forget(sender)
            arm = agent.select()
            assert arm == state.choices[i], f"agent {i}, round {time}"
            agent.reward(arm, float(state.ever_totals[i, arm] - totals[i, arm]))


@pytest.mark.parametrize(("filter", "policy"), PAIRS)
def test_live_agents_choose_the_simulated_arms(filter, policy):
    replay(Experiment(agents=7, byzantine=2, f=1, filter=filter, policy=policy, attack="extreme", horizon=80))


@pytest.mark.parametrize("attack", ["alie", "mimic", "crafted:0.5,1.25,-0.3,switch=40", "alie:careful=1"])
def test_live_agents_that_expel_liars_choose_the_simulated_arms(attack):
    for f, spread in ((2, 0.0), ("auto", 0.0), (2, 0.2)):  # the last with differences that are measured
        replay(Experiment(agents=9, byzantine=2, f=f, filter="guarded", attack=attack, spread=spread, horizon=100))


def test_live_agents_follow_a_time_varying_graph():
    settings = {"graph": "erdos-renyi:0.7", "time_varying": True, "kappa": "random", "arms": "random:5"}
    replay(Experiment(agents=9, byzantine=2, f=1, attack="gaussian", horizon=150, **settings))


@pytest.mark.parametrize("settings", [{}, {"time_varying": True}, {"time_varying": True, "memory": 3}], ids=str)
@pytest.mark.parametrize("filter", ["trimmed", "screened"])
def test_live_agents_that_do_not_know_f_choose_the_simulated_arms(filter, settings):
    settings = {"agents": 12, "f": "auto", "graph": "erdos-renyi:0.7", "attack": "adaptive", "horizon": 120, **settings}
    replay(Experiment(filter=filter, **settings))


@pytest.mark.parametrize("tell", ["growth:0", "growth:0.1", "every:5"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"delay": 1}, {"graph": "erdos-renyi:0.7", "time_varying": True, "memory": 3}, {"subset": 4}],
    ids=str,
)
def test_live_agents_that_are_told_less_choose_the_simulated_arms(tell, settings):
    for filter, attack in (("trimmed", "constant"), ("pooled", "extreme"), ("screened", "alie")):
        replay(Experiment(agents=8, byzantine=2, filter=filter, attack=attack, tell=tell, horizon=100, **settings))


@pytest.mark.parametrize("tally", ["forget:0.95", "window:25"])
def test_live_agents_that_forget_choose_the_simulated_arms(tally):
    settings = {"agents": 7, "f": 1, "filter": "guarded", "attack": "extreme", "drift": "steps:30", "horizon": 100}
    replay(Experiment(tally=tally, **settings))


@pytest.mark.parametrize("tally", ["all", "forget:0.95", "window:25"])
def test_live_agents_keep_their_place_when_saved_and_loaded_in_every_round(tally):
    agent, twin = Agent(3, seed=5, tally=tally), Agent(3, seed=5, tally=tally)
    rng = np.random.default_rng(1)
    for _ in range(60):
        value = float(rng.random())
        arm = agent.select()
        assert arm == twin.select()
        twin = Agent.from_json(twin.to_json())
        agent.reward(arm, value)
        twin.reward(arm, value)
        told = Report(rng.integers(0, 20, 3).astype(float), rng.random(3))
        agent.hear("x", told)
        twin.hear("x", told)
    assert agent.to_json() == twin.to_json()
