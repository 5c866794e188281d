"""Live agents with contexts, fed the draws of a simulated run, choose the simulated arms, round by round."""

import numpy as np
import pytest

from byzmab import Agent, ContextReport, Experiment
from byzmab.core.contexts.reports import parts_of
from byzmab.core.draws import fold
from byzmab.simulation.single_run import Run

D = 3


def report_of(rows):
    return ContextReport(rows[:, 0].copy(), *parts_of(rows, D))


def first_pulls(agent, rows):
    """Pull every arm once, as the run has: of one pull G tells the context, and b the reward."""
    for arm, (moment, gram) in enumerate(zip(*parts_of(rows, D), strict=True)):
        x = gram[:, 0] / np.sqrt(gram[0, 0])
        assert agent.select(x) == arm
        agent.reward(arm, 0.5 + float(x @ moment / (x @ x)), x)


@pytest.mark.parametrize("shares", ["equal", "information", "projection"])
def test_live_agents_choose_the_simulated_arms(shares):
    settings = {"filter": "pooled", "policy": "tuned", "shares": shares}
    experiment = Experiment(
        context=D, arms="random:3", agents=8, byzantine=2, f=2, attack="none", horizon=80, **settings
    )
    run = Run(experiment, 0)
    state, normal = run.state, range(2, 8)
    key = state.policy_key
    live = {i: Agent(3, 2, context=D, seed=int(fold(key, i)), **settings) for i in normal}
    for i, agent in live.items():
        first_pulls(agent, state.statistics[i])
    for time in range(experiment.horizon):
        before = state.statistics.copy()
        run.advance(time + 1)
        for i, agent in live.items():
            for entry in range(state.inbox_starts[i], state.inbox_starts[i + 1]):
                sender, row = int(state.inbox_senders[entry]), int(state.inbox_rows[entry])
                agent.hear(sender, report_of(before[sender] if row < 8 else state.told_statistics[row]))
            x, arm = state.contexts[i], int(state.choices[i])
            assert agent.select(x) == arm, f"agent {i}, round {time}"
            moved = state.statistics[i, arm, 1 : 1 + D] - before[i, arm, 1 : 1 + D]
            agent.reward(arm, min(max(0.5 + float(x @ moved / (x @ x)), 0.0), 1.0), x)
