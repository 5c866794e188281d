"""The variant that the paper's published code plays, where it differs from the text.

Ten agents on a complete graph, the first of which lies, f = 1, κ = 1.5, four arms. The Byzantine agent's counts are the
largest of the honest agents' when the round begins. Its means are 0 on every arm: the means that the text gives it go
to an array that the filter does not read. Agents move one after the other and see the earlier moves of the round. Ties
go to the lowest arm, which is the best one. docs/reading.md lists the differences.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.attacks.constant import PAPER_MEANS
from byzmab.core import draws
from byzmab.core.compiler import compiled_noinline
from byzmab.core.draws import fold, unit
from byzmab.core.filters.trimmed import believe
from byzmab.core.report import Floats, Heard, Integers
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import PAPER_ARMS
from byzmab.results.figure import STYLES, dress, new_axes, save_figure
from byzmab.results.outputs import Work, write_text
from byzmab.results.statistics import describe
from byzmab.simulation.sizes import grid_of
from byzmab.sweep.identity import algorithm_version
from byzmab.sweep.store import ResultStore

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AGENTS, F, KAPPA = 10, 1, 1.5
LIAR = 0
POINTS = 200  # of a curve
HORIZON = 10_000  # if not given
VARIANTS = {
    "as published: the liar's means are 0": (0.0,) * 4,
    "as published, with the means of the text": PAPER_MEANS,
}
OURS = "byzmab: constant, all at once, ties at random"


@compiled_noinline
def lowest_best(index: Floats) -> int:
    """The arm with the largest index, the lowest of those that are tied."""
    best = 0
    for arm in range(index.size):
        if index[arm] > index[best]:
            best = arm
    return best


@compiled_noinline
def consistent(pulls: Floats, means: Floats, agent: int, arm: int, out: Floats) -> int:
    """The means of the others that pass step A; return how many there are."""
    count = 0
    for other in range(pulls.shape[0]):
        if other != agent and KAPPA * pulls[other, arm] >= pulls[agent, arm]:
            out[count] = means[other, arm]
            count += 1
    return count


@compiled_noinline
def move(pulls: Floats, means: Floats, agent: int, time: int, index: Floats, heard: Floats) -> int:
    """The arm that an agent chooses from what everyone holds at this moment."""
    for arm in range(index.size):
        count = consistent(pulls, means, agent, arm, heard)
        own = Heard(heard[:0], heard[:count], pulls[agent, arm], means[agent, arm], F, KAPPA, time, 0, heard[:0], None)
        estimate, weight, _ = believe(own)
        index[arm] = estimate + math.sqrt(2.0 * math.log(time) / weight)
    return lowest_best(index)


@compiled_noinline
def play(key: np.uint64, true_means: Floats, told: Floats, grid: Integers) -> Floats:
    """One run: the regret per honest agent at the rounds of a grid; `told` are the Byzantine agent's means."""
    arms = true_means.size
    pulls, means = np.ones((AGENTS, arms)), np.zeros((AGENTS, arms))
    for agent in range(AGENTS):
        for arm in range(arms):
            drawn = unit(fold(fold(fold(key, agent), arm), 0)) < true_means[arm]
            means[agent, arm] = told[arm] if agent == LIAR else 1.0 * drawn
    index, heard, regret = np.empty(arms), np.empty(AGENTS), np.zeros(grid.size)
    total, recorded, best = 0.0, 0, true_means.max()
    for time in range(1, grid[-1] + 1):
        for arm in range(arms):
            most = 0.0
            for agent in range(LIAR + 1, AGENTS):
                most = max(most, pulls[agent, arm])
            pulls[LIAR, arm] = most
        for agent in range(LIAR + 1, AGENTS):
            arm = move(pulls, means, agent, time, index, heard)
            count = pulls[agent, arm]
            gained = unit(fold(fold(fold(key, agent), arm), int(count))) < true_means[arm]
            means[agent, arm] = (means[agent, arm] * count + gained) / (count + 1.0)
            pulls[agent, arm] = count + 1.0
            total += best - true_means[arm]
        if time == grid[recorded]:
            regret[recorded] = total / (AGENTS - 1)
            recorded += 1
    return regret


@dataclass(frozen=True)
class AsPublished:
    """Regret of the variants and of our reading, by run and round."""

    rounds: Integers
    curves: dict[str, Floats]

    def summary(self) -> dict[str, Any]:
        """Plain numbers at the horizon."""
        return {"curves": {label: describe(values[:, -1]) for label, values in self.curves.items()}}

    def draw(self) -> "Axes":
        """Mean curves with the band of the published code: from the smallest to the largest run."""
        axes = new_axes()
        for (label, values), (color, dashes) in zip(self.curves.items(), STYLES, strict=False):
            axes.plot(self.rounds, values.mean(axis=0), color=color, linestyle=dashes, linewidth=1.8, label=label)
            low, high = values.min(axis=0), values.max(axis=0)
            axes.fill_between(self.rounds, low, high, color=color, alpha=0.12, linewidth=0)
        dress(axes, int(self.rounds[-1]))
        return axes

    def write(self, directory: Path) -> list[Path]:
        """The figure and the numbers."""
        numbers = write_text(directory / "as-published.json", json.dumps(self.summary(), indent=2) + "\n")
        return [*save_figure(self.draw(), directory / "as-published"), numbers]


def work_of(runs: int, seed: int, horizon: int) -> Work:
    """What is made in a directory; runs may be added to it."""
    same = {"seed": seed, "horizon": horizon, "version": algorithm_version()}
    files = tuple(f"as-published.{suffix}" for suffix in ("png", "pdf", "json"))
    return Work("byzmab reproduce --as-published", files, same, {"runs": runs})


def play_as_published(
    runs: int, seed: int, horizon: int, store: ResultStore, workers: int | None = None
) -> AsPublished:
    """Play the published variant, the same with the means of the text, and our own reading of the paper."""
    ours = Experiment(byzantine=1, f=F, kappa=KAPPA, runs=runs, seed=seed, horizon=horizon, record=POINTS)
    grid, true_means = grid_of(horizon, POINTS), np.array(PAPER_ARMS)
    keys = [draws.key_of(seed, run, draws.REWARD) for run in range(runs)]
    curves = {
        label: np.array([play(key, true_means, np.array(told), grid) for key in keys])
        for label, told in VARIANTS.items()
    }
    return AsPublished(grid, {**curves, OURS: store.get(ours, workers=workers).network_regret})
