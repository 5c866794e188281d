"""Running a sweep: portions of blocks on any executor, each block kept as soon as it is finished."""

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput
from byzmab.simulation.density import is_dense
from byzmab.simulation.experiment import PLUGINS, Experiment, degree_warning
from byzmab.simulation.files import anywhere
from byzmab.simulation.result import Result
from byzmab.simulation.run import LOOK_SECONDS, Stopped, check_workers, play_runs, workers_that_fit
from byzmab.simulation.single_run import loops_of
from byzmab.sweep.identity import address, provenance
from byzmab.sweep.plan import Speed, Task, missing_tasks, portions
from byzmab.sweep.store import Store

Progress = Callable[[int, int], None]
Announce = Callable[[str], None]


class Finished(NamedTuple):
    """A block that was played, and where."""

    task: Task
    part: Result
    origin: dict[str, Any]


def play_portion(tasks: Sequence[Task], watch: Callable[[Task, int, int], None] | None = None) -> list[Finished]:
    """Play blocks one after the other: what an executor is handed."""
    finished = []
    for task in tasks:

        def tell(run: int, done: int, task: Task = task) -> None:
            if watch is not None:
                watch(task, run, done)

        part = play_runs(*task, tell)
        finished.append(Finished(task, part, {**provenance(), "address": address(task.experiment)}))
    return finished


def run_sweep(
    points: Sequence[Experiment],
    store: Store,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> None:
    """Play all runs of some experiments that the store does not hold yet, and keep them there.

    They are spread over `workers` threads, or over the workers of any `concurrent.futures.Executor`. `progress` is
    called with the agent-rounds played and their total, `announce` with what there is to do and how long it may take.
    """
    check_workers(workers)
    _warn(points)
    tasks = missing_tasks(points, store)
    workers = workers or min(map(workers_that_fit, points), default=os.cpu_count() or 1)
    experiments = [task.experiment for task in tasks]
    for experiment in experiments:
        _compile(experiment)
    speed = Speed(experiments)
    if announce is not None:
        announce(_announcement(points, tasks, sum(map(speed.seconds, tasks)) / workers))
    if not tasks:
        return
    total = sum(task.work for task in tasks)
    work = list(portions(tasks, speed, workers))
    play = _on_threads(work, workers) if executor is None else _on_executor(work, executor)
    known = {address(experiment): experiment for experiment in experiments}
    for finished, done in play:
        for block in finished:
            store.write(_recognise(block, known), block.part, block.origin)
        if progress is not None:
            progress(done, total)


def _warn(points: Sequence[Experiment]) -> None:
    messages = [message for message in map(degree_warning, points) if message]
    if messages:
        warnings.warn(f"at {len(messages)} of {len(points)} points, as in the first: {messages[0]}", stacklevel=3)


def _compile(experiment: Experiment) -> None:
    """Compile, or load, the loops of an experiment before any thread asks for them."""
    loops_of(experiment, is_dense(experiment))


def _announcement(points: Sequence[Experiment], tasks: Sequence[Task], seconds: float) -> str:
    runs, missing = sum(item.runs for item in points), sum(task.end - task.first for task in tasks)
    found = f"{len(points)} points, {runs} runs, "
    return found + (f"{missing} of them to be played: about {_duration(seconds)}" if missing else "all there already")


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _recognise(block: Finished, known: Mapping[str, Experiment]) -> Experiment:
    """The experiment that a worker says it has played."""
    if block.origin["address"] not in known:
        raise BadInput(
            f"worker on {block.origin['host']} has another version of byzmab, or of a plug-in's file; "
            "allowed: the same everywhere"
        )
    return known[block.origin["address"]]


def _on_threads(work: list[list[Task]], workers: int) -> Iterator[tuple[list[Finished], int]]:
    """Blocks as they finish, none where nothing did for a while, with the agent-rounds played; threads end promptly."""
    played: dict[tuple[int, int], int] = {}
    stop = threading.Event()

    def watch(task: Task, run: int, done: int) -> None:
        if stop.is_set():
            raise Stopped
        played[id(task), run] = done * task.experiment.parts.agents

    with ThreadPoolExecutor(workers) as pool:
        futures = {pool.submit(play_portion, portion, watch) for portion in work}
        try:
            for finished in _as_they_finish(futures):
                yield finished, sum(played.copy().values())
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _on_executor(work: list[list[Task]], executor: Executor) -> Iterator[tuple[list[Finished], int]]:
    """The same for workers elsewhere, which can be watched only by what they have finished."""
    done = 0
    futures = {executor.submit(play_portion, [_portable(task) for task in portion]) for portion in work}
    try:
        for finished in _as_they_finish(futures):
            done += sum(block.task.work for block in finished)
            yield finished, done
    except BaseException as error:
        for future in futures:
            future.cancel()
        if isinstance(error, Exception) and not isinstance(error, BadInput):
            raise BadInput(
                f"a worker failed: {type(error).__name__}: {error}; what was finished is kept, run it again to go on"
            ) from error
        raise


def _as_they_finish(futures: set[Future[list[Finished]]]) -> Iterator[list[Finished]]:
    while futures:
        done, _ = wait(futures, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
        futures -= done
        yield [block for future in done for block in future.result()]


def _portable(task: Task) -> Task:
    """A task that can be read elsewhere: plug-ins by the full path of their file, graphs edge by edge."""
    experiment = task.experiment
    named = {name: getattr(experiment, name) for name in PLUGINS}
    changes: dict[str, Any] = {name: anywhere(value) for name, value in named.items() if isinstance(value, str)}
    if isinstance(experiment.graph, str) and experiment.graph.endswith(".json"):
        changes["graph"] = experiment.parts.graph
    return task._replace(experiment=experiment.but(**changes))
