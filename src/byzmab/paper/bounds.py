"""Bounds beside what is measured: the theorems' numbers for any experiment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.core.report import Floats, Integers
from byzmab.graphs.erdos_renyi import ErdosRenyi
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.figure import draw_band, dress, new_axes
from byzmab.simulation.single_run import grid_of
from byzmab.simulation.widths import WidthRun
from byzmab.theory.bounds import lower_rate, ucb1_bound
from byzmab.theory.conditions import chance_of_enough, enough, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Bounds:
    """The theorems' numbers, per normal agent and averaged over runs, and the regret measured in those runs."""

    experiment: Experiment
    rounds: Integers
    degrees: Floats  # normal agents: neighbours, or what to expect of them
    regret: Floats  # run × normal agent × round
    plain: Floats  # run × normal agent × round: the upper bound at τ = T
    tight: Floats  # run × normal agent: with the minimum over τ, at the horizon
    ucb1: Floats  # run × round

    def summary(self) -> dict[str, Any]:
        """As plain data; agents are numbered from 1."""
        f, first = self.experiment.parts.f, self.experiment.byzantine + 1
        graph = self.experiment.parts.graph
        agents = [
            {
                "agent": first + place,
                "neighbours": float(self.degrees[place]),
                "meets_3f_plus_1": bool(meets),
                "lower_rate": float(rate),
                "regret": float(self.regret[:, place, -1].mean()),
                "upper_bound": float(self.plain[:, place, -1].mean()),
                "upper_bound_min_tau": float(self.tight[:, place].mean()),
            }
            for place, (meets, rate) in enumerate(
                zip(enough(self.degrees, f), lower_rate(self.degrees, f), strict=True)
            )
        ]
        chance = chance_of_enough(graph.q, self.experiment.parts.agents, f) if isinstance(graph, ErdosRenyi) else None
        return {
            "experiment": self.experiment.settings(),
            "ucb1_bound": float(self.ucb1[:, -1].mean()),
            "needed_neighbours": needed(f),
            "chance_of_enough": chance,
            "agents": agents,
        }

    def plot(self) -> "Axes":
        """Measured regret below the two upper bounds, all averaged over normal agents."""
        axes = new_axes()
        draw_band(axes, self.rounds, self.regret.mean(axis=1), "measured regret")
        draw_band(axes, self.rounds, self.plain.mean(axis=1), "the paper's upper bound, from recorded g")
        draw_band(axes, self.rounds, self.ucb1, "UCB1's bound", alone=True)
        dress(axes, self.experiment.horizon)
        axes.set_yscale("log")
        axes.set_ylim(bottom=1.0)
        axes.legend(frameon=False, loc="lower right")
        return axes


def measure(experiment: Experiment, progress: Callable[[int, int], None] | None = None) -> Bounds:
    """Play every run, recording g = n / w of every normal agent and arm."""
    grid = grid_of(experiment.horizon, experiment.record)
    byzantine, normal = experiment.byzantine, experiment.parts.agents - experiment.byzantine
    shape = experiment.runs, normal, grid.size
    regret, plain, tight = np.empty(shape), np.empty(shape), np.empty(shape[:2])
    ucb1 = np.empty((experiment.runs, grid.size))
    for run in range(experiment.runs):
        played = WidthRun(experiment, run)
        means = played.state["true_means"]
        for column, when in enumerate(grid.tolist()):
            played.advance(when)
            plain[run, :, column] = played.widths.plain()[byzantine:]
            if progress is not None:
                progress(run * experiment.horizon + when, experiment.runs * experiment.horizon)
        regret[run], tight[run] = played.state["regret"], played.widths.tight()[byzantine:]
        ucb1[run] = [ucb1_bound(means, int(when)) for when in grid]
    degrees = experiment.parts.graph.degrees(experiment.parts.agents, byzantine)[byzantine:]
    return Bounds(experiment, grid, degrees, regret, plain, tight, ucb1)
