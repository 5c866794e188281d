"""Bounds beside what is measured: the theorems' numbers for any experiment."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers
from byzmab.experiment.absent import check_present
from byzmab.experiment.assumptions import most_liars, outside_the_model, warn_of, why_no_bound
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import f_of_agents
from byzmab.graphs.erdos_renyi import ErdosRenyi
from byzmab.results.figure import draw_band, dress, new_axes
from byzmab.simulation.sizes import grid_of, is_always_same
from byzmab.simulation.widths import WidthRun
from byzmab.theory.bounds import lower_rate, ucb1_bound
from byzmab.theory.communication import most_arms_told
from byzmab.theory.conditions import chance_of_enough, enough, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Bounds:
    """The theorems' numbers, per honest agent and averaged over runs, and the regret measured in those runs.

    The upper bounds are NaN for agents for which the paper proves none.
    """

    experiment: Experiment
    rounds: Integers
    degrees: Floats  # honest agents: neighbours, or what to expect of them
    regret: Floats  # run × honest agent × round
    plain: Floats  # run × honest agent × round: the upper bound at τ = T
    tight: Floats  # run × honest agent: with the minimum over τ, at the horizon
    ucb1: Floats  # run × round
    told: float | None  # arms told over an edge, on average; None where edges come and go
    missing: str  # why some upper bounds are not there; empty if all are

    def summary(self) -> dict[str, Any]:
        """As plain data; agents are numbered from 1."""
        parts, byzantine = self.experiment.parts, self.experiment.parts.byzantine
        fs = f_of_agents(self.experiment)[byzantine:]
        rates = zip(enough(self.degrees, fs), lower_rate(self.degrees, fs), strict=True)
        agents = [
            {
                "agent": parts.normal[row] + 1,
                "neighbours": float(self.degrees[row]),
                "meets_3f_plus_1": bool(meets),
                "lower_rate": float(rate),
                "regret": float(self.regret[:, row, -1].mean()),
                "upper_bound": _known(self.plain[:, row, -1].mean()),
                "upper_bound_min_tau": _known(self.tight[:, row].mean()),
            }
            for row, (meets, rate) in enumerate(rates)
        ]
        chance = None
        if isinstance(parts.graph, ErdosRenyi) and parts.f >= 0:  # with auto everyone has enough
            chance = chance_of_enough(parts.graph.q, parts.agents, parts.f)
        return {
            "experiment": self.experiment.settings(),
            "ucb1_bound": float(self.ucb1[:, -1].mean()),
            "needed_neighbours": needed(int(fs.max())),
            "chance_of_enough": chance,
            "most_arms_told": most_arms_told(parts.tell, parts.arms, self.experiment.horizon),
            "arms_told": self.told,
            "why_no_upper_bound": self.missing or None,
            "agents": agents,
        }

    def plot(self) -> "Axes":
        """Measured regret below the two upper bounds, all averaged over the honest agents that have the paper's."""
        axes = new_axes()
        proved = ~np.isnan(self.tight[0])
        chosen = proved if proved.any() else ~proved
        draw_band(axes, self.rounds, self.regret[:, chosen].mean(axis=1), "measured regret")
        if proved.any():
            draw_band(axes, self.rounds, self.plain[:, proved].mean(axis=1), "the paper's upper bound, from recorded g")
        draw_band(axes, self.rounds, self.ucb1, "UCB1's bound", alone=True)
        dress(axes, self.experiment.horizon)
        axes.set_yscale("log")
        axes.set_ylim(bottom=1.0)
        axes.legend(frameon=False, loc="lower right")
        return axes


def measure(experiment: Experiment, progress: Callable[[int, int], None] | None = None) -> Bounds:
    """Play every run round by round, recording g = n / w of every honest agent and arm.

    Where some honest agent can hear more than f Byzantine agents, a warning says so, and that agent has no upper bound.
    """
    if experiment.parts.baseline is not None:
        raise BadInput(f"algorithm {experiment.algorithm!r} has no bound here; allowed: resilient")
    if experiment.parts.contexts is not None:
        raise BadInput(f"context {experiment.context} has no bound here; allowed: 0")
    check_present(experiment)
    warn_of([experiment], stacklevel=3)
    grid = grid_of(experiment.horizon, experiment.record)
    byzantine, normal = experiment.parts.byzantine, experiment.parts.agents - experiment.parts.byzantine
    shape = experiment.runs, normal, grid.size
    regret, plain, tight = np.empty(shape), np.empty(shape), np.empty(shape[:2])
    ucb1 = np.empty((experiment.runs, grid.size))
    told, edges = 0, 0
    for run in range(experiment.runs):
        played = WidthRun(experiment, run)
        means = played.state.true_means
        for column, when in enumerate(grid.tolist()):
            played.advance(when)
            plain[run, :, column] = played.widths.plain()[byzantine:]
            if progress is not None:
                progress(run * experiment.horizon + when, experiment.runs * experiment.horizon)
        regret[run], tight[run] = played.state.regret, played.widths.tight()[byzantine:]
        told += played.state.arms_told
        edges += played.state.edges
        ucb1[run] = [ucb1_bound(means, int(when)) for when in grid]
    degrees = experiment.parts.placed.degrees(experiment.parts.agents, byzantine)[byzantine:]
    plain[:, unproved(experiment)] = tight[:, unproved(experiment)] = np.nan
    per_edge = told / edges if edges > 0 and is_always_same(experiment) else None
    return Bounds(experiment, grid, degrees, regret, plain, tight, ucb1, per_edge, why_no_bound(experiment))


def unproved(experiment: Experiment) -> NDArray[np.bool_]:
    """Which honest agents have no upper bound, as an assumption of the theorem fails for them."""
    normal = slice(experiment.parts.byzantine, None)
    if outside_the_model(experiment):
        return np.ones(experiment.parts.agents, np.bool_)[normal]
    if not experiment.parts.filter.trims:  # hears nobody
        return np.zeros(experiment.parts.agents, np.bool_)[normal]
    return np.asarray(most_liars(experiment) > f_of_agents(experiment))[normal]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
