"""Shared by the tests of baselines: figures of independent prototypes, and runs choice by choice."""

from typing import Any, NamedTuple

from byzmab import Experiment, simulate
from byzmab.simulation.single_run import Run

THEIR_RUNS = 50
FIRST_PULLS = 0.35  # regret of pulling every arm once, which prototypes count: no error is taken to be smaller
EDGE = "crafted:0,0,0"  # the most harmful honest value: the smallest on the best arm, the largest elsewhere
FORTY = {"agents": 40, "byzantine": 4}
SEVENTY_EIGHT = {"agents": 78, "byzantine": 15}
RING = {"f": 0, "graph": "ring", "byzantine": 0}


class Anchor(NamedTuple):
    """What a prototype measured: ten agents, two liars, the paper's arms, T = 10⁴, complete graph, 50 runs."""

    algorithm: str
    attack: str
    settings: dict[str, Any]  # what is different
    regret: float
    stderr: float | None  # None: not told

    def errors_off(self, runs):
        """Our mean, its error, theirs, and by how many errors the two differ; as many as ours where none was told."""
        mean, ours = regret_of(self.algorithm, self.attack, runs=runs, **self.settings)
        theirs = ours * (runs / THEIR_RUNS) ** 0.5 if self.stderr is None else self.stderr
        return mean, ours, theirs, (mean - self.regret) / max((ours**2 + theirs**2) ** 0.5, FIRST_PULLS)


