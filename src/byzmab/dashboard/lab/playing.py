"""Playing for a page: all runs side by side, block by block, each block a frame of what is new."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.dashboard.lab.witness import Witness, why_no_bound
from byzmab.paper.figures import alone
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import REPORT_BYTES_PER_ARM
from byzmab.simulation.run import Stopped
from byzmab.simulation.single_run import Run, grid_of

FRAMES = 50  # of a whole run: to call compiled code takes a fifth of a millisecond, and each run is called once a frame
Frame = dict[str, Any]


class Playing:
    """An experiment being played, beside the same agents alone; `stop` ends it within a block."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._stop = threading.Event()

    def stop(self) -> None:
        """End soon."""
        self._stop.set()

    def frames(self) -> Iterator[Frame]:
        """Play; after each block, what is new since the one before. Ends early when stopped."""
        experiment, began = self.experiment, time.perf_counter()
        runs = range(experiment.runs)
        others = alone(experiment)
        stages, solo = ([Run(each, run) for run in runs] for each in (experiment, others))
        witness = Witness(experiment)
        grid = grid_of(experiment.horizon, experiment.record)
        rounds, done = -(-experiment.horizon // FRAMES), 0
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            while done < experiment.horizon and not self._stop.is_set():
                before, done = done, min(done + rounds, experiment.horizon)
                try:
                    list(pool.map(lambda stage, until=done: self._play(stage, until), [*stages, *solo]))
                    self._play(witness, done)  # plain Python, which beside the others would keep them waiting
                except Stopped:
                    return
                new = slice(*np.searchsorted(grid, (before, done), "right"))
                yield {
                    "done": done,
                    "rounds": grid[new].tolist(),
                    "regret": _spread(stages, new),
                    "solo": _spread(solo, new),
                    "bound": witness.bound[new],
                    "shares": self._shares(stages, done),
                    "messages": float(np.mean([stage.state.record["messages"] for stage in stages])),
                    "fates": witness.counts(),
                    "looked": witness.looked,
                    "seconds": time.perf_counter() - began,
                }

    def _play(self, stage: Run | Witness, until: int) -> None:
        if self._stop.is_set():
            raise Stopped
        stage.advance(until)

    def _shares(self, stages: Sequence[Run], done: int) -> list[float]:
        """The normal agents' share of pulls by arm so far, over all runs; the first pull of each arm is outside."""
        pulls = [stage.state["pulls"][self.experiment.byzantine :].mean(axis=0) - 1.0 for stage in stages]
        return (np.mean(pulls, axis=0) / done).tolist()  # type: ignore[no-any-return]


def announce(experiment: Experiment) -> dict[str, Any]:
    """What is known before the first frame."""
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
        "report_bytes": parts.arms * REPORT_BYTES_PER_ARM,
    }


def _spread(stages: Sequence[Run], new: slice) -> dict[str, list[float] | None]:
    """Mean and standard deviation over runs of the normal agents' average regret."""
    values: Floats = np.array([stage.state["regret"][:, new].mean(axis=0) for stage in stages])
    std = values.std(axis=0, ddof=1).round(3).tolist() if len(stages) > 1 else None
    return {"mean": values.mean(axis=0).round(3).tolist(), "std": std}
