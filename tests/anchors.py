"""Shared by the tests of baselines: figures of independent prototypes, and runs choice by choice."""

from byzmab import Experiment, simulate
from byzmab.simulation.single_run import Run


def regret_of(algorithm, attack="none", **settings):
    """Mean regret and its standard error on the paper's four arms: ten agents, two liars, T = 10⁴."""
    chosen = {"runs": 20, "record": 1, **settings}
    summary = simulate(Experiment(algorithm=algorithm, attack=attack, **chosen)).summary()["regret"]
    return summary["mean"], summary["stderr"]


def assert_near(measured, anchor, errors=4.0):
    """Two means differ by at most so many standard errors of their difference."""
    (mean, stderr), (expected, their_stderr) = measured, anchor
    allowed = errors * (stderr**2 + their_stderr**2) ** 0.5
    assert abs(mean - expected) <= allowed, f"{mean:.1f} ± {stderr:.1f}, not {expected} ± {their_stderr}"


def choices_of(experiment, run=0):
    """The arm of every agent in every round."""
    played = Run(experiment, run)
    choices = []
    for time in range(experiment.horizon):
        played.advance(time + 1)
        choices.append(played.state["choices"].tolist())
    return choices


def alone(experiment, alpha):
    """The same agents with UCB(α) and nobody to listen to."""
    return experiment.but(algorithm="resilient", filter="solo", policy=f"ucb:{alpha}")