ANCHORS = [
    Anchor(*figures)
    for figures in [
        ("resilient", "none", {"filter": "solo", "policy": "ucb:0.25"}, 54.9, 0.9),
        ("resilient", "none", {"filter": "solo", "policy": "ucb:1"}, 150.6, 2.1),
        ("resilient", "none", {"filter": "solo", "policy": "ucb:2"}, 230.0, 1.0),
        ("resilient", "none", {"filter": "solo", "policy": "ucb:3"}, 282.9, 2.2),
        ("resilient", "none", {"filter": "solo", "policy": "ucb:4"}, 326.4, 1.9),
        ("gosine", "none", {}, 240.2, 1.4),
        ("gosine", "constant", {}, 239.4, None),
        ("gosine", "extreme", {}, 277.5, 2.5),
        ("gosine", "smart", {}, 304.3, 1.7),
        ("gosine:beta=2", "none", {}, 263.1, 2.1),
        ("gosine:beta=2", "constant", {}, 258.0, None),
        ("gosine:beta=2", "extreme", {}, 314.7, 1.8),
        ("gosine:beta=2", "smart", {}, 320.9, 1.4),
        ("gosine:alpha=2,beta=2", "none", {}, 186.3, 1.8),
        ("gosine:alpha=2,beta=2", "constant", {}, 185.6, None),
        ("gosine:alpha=2,beta=2", "extreme", {}, 220.7, 1.4),
        ("gosine:alpha=2,beta=2", "smart", {}, 229.0, 1.3),
        ("gosine:alpha=0.25,beta=2", "none", {}, 45.4, 1.7),
        ("gosine:alpha=0.25,beta=2", "constant", {}, 46.6, None),
        ("gosine:alpha=0.25,beta=2", "extreme", {}, 52.1, 1.7),
        ("gosine:alpha=0.25,beta=2", "smart", {}, 54.2, 2.0),
        ("vial-2021", "none", {}, 246.2, 2.9),
        ("vial-2021", "constant", {}, 245.5, None),
        ("vial-2021", "extreme", {}, 288.3, 5.9),
        ("vial-2021", "smart", {}, 330.7, 7.5),
        ("vial-2021:alpha=2", "none", {}, 181.2, 2.9),
        ("vial-2021:alpha=2", "constant", {}, 180.9, None),
        ("vial-2021:alpha=2", "extreme", {}, 195.3, 3.0),
        ("vial-2021:alpha=2", "smart", {}, 272.9, 8.8),
        ("vial-2021:alpha=0.25", "none", {}, 41.5, 1.4),
        ("vial-2021:alpha=0.25", "constant", {}, 46.4, None),
        ("vial-2021:alpha=0.25", "extreme", {}, 53.2, 2.5),
        ("vial-2021:alpha=0.25", "smart", {}, 65.0, 4.4),
        ("vial-2022", "none", {}, 264.1, 2.5),
        ("vial-2022", "extreme", {}, 310.9, 1.7),
        ("vial-2022", "smart", {}, 315.0, 1.9),
        ("vial-2022:alpha=2", "none", {}, 187.4, 2.0),
        ("vial-2022:alpha=2", "extreme", {}, 212.6, 1.8),
        ("vial-2022:alpha=2", "smart", {}, 219.6, 2.0),
        ("vial-2022:alpha=0.25", "none", {}, 42.6, 1.4),
        ("vial-2022:alpha=0.25", "extreme", {}, 49.0, 2.6),
        ("vial-2022:alpha=0.25", "smart", {}, 52.6, 2.9),
        ("dducb", "none", {"f": 0}, 29.6, 0.9),
        ("dducb", "constant", {"f": 0}, 503.8, None),
        ("dducb", "extreme", {"f": 0}, 1165.1, None),
        ("dducb", "none", {}, 8.6, 1.3),
        ("dducb", "constant", {}, 503.3, None),
        ("dducb", "extreme", {}, 524.6, None),
        ("dducb", "none", RING, 31.8, 0.9),
        ("dducb:plain=1", "none", RING, 31.7, 0.8),
        ("dducb", "none", {"f": 0, "agents": 1, "byzantine": 0}, 152.3, 3.5),
        ("coop-ucb:1", "none", {"f": 0}, 13.8, 0.6),
        ("coop-ucb:1", "constant", {"f": 0}, 501.5, None),
        ("coop-ucb:1", "extreme", {"f": 0}, 1164.3, None),
        ("coop-ucb:2", "none", {"f": 0}, 24.0, 0.6),
        ("coop-ucb:2", "constant", {"f": 0}, 503.0, None),
        ("coop-ucb:2", "extreme", {"f": 0}, 1165.0, None),
        ("coop-ucb:2", "none", {}, 11.7, 5.4),
        ("coop-ucb:2", "constant", {}, 502.4, None),
        ("coop-ucb:2", "extreme", {}, 524.2, None),
        ("coop-ucb:1", "none", {}, 49.2, 19.5),
        ("coop-ucb:1", "constant", {}, 500.9, None),
        ("coop-ucb:1", "extreme", {}, 512.4, None),
        ("demabar:16", "none", {}, 214.1, 4.6),
        ("demabar:16", "extreme", {}, 298.3, 4.9),
        ("demabar:16", EDGE, {}, 298.3, 4.9),
        ("demabar:8", "none", {}, 143.9, 4.0),
        ("demabar:8", "extreme", {}, 240.0, 8.3),
        ("demabar:8", EDGE, {}, 240.0, 8.3),
        ("demabar:4", "none", {}, 84.3, 2.6),
        ("demabar:4", "extreme", {}, 195.0, 11.8),
        ("demabar:4", EDGE, {}, 195.0, 11.8),
        ("demabar:2", "none", {}, 110.8, 16.7),
        ("demabar:2", "extreme", {}, 392.4, 42.0),
        ("demabar", "none", {}, 874.9, None),
        ("demabar", "extreme", {}, 874.9, None),
        ("demabar:4", "none", FORTY, 21.3, None),
        ("demabar:4", "extreme", FORTY, 65.6, None),
        ("demabar:4", "none", {"f": 0}, 73.2, None),
        ("demabar:4", "constant", {"f": 0}, 166.0, None),
        ("demabar:4", "extreme", {"f": 0}, 569.0, None),
        ("demabar:16", "none", {"f": 0}, 172.0, None),
        ("demabar:16", "constant", {"f": 0}, 255.0, None),
        ("demabar:16", "extreme", {"f": 0}, 641.0, None),
        ("median-elimination", "none", {}, 685.6, None),
        ("median-elimination", "extreme", {}, 685.6, None),
        ("median-elimination", "none", {"horizon": 100_000}, 1831.0, None),
        ("median-elimination", "extreme", {"horizon": 100_000}, 1831.0, None),
        ("median-elimination", "none", FORTY, 401.0, None),
        ("median-elimination:constant=0", "none", {}, 428.9, None),
        ("median-elimination:constant=0", "extreme", {}, 525.3, None),
        ("median-elimination:constant=0", "none", FORTY, 203.0, None),
        ("median-elimination:groups=1", "none", {}, 389.6, 3.1),
        ("median-elimination:groups=1", "constant", {}, 407.4, 2.6),
        ("median-elimination:groups=1", "extreme", {}, 416.5, 3.2),
        ("median-elimination:groups=1", EDGE, {}, 416.5, 3.2),
        ("median-elimination:groups=1,share=0.2", "none", SEVENTY_EIGHT, 396.0, None),
        ("median-elimination:groups=1,share=0.2", "extreme", SEVENTY_EIGHT, 419.0, None),
    ]
]
NOT_FOUND_AGAIN = [  # docs/concepts/baselines.md says so
    ("dducb", "extreme", {}),
    ("coop-ucb:2", "extreme", {}),
    ("median-elimination:constant=0", "none", {}),  # a transcription agrees with ours
    ("median-elimination:constant=0", "none", FORTY),
]


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
        choices.append(played.state.choices.tolist())
    return choices


def alone(experiment, alpha):
    """The same agents with UCB(α) and nobody to listen to."""
    return experiment.but(algorithm="resilient", filter="solo", policy=f"ucb:{alpha}")
