"""Playing an experiment for a page: all runs side by side, block by block, with an update after each block.

Beside it the same agents play alone, with the same policy and the same random numbers. So what is saved is paired, run
by run.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.experiment.assumptions import why_no_bound
from byzmab.experiment.experiment import Experiment
from byzmab.paper.figures import alone
from byzmab.results.result import bytes_of
from byzmab.results.statistics import saving
from byzmab.simulation.sizes import grid_of
from byzmab.simulation.spread import Stopped

if TYPE_CHECKING:
    from byzmab.dashboard.lab.sampled_run import SampledRun
    from byzmab.simulation.single_run import Run

FRAMES = 50  # of a whole run: to call compiled code takes a fifth of a millisecond, and each run is called once a frame
QUICK_FRAMES = 12  # where it is to be over in a moment, and nobody asks for fates and bound
Update = dict[str, Any]  # of the page's curves


class Playing:
    """An experiment being played, beside the same agents alone; `stop` ends it within a block.

    A quick one has fewer updates, without the fates of reports and the bound.
    """

    def __init__(self, experiment: Experiment, quick: bool = False) -> None:
        self.experiment, self._quick = experiment, quick
        self._stop = threading.Event()
        self._runs: list[list[Run]] = []  # all runs of it, and of its agents alone
        self._sampled: SampledRun | None = None

    def prepare(self) -> None:
        """Set up all runs; what was never played on this machine is compiled here, with what is imported here."""
        from byzmab.dashboard.lab.sampled_run import SampledRun
        from byzmab.simulation.single_run import Run

        both, numbers = (self.experiment, alone(self.experiment)), range(self.experiment.runs)
        self._runs = [[Run(each, number) for number in numbers] for each in both]
        self._sampled = None if self._quick else SampledRun(self.experiment)

    def stop(self) -> None:
        """Have `updates` end within a block."""
        self._stop.set()

    def updates(self) -> Iterator[Update]:
        """Play; yield after each block what is new since the one before. Ends early when stopped."""
        if not self._runs:
            self.prepare()
        horizon, began = self.experiment.horizon, time.perf_counter()
        rounds, done = -(-horizon // (QUICK_FRAMES if self._quick else FRAMES)), 0
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            while done < horizon and not self._stop.is_set():
                before, done = done, min(done + rounds, horizon)
                try:
                    list(pool.map(lambda run, until=done: self._play(run, until), chain(*self._runs)))
                    if self._sampled is not None:
                        self._play(self._sampled, done)  # plain Python, which beside the others would keep them waiting
                except Stopped:
                    return
                seconds = time.perf_counter() - began
                yield {**self._update(before, done), "seconds": seconds, "left": seconds * (horizon / done - 1.0)}

    def _update(self, before: int, done: int) -> Update:
        """What is new since round `before`."""
        (runs, solo), sampled = self._runs, self._sampled
        grid = grid_of(self.experiment.horizon, self.experiment.record)
        first, end = (int(index) for index in np.searchsorted(grid, (before, done), "right"))
        new = slice(first, end)
        return {
            "done": done,
            "rounds": grid[new].tolist(),
            "regret": _spread(runs, new),
            "solo": _spread(solo, new),
            "saved": saving(_regret(runs, end - 1), _regret(solo, end - 1)) if end else None,
            "bound": [] if sampled is None else sampled.bound[new],
            "shares": self._shares(runs, done),
            "messages": _mean(runs, "messages"),
            "bytes": bytes_of(self.experiment, *(_mean(runs, name) for name in ("messages", "arms_told"))),
            "fates": [] if sampled is None else sampled.counts(),
            "looked": 0 if sampled is None else sampled.looked,
        }

    def _play(self, run: "Run | SampledRun", until: int) -> None:
        if self._stop.is_set():
            raise Stopped
        run.advance(until)

    def _shares(self, runs: "Sequence[Run]", done: int) -> list[float]:
        """The honest agents' share of pulls by arm so far, over all runs; the first pull of each arm is outside."""
        pulls = [run.state.ever_pulls[self.experiment.parts.byzantine :].mean(axis=0) - 1.0 for run in runs]
        return (np.mean(pulls, axis=0) / done).tolist()  # type: ignore[no-any-return]


def announce(experiment: Experiment) -> dict[str, Any]:
    """What is known of an experiment before its first update."""
    parts, missing = experiment.parts, why_no_bound(experiment)
    bound = "the paper's upper bound, from the g recorded in the first run"
    return {
        "agents": parts.agents,
        "byzantine": experiment.parts.byzantine,
        "arms": parts.arms,
        "horizon": experiment.horizon,
        "runs": experiment.runs,
        "policy": experiment.settings()["policy"],
        "solo": repr(alone(experiment)),  # equal for set-ups whose solo curves are the same
        "bound": "" if missing else bound,
        "no_bound": missing,
    }


def _regret(runs: "Sequence[Run]", when: int | slice) -> Floats:
    """The honest agents' average regret on the grid, by run."""
    return np.array([run.state.regret[:, when].mean(axis=0) for run in runs])


def _mean(runs: "Sequence[Run]", name: str) -> float:
    """A count of the network's state, averaged over runs."""
    return float(np.mean([getattr(run.state, name) for run in runs]))


def _spread(runs: "Sequence[Run]", new: slice) -> dict[str, list[float] | None]:
    """Mean and standard deviation over runs of the honest agents' average regret."""
    values = _regret(runs, new)
    std = values.std(axis=0, ddof=1).round(3).tolist() if len(runs) > 1 else None
    return {"mean": values.mean(axis=0).round(3).tolist(), "std": std}
