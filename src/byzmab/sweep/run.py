"""Running a sweep: portions of blocks on any executor, each block kept as soon as it is finished."""

import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from byzmab.core.errors import BadInput
from byzmab.experiment.absent import NAMING_FILES, check_present
from byzmab.experiment.assumptions import warn_of
from byzmab.experiment.experiment import Experiment
from byzmab.results.result import Result
from byzmab.simulation.density import is_dense
from byzmab.simulation.progress import in_words, wanted_bar
from byzmab.simulation.run import check_workers, play_runs, prepare, workers_that_fit
from byzmab.simulation.spread import Job, Watch, WorkerFailed, spread
from byzmab.sweep.identity import Address, address, provenance
from byzmab.sweep.plan import Speed, Task, missing_tasks, portions
from byzmab.sweep.store import ResultStore

Progress = Callable[[int, int], None]
Announce = Callable[[str], None]


class Finished(NamedTuple):
    """A block that was played, and where."""

    task: Task
    part: Result
    address: Address  # as the worker sees it
    origin: dict[str, Any]


def play_portion(tasks: Sequence[Task], watch: Watch | None = None) -> list[Finished]:
    """Play blocks one after the other: what an executor is handed. `watch` is told of runs in agent-rounds."""
    finished = []
    for task in tasks:

        def tell(run: Hashable, done: int, task: Task = task) -> None:
            if watch is not None:
                watch((task.number, run), done * task.experiment.parts.agents)

        part = play_runs(task.experiment, task.first, task.end, tell)
        finished.append(Finished(task, part, address(task.experiment), provenance()))
    return finished


def run_sweep(
    points: Sequence[Experiment],
    store: ResultStore,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | bool | None = None,
    announce: Announce | None = None,
) -> None:
    """Play all runs of some experiments that the store does not hold yet, and keep them there.

    Parameters
    ----------
    points
        The experiments, or a Sweep.
    store
        Where results are kept.
    executor
        Any `concurrent.futures.Executor`; if None, threads of this process.
    workers
        Threads, or portions in flight on the executor; if None, as many as there are cores.
    progress
        A function that is called with the agent-rounds played and their total; True shows a bar.
    announce
        A function that is called with a sentence: what there is to do, and how long it may take.

    Raises
    ------
    BadInput
        If a worker fails; what was finished is kept.
    """
    check_workers(workers)
    for point in points:
        check_present(point)
    warn_of(points, stacklevel=3)
    tasks = missing_tasks(points, store)
    experiments = [task.experiment for task in tasks]
    fitting = min(map(workers_that_fit, points), default=os.cpu_count() or 1)
    workers = workers or fitting
    compile_all(experiments)
    speed = Speed(experiments)
    if announce is not None:
        announce(_announcement(points, tasks, sum(map(speed.seconds, tasks)) / workers))
    if not tasks:
        return
    total = sum(task.work for task in tasks)
    known = {task.number: task.experiment for task in tasks}
    jobs = _jobs(tasks, speed, workers, executor)
    with wanted_bar(progress, "sweeping") as show, closing(spread(jobs, executor, workers)) as playing:
        try:
            for finished, done in playing:
                for block in (block for portion in finished for block in portion):
                    store.write(_recognise(block, known), block.part, block.origin)
                if show is not None:
                    show(done, total)
        except WorkerFailed as error:
            raise BadInput(f"{error}; what was finished is kept, run it again to go on") from error


def compile_all(experiments: Sequence[Experiment]) -> None:
    """Compile, or load, the loops of all experiments before any thread asks for them; each kind once."""
    kinds = {_kind(experiment): experiment for experiment in experiments}
    for experiment in kinds.values():
        prepare(experiment)


def _kind(experiment: Experiment) -> Hashable:
    """What is equal for experiments that are played by the same compiled functions."""
    parts = experiment.parts
    plugins = (parts.placed, parts.attack, parts.filter, parts.policy, parts.baseline, parts.drift, *parts.rewards)
    drawn = parts.means is None, parts.kappas is None
    heard = experiment.memory > 0, experiment.subset is None, parts.tell.keeps, parts.forgetting.kind
    return *map(type, plugins), is_dense(experiment), *drawn, *heard, parts.contexts is None


def _announcement(points: Sequence[Experiment], tasks: Sequence[Task], seconds: float) -> str:
    runs, missing = sum(item.runs for item in points), sum(task.end - task.first for task in tasks)
    found = f"{len(points)} points, {runs} runs, "
    return found + (f"{missing} of them to be played: about {in_words(seconds)}" if missing else "all there already")


def _jobs(tasks: Sequence[Task], speed: Speed, workers: int, executor: Executor | None) -> list[Job]:
    """Portions of tasks, ready to be handed to threads or sent to workers elsewhere."""
    ready = (lambda task: task) if executor is None else _portable
    return [
        Job(play_portion, ([ready(task) for task in portion],), sum(task.work for task in portion))
        for portion in portions(tasks, speed, workers)
    ]


def _recognise(block: Finished, known: dict[int, Experiment]) -> Experiment:
    """The experiment that a worker has played; BadInput where the worker played something else under its name."""
    experiment = known[block.task.number]
    here = address(experiment)
    if here.lasting and block.address != here:
        raise BadInput(
            f"worker on {block.origin['host']} has another version of byzmab, or of a plug-in's file; "
            "allowed: the same everywhere"
        )
    return experiment


def _portable(task: Task) -> Task:
    """A task that can be read elsewhere: plug-ins by the full path of their file, graphs edge by edge."""
    experiment = task.experiment
    named = {name: getattr(experiment, name) for name in NAMING_FILES}
    changes: dict[str, Any] = {name: _full_path(value) for name, value in named.items()}
    if isinstance(experiment.graph, str) and experiment.graph.endswith(".json"):
        changes["graph"] = experiment.parts.graph
    return task._replace(experiment=experiment.but(**changes))


def _full_path(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_full_path(item) for item in value]
    if not isinstance(value, str):
        return value
    name, colon, rest = value.partition(":")
    return f"{Path(name).absolute()}{colon}{rest}" if name.endswith(".py") and Path(name).is_file() else value
