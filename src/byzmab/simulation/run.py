"""Running an experiment: its runs spread over workers, with progress, interruption and the same digits always."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers
from byzmab.simulation.experiment import Experiment, degree_warning
from byzmab.simulation.result import Result
from byzmab.simulation.single_run import Run, bytes_of, grid_of

BLOCK_SECONDS = 0.05  # how long the compiled loop plays before it looks up
COMFORTABLE_BYTES = 600_000_000  # for all runs that are played at once, unless a number of workers is given
LOOK_SECONDS = 0.1  # how often progress is told

Progress = Callable[[int, int], None]
Watch = Callable[[int, int], None]


class Outcome(NamedTuple):
    """What is kept of one run."""

    regret: Floats  # normal agents × grid
    thirds: Integers  # 3 × normal agents × arms: pulls up to the end of each third
    messages: int
    means: Floats  # arms: μ


class Stopped(Exception):
    """Raised in a worker when the others were interrupted."""


def play_run(experiment: Experiment, run: int, watch: Watch | None = None) -> Outcome:
    """Play one run, block by block; `watch` is told the run and how far it is, and may raise to end it."""
    played = Run(experiment, run)
    state = played.state
    rounds, done = 16, 0
    while done < experiment.horizon:
        began = time.perf_counter()
        done = min(done + rounds, experiment.horizon)
        played.advance(done)
        elapsed = time.perf_counter() - began
        rounds = max(1, int(rounds * min(4.0, BLOCK_SECONDS / max(elapsed, 1e-6))))
        if watch is not None:
            watch(run, done)
    return Outcome(state["regret"], state["thirds"], int(state.record["messages"]), state["true_means"])


def play_runs(experiment: Experiment, first: int, end: int, watch: Watch | None = None) -> Result:
    """Play some runs one after the other: the unit of work for executors of other kinds."""
    began = time.perf_counter()
    outcomes = ((run, play_run(experiment, run, watch)) for run in range(first, end))
    return _gather(experiment.but(runs=end - first), outcomes, began, first)


def prepare(experiment: Experiment) -> None:
    """Compile, or load, all that an experiment needs, by playing one round of it."""
    Run(experiment, 0).advance(1)


def check_workers(workers: int | None) -> None:
    """Raise BadInput for a number of workers that is none."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise BadInput(f"workers {workers!r} is not allowed; allowed: a whole number of at least 1")


def simulate(
    experiment: Experiment,
    executor: Executor | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    first: int = 0,
) -> Result:
    """Simulate all runs of an experiment, numbered from `first` on.

    Runs are spread over `workers` threads, as many as there are cores if not given, or over any
    `concurrent.futures.Executor`. `progress` is called with the rounds played and their total.
    """
    check_workers(workers)
    workers = workers or workers_that_fit(experiment)
    if message := degree_warning(experiment):
        warnings.warn(message, stacklevel=2)
    prepare(experiment)
    began = time.perf_counter()
    if executor is not None:
        parts = sorted(_on_executor(experiment, first, executor, workers, progress), key=lambda part: part.first)
        return replace(Result.join(parts), seconds=time.perf_counter() - began)
    return _gather(experiment, _on_threads(experiment, first, workers, progress), began, first)


def _gather(experiment: Experiment, outcomes: Iterable[tuple[int, Outcome]], began: float, first: int) -> Result:
    """The result of runs, counted from `first`, that come in any order."""
    parts = experiment.parts
    shape = experiment.runs, parts.agents - experiment.byzantine
    rounds = grid_of(experiment.horizon, experiment.record)
    regret = np.empty((*shape, rounds.size))
    pulls = np.empty((*shape, 3, parts.arms), np.int32)
    messages = np.empty(experiment.runs, np.int64)
    means = np.empty((experiment.runs, parts.arms))
    for run, outcome in outcomes:
        row = run - first
        regret[row] = outcome.regret
        pulls[row] = np.diff(outcome.thirds, axis=0, prepend=0).transpose(1, 0, 2)
        messages[row], means[row] = outcome.messages, outcome.means
    return Result(experiment, rounds, regret, pulls, messages, means, time.perf_counter() - began, first)


def workers_that_fit(experiment: Experiment) -> int:
    """As many workers as there are cores, fewer for runs so large that they would crowd the memory."""
    need, there = bytes_of(experiment), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if need > 0.8 * there:
        raise BadInput(
            f"agents {experiment.parts.agents} on this graph take about {need / 1e9:.0f} GB a run; "
            f"allowed: what fits into the {there / 1e9:.0f} GB of this machine"
        )
    return max(1, min(os.cpu_count() or 1, COMFORTABLE_BYTES // need))


def _on_threads(
    experiment: Experiment, first: int, workers: int, progress: Progress | None
) -> Iterator[tuple[int, Outcome]]:
    """Runs as they finish; when interrupted, all threads end within a block."""
    played, stop = np.zeros(experiment.runs, np.int64), threading.Event()

    def watch(run: int, done: int) -> None:
        if stop.is_set():
            raise Stopped
        played[run - first] = done

    with ThreadPoolExecutor(min(workers, experiment.runs)) as pool:
        futures = {pool.submit(play_run, experiment, run, watch): run for run in range(first, first + experiment.runs)}
        try:
            for future in _as_completed(futures, lambda: int(played.sum()), experiment, progress):
                yield futures.pop(future), future.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _on_executor(
    experiment: Experiment, first: int, executor: Executor, workers: int, progress: Progress | None
) -> Iterator[Result]:
    """The same on any executor, in blocks of runs, a few for each worker."""
    size = max(1, experiment.runs // (4 * workers))
    total = experiment.runs * experiment.horizon
    futures = {
        executor.submit(play_runs, experiment, first + start, first + min(start + size, experiment.runs)): start
        for start in range(0, experiment.runs, size)
    }
    waiting = len(futures)
    try:
        for future in _as_completed(futures, lambda: total * (waiting - len(futures)) // waiting, experiment, progress):
            futures.pop(future)
            yield future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _as_completed(
    futures: dict[Future[Any], int], played: Callable[[], int], experiment: Experiment, progress: Progress | None
) -> Iterator[Future[Any]]:
    """Futures as they finish, telling progress in between; the caller removes what it has taken."""
    total = experiment.runs * experiment.horizon
    while futures:
        done, _ = wait(futures, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        yield from done
        if progress is not None:
            progress(played(), total)
