"""One run sampled while it is played: the fates of reports in some rounds, and the bound from the recorded g."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

import numpy as np

from byzmab.core.filters.fates import Fate
from byzmab.dashboard.lab.context_round_view import ContextRoundView, heard_by, play_round_at
from byzmab.dashboard.lab.round_view import RoundView, fates_of, play_round
from byzmab.experiment.assumptions import why_no_bound
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.single_run import Run
from byzmab.simulation.sizes import grid_of
from byzmab.simulation.widths import WidthRun

EXPLANATIONS = 20_000  # of one agent's reports on one arm, in all
FEWEST, MOST_SAMPLES = 4, 40  # rounds of which all reports are explained


class SampledRun:
    """The first run, with the fates of reports counted in sampled rounds, and the paper's bound."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.run = _first_run(experiment)
        self.samples = sample_rounds(experiment)
        self.fates = [Counter[Fate]() for _ in range(experiment.parts.agents)]  # of the reports that each told
        self.looked = 0
        self.bound: list[float] = []  # on the grid, the honest agents' average
        self._grid = grid_of(experiment.horizon, experiment.record).tolist()
        self._stops = sorted({*self.samples, *self._grid})

    def advance(self, until: int) -> None:
        """Advance to round `until`, counting fates in sampled rounds and the bound on the grid."""
        begun = self.run.state.time
        for stop in self._stops[bisect_left(self._stops, begun) : bisect_left(self._stops, until)]:
            self._play_to(stop)
            if stop in self.samples:
                self._count()
        self._play_to(until)

    def counts(self) -> list[dict[str, int]]:
        """How often each agent's reports met each fate so far."""
        return [{str(fate): count for fate, count in counted.items()} for counted in self.fates]

    def _play_to(self, until: int) -> None:
        self.run.advance(until)
        due = len(self.bound) < len(self._grid) and until == self._grid[len(self.bound)]
        if due and isinstance(self.run, WidthRun):
            self.bound.append(float(self.run.widths.plain()[self.experiment.parts.byzantine :].mean()))

    def _count(self) -> None:
        """Play a round, and count what became of its reports."""
        self.looked += 1
        view, fates = _looked_into(self.experiment, self.run)
        for agent in range(self.experiment.parts.byzantine, self.experiment.parts.agents):
            for column in fates(agent):
                for report, fate in enumerate(column):
                    self.fates[view.senders[view.starts[agent] + report]][fate] += 1


def _first_run(experiment: Experiment) -> Run:
    kind = Run if why_no_bound(experiment) else WidthRun
    return kind(experiment, 0, dense=False)  # the dense path lists no honest reports


def _looked_into(
    experiment: Experiment, run: Run
) -> tuple[RoundView | ContextRoundView, Callable[[int], list[list[Fate]]]]:
    """Play a round; its view, and what became of the reports that an agent heard."""
    if experiment.parts.contexts is not None:
        at_contexts = play_round_at(run)
        return at_contexts, lambda agent: heard_by(experiment, at_contexts, agent).fates
    view = play_round(run)
    return view, lambda agent: fates_of(experiment, view, agent)


def sample_rounds(experiment: Experiment) -> frozenset[int]:
    """The times at which reports are explained: evenly spread, each with a decision, and as many as is quick."""
    parts, epoch = experiment.parts, experiment.epoch
    if parts.baseline is not None:
        return frozenset()
    count = EXPLANATIONS // ((parts.agents - experiment.parts.byzantine) * parts.arms)
    spread = np.linspace(0, experiment.horizon - 1, min(max(count, FEWEST), MOST_SAMPLES, experiment.horizon))
    return frozenset((spread.astype(int) // epoch * epoch).tolist())
