"""The witness: one run watched closely, for what became of reports and for the width that the bound needs."""

from bisect import bisect_left
from collections import Counter

import numpy as np

from byzmab.core.filters import FILTERS
from byzmab.core.filters.fates import Fate
from byzmab.core.policies import POLICIES
from byzmab.dashboard.lab.sight import Sight, fates_of, look
from byzmab.simulation.experiment import Experiment, Parts
from byzmab.simulation.single_run import Run, grid_of
from byzmab.simulation.widths import WidthRun

EXPLANATIONS = 20_000  # of one agent's reports on one arm, in all
FEWEST, MOST_SAMPLES = 4, 40  # rounds of which all reports are explained
BASE_MODEL = {"memory": 0, "subset": None, "epoch": 1, "delay": 0}


class Witness:
    """The first run, played beside the others."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.stage = (Run if why_no_bound(experiment) else WidthRun)(experiment, 0)
        self.samples = sample_rounds(experiment)
        self.fates = [Counter[Fate]() for _ in range(experiment.parts.agents)]  # of the reports that each told
        self.looked = 0
        self.bound: list[float] = []  # on the grid, the normal agents' average
        self._grid = grid_of(experiment.horizon, experiment.record).tolist()
        self._stops = sorted({*self.samples, *self._grid})

    def advance(self, until: int) -> None:
        """Play up to a round, looking up where there is something to see."""
        begun = int(self.stage.state.record["time"])
        for stop in self._stops[bisect_left(self._stops, begun) : bisect_left(self._stops, until)]:
            self._play_to(stop)
            if stop in self.samples:
                self._count(look(self.stage))
        self._play_to(until)

    def counts(self) -> list[dict[str, int]]:
        """How often each agent's reports met each fate so far."""
        return [{str(fate): count for fate, count in counted.items()} for counted in self.fates]

    def _play_to(self, until: int) -> None:
        self.stage.advance(until)
        due = len(self.bound) < len(self._grid) and until == self._grid[len(self.bound)]
        if due and isinstance(self.stage, WidthRun):
            self.bound.append(float(self.stage.widths.plain()[self.experiment.byzantine :].mean()))

    def _count(self, sight: Sight) -> None:
        self.looked += 1
        for agent in range(self.experiment.byzantine, self.experiment.parts.agents):
            for column in fates_of(self.experiment, sight, agent):
                for place, fate in enumerate(column):
                    self.fates[sight.senders[sight.starts[agent] + place]][fate] += 1


def sample_rounds(experiment: Experiment) -> frozenset[int]:
    """The times at which reports are explained: evenly spread, each with a decision, and as many as is quick."""
    parts, epoch = experiment.parts, experiment.epoch
    if parts.baseline is not None:
        return frozenset()
    count = EXPLANATIONS // ((parts.agents - experiment.byzantine) * parts.arms)
    spread = np.linspace(0, experiment.horizon - 1, min(max(count, FEWEST), MOST_SAMPLES, experiment.horizon))
    return frozenset((spread.astype(int) // epoch * epoch).tolist())


def why_no_bound(experiment: Experiment) -> str:
    """Why the paper's upper bound does not hold here, in a few words; empty where it does."""
    parts = experiment.parts
    if parts.baseline is not None or _names(parts) not in (("trimmed", "ucb"), ("solo", "ucb")):
        return "the paper proves it for filter trimmed with policy ucb"
    for name, usual in BASE_MODEL.items():
        if getattr(experiment, name) != usual:
            return f"the paper proves it without {name}"
    if parts.f < experiment.byzantine and parts.filter.trims and not _few_liars(experiment):
        return "f is smaller than the number of liars that an agent may hear"
    return ""


def _names(parts: Parts) -> tuple[str, str]:
    """Filter and policy by their shortest names: `ucb:2` is `ucb`."""
    return FILTERS.name_of(parts.filter), POLICIES.name_of(parts.policy)


def _few_liars(experiment: Experiment) -> bool:
    """Whether no normal agent of the first run hears more than f liars."""
    if experiment.time_varying and experiment.parts.graph.random:
        return False
    stage = Run(experiment, 0)
    stage.advance(1)
    starts, graph, byzantine = stage.state["graph_starts"], stage.state["graph"], experiment.byzantine
    return all(
        (graph[starts[agent] : starts[agent + 1]] < byzantine).sum() <= experiment.parts.f
        for agent in range(byzantine, experiment.parts.agents)
    )
