"""Running an experiment: its runs spread over workers, with progress, interruption and the same digits always."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers
from byzmab.experiment.absent import check_present
from byzmab.experiment.assumptions import warn_of
from byzmab.experiment.experiment import Experiment, check_experiment
from byzmab.experiment.parts import DEFAULT_AGENTS, PAPER_ARMS
from byzmab.results.result import Result
from byzmab.simulation.progress import wanted_bar
from byzmab.simulation.single_run import Run
from byzmab.simulation.sizes import COMFORTABLE_BYTES, bytes_of, context_bytes, grid_of
from byzmab.simulation.spread import Job, Watch, spread

BLOCK_SECONDS = 0.05  # how long the compiled loop plays before it looks up
PER_RUN = "agents", "arms", "memory", "record"  # settings that take memory in a run
FOR_ALL = "runs", "record", "agents", "arms"  # those that take memory in what is kept of all runs

Progress = Callable[[int, int], None]


class Outcome(NamedTuple):
    """What is kept of one run."""

    run: int
    regret: Floats  # honest agents × grid
    thirds: Integers  # 3 × honest agents × arms: pulls up to the end of each third
    messages: int
    arms_told: int
    means: Floats  # arms: μ


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
    counts = int(state.messages), int(state.arms_told)
    return Outcome(run, state.regret, state.thirds, *counts, state.true_means)


def play_runs(experiment: Experiment, first: int, end: int, watch: Watch | None = None) -> Result:
    """Play some runs one after the other: the unit of work for executors of other kinds."""
    began = time.perf_counter()
    outcomes = (play_run(experiment, run, watch) for run in range(first, end))
    return _gather(experiment.but(runs=end - first), outcomes, began, first)


def prepare(experiment: Experiment) -> None:
    """Compile, or load, all that an experiment needs, by playing one round of it."""
    Run(experiment, 0).advance(1)


def check_workers(workers: int | None) -> None:
    """Raise BadInput unless the number of workers is a whole number of at least 1."""
    if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
        raise BadInput(f"workers {workers!r} is not allowed; allowed: a whole number of at least 1")


def simulate(
    experiment: Experiment,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    workers: int | None = None,
    first: int = 0,
) -> Result:
    """Simulate all runs of an experiment, numbered from `first` on.

    Parameters
    ----------
    experiment
        What to simulate.
    executor
        Any `concurrent.futures.Executor`, such as Dask's; if None, threads of this process.
    progress
        A function that is called with the rounds played and their total; True shows a bar.
    workers
        Threads, or blocks in flight on the executor; if None, as many as there are cores.
    first
        The number of the first run.

    Returns
    -------
    Result
        Regret, pulls and messages of every run. The number of workers changes no digit.

    Raises
    ------
    BadInput
        If the experiment is not an Experiment, or does not fit into memory.

    Examples
    --------
    >>> import byzmab
    >>> experiment = byzmab.Experiment(runs=2, horizon=100)
    >>> result = byzmab.simulate(experiment)
    >>> dict(result.regret.sizes)
    {'run': 2, 'agent': 8, 'round': 100}
    """
    check_experiment(experiment)
    check_workers(workers)
    check_present(experiment)
    fitting = workers_that_fit(experiment)  # also where workers are given: it says what does not fit at all
    workers = workers or fitting
    warn_of([experiment], stacklevel=3)
    with wanted_bar(progress, "simulating") as show:
        prepare(experiment)
        began = time.perf_counter()
        jobs = _runs(experiment, first) if executor is None else _blocks(experiment, first, workers)
        with closing(spread(jobs, executor, workers)) as playing:
            outcomes = _telling(playing, show, experiment.runs * experiment.horizon)
            if executor is None:
                return _gather(experiment, outcomes, began, first)
            parts = sorted(outcomes, key=lambda part: part.first)
    return replace(Result.join(parts), seconds=time.perf_counter() - began)


def _runs(experiment: Experiment, first: int) -> list[Job]:
    numbers = range(first, first + experiment.runs)
    return [Job(play_run, (experiment, run), experiment.horizon) for run in numbers]


def _blocks(experiment: Experiment, first: int, workers: int) -> list[Job]:
    """Blocks of runs, a few for each worker."""
    end, size = first + experiment.runs, max(1, experiment.runs // (4 * workers))
    blocks = [(start, min(start + size, end)) for start in range(first, end, size)]
    return [Job(play_runs, (experiment, *block), (block[1] - block[0]) * experiment.horizon) for block in blocks]


def _telling(playing: Iterable[tuple[list[Any], int]], progress: Progress | None, total: int) -> Iterator[Any]:
    """What finishes, one by one, telling progress in between."""
    for finished, done in playing:
        yield from finished
        if progress is not None:
            progress(done, total)


def _gather(experiment: Experiment, outcomes: Iterable[Outcome], began: float, first: int) -> Result:
    """The result of runs, counted from `first`, that come in any order."""
    parts = experiment.parts
    shape = experiment.runs, parts.agents - experiment.parts.byzantine
    rounds = grid_of(experiment.horizon, experiment.record)
    regret = np.empty((*shape, rounds.size))
    pulls = np.empty((*shape, 3, parts.arms), np.int32)
    messages, arms_told = np.empty(experiment.runs, np.int64), np.empty(experiment.runs, np.int64)
    means = np.empty((experiment.runs, parts.arms))
    for outcome in outcomes:
        row = outcome.run - first
        regret[row] = outcome.regret
        pulls[row] = np.diff(outcome.thirds, axis=0, prepend=0).transpose(1, 0, 2)
        messages[row], arms_told[row], means[row] = outcome.messages, outcome.arms_told, outcome.means
    return Result(experiment, rounds, regret, pulls, messages, arms_told, means, time.perf_counter() - began, first)


def workers_that_fit(experiment: Experiment) -> int:
    """The number of cores, or fewer where runs are so large that they would crowd the memory."""
    need = bytes_of(experiment) + context_bytes(experiment)
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    kept = _bytes_kept(experiment)
    for what, size, settings in (("a run", need, PER_RUN), ("all runs together", kept, FOR_ALL)):
        if size > 0.8 * there:
            at_fault = _most_costly(experiment, settings)
            raise BadInput(
                f"{at_fault} {experiment.settings()[at_fault]} makes {what} take about {size / 1e9:.0f} GB; "
                f"allowed: what fits into the {there / 1e9:.0f} GB of this machine"
            )
    return max(1, min(os.cpu_count() or 1, COMFORTABLE_BYTES // need))


def _bytes_kept(experiment: Experiment) -> int:
    """What is kept of all runs until the end."""
    parts, grid = experiment.parts, min(experiment.record, experiment.horizon)
    return experiment.runs * (parts.agents - parts.byzantine) * (8 * grid + 12 * parts.arms)


def _most_costly(experiment: Experiment, settings: tuple[str, ...]) -> str:
    """The setting that is farthest above its default: the one to be lowered where memory is short."""
    sizes = {"agents": experiment.parts.agents / DEFAULT_AGENTS, "arms": experiment.parts.arms / len(PAPER_ARMS)}
    for name in ("memory", "record", "runs"):
        sizes[name] = getattr(experiment, name) / max(1, getattr(Experiment, name))
    return max(settings, key=sizes.__getitem__)
