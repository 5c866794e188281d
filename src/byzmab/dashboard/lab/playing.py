"""Playing an experiment for a page: all runs side by side, block by block, with an update after each block."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.dashboard.lab.sampled_run import SampledRun
from byzmab.paper.figures import alone
from byzmab.simulation.assumptions import why_no_bound
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import REPORT_BYTES_PER_ARM
from byzmab.simulation.single_run import Run, grid_of
from byzmab.simulation.spread import Stopped

FRAMES = 50  # of a whole run: to call compiled code takes a fifth of a millisecond, and each run is called once a frame
Update = dict[str, Any]  # of the page's curves


class Playing:
    """An experiment being played, beside the same agents alone; `stop` ends it within a block."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._stop = threading.Event()

    def stop(self) -> None:
        """Have `updates` end within a block."""
        self._stop.set()

    def updates(self) -> Iterator[Update]:
        """Play; yield after each block what is new since the one before. Ends early when stopped."""
        experiment, began = self.experiment, time.perf_counter()
        runs = range(experiment.runs)
        others = alone(experiment)
        stages, solo = ([Run(each, run) for run in runs] for each in (experiment, others))
        sampled = SampledRun(experiment)
        grid = grid_of(experiment.horizon, experiment.record)
        rounds, done = -(-experiment.horizon // FRAMES), 0
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            while done < experiment.horizon and not self._stop.is_set():
                before, done = done, min(done + rounds, experiment.horizon)
                try:
                    list(pool.map(lambda stage, until=done: self._play(stage, until), [*stages, *solo]))
                    self._play(sampled, done)  # plain Python, which beside the others would keep them waiting
                except Stopped:
                    return
                new = slice(*np.searchsorted(grid, (before, done), "right"))
                yield {
                    "done": done,
                    "rounds": grid[new].tolist(),
                    "regret": _spread(stages, new),
                    "solo": _spread(solo, new),
                    "bound": sampled.bound[new],
                    "shares": self._shares(stages, done),
                    "messages": float(np.mean([stage.state.record["messages"] for stage in stages])),
                    "bytes": REPORT_BYTES_PER_ARM
                    * float(np.mean([stage.state.record["arms_told"] for stage in stages])),
                    "fates": sampled.counts(),
                    "looked": sampled.looked,
                    "seconds": time.perf_counter() - began,
                }

    def _play(self, stage: Run | SampledRun, until: int) -> None:
        if self._stop.is_set():
            raise Stopped
        stage.advance(until)

    def _shares(self, stages: Sequence[Run], done: int) -> list[float]:
        """The normal agents' share of pulls by arm so far, over all runs; the first pull of each arm is outside."""
        pulls = [stage.state["pulls"][self.experiment.byzantine :].mean(axis=0) - 1.0 for stage in stages]
        return (np.mean(pulls, axis=0) / done).tolist()  # type: ignore[no-any-return]


def announce(experiment: Experiment) -> dict[str, Any]:
    """What is known of an experiment before its first update."""
    parts, missing = experiment.parts, why_no_bound(experiment)
    bound = "the paper's upper bound, from the g recorded in the first run"
    return {
        "agents": parts.agents,
        "byzantine": experiment.byzantine,
        "arms": parts.arms,
        "horizon": experiment.horizon,
        "runs": experiment.runs,
        "solo": repr(alone(experiment)),  # equal for set-ups whose solo curves are the same
        "bound": "" if missing else bound,
        "no_bound": missing,
    }


def _spread(stages: Sequence[Run], new: slice) -> dict[str, list[float] | None]:
    """Mean and standard deviation over runs of the normal agents' average regret."""
    values: Floats = np.array([stage.state["regret"][:, new].mean(axis=0) for stage in stages])
    std = values.std(axis=0, ddof=1).round(3).tolist() if len(stages) > 1 else None
    return {"mean": values.mean(axis=0).round(3).tolist(), "std": std}
