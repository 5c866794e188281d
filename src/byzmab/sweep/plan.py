"""The plan of a sweep: what is missing, how long it will take, and in which portions to hand it out."""

import math
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from byzmab.experiment.experiment import Experiment
from byzmab.simulation.single_run import Run
from byzmab.sweep.identity import address
from byzmab.sweep.store import ResultStore

PORTION_SECONDS = 1.0  # handing one out and keeping it takes some 10 ms: below 5 %, and little is lost when killed
LEAST_SECONDS = 0.25  # of a portion, where there is too little work for all workers otherwise
SAMPLES = 16  # points played for a moment to tell how long all will take
SAMPLE_SECONDS = 0.03


class Task(NamedTuple):
    """Some runs of an experiment, from `first` to before `end`: one block."""

    experiment: Experiment
    first: int
    end: int
    number: int  # of the task it was cut from

    @property
    def work(self) -> int:
        """Agent-rounds."""
        return (self.end - self.first) * self.experiment.horizon * self.experiment.parts.agents


def missing_tasks(points: Sequence[Experiment], store: ResultStore) -> list[Task]:
    """The runs that the store does not hold; of points that are the same, those of the longest."""
    longest: dict[str, Experiment] = {}
    for experiment in points:
        name = address(experiment).name
        if name not in longest or longest[name].runs < experiment.runs:
            longest[name] = experiment
    gaps = ((item, *gap) for item in longest.values() for gap in store.missing(item))
    return [Task(*gap, number) for number, gap in enumerate(gaps)]


class Speed:
    """How fast some experiments are played, from a sample of them."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        step = max(1, len(experiments) // SAMPLES)
        self._by_algorithm: dict[tuple[str, str], list[float]] = {}
        for experiment in experiments[::step]:
            self._by_algorithm.setdefault(experiment.algorithm_in_words(), []).append(_seconds_per_work(experiment))
        rates = [rate for rates in self._by_algorithm.values() for rate in rates]
        self._usual = sum(rates) / max(1, len(rates))

    def seconds(self, task: Task) -> float:
        """What a task will take, about."""
        rates = self._by_algorithm.get(task.experiment.algorithm_in_words(), [self._usual])
        return task.work * sum(rates) / len(rates)


def _seconds_per_work(experiment: Experiment) -> float:
    """Seconds per agent-round, setting up included."""
    Run(experiment, 0).advance(1)  # what is compiled or loaded at first is not counted
    began = time.perf_counter()
    run, rounds, elapsed = Run(experiment, 0), 1, 0.0
    setting = time.perf_counter() - began
    began = time.perf_counter()
    while elapsed < SAMPLE_SECONDS and rounds < experiment.horizon:
        rounds = min(2 * rounds, experiment.horizon)
        run.advance(rounds)
        elapsed = time.perf_counter() - began
    return (setting / experiment.horizon + elapsed / rounds) / experiment.parts.agents


def portions(tasks: Sequence[Task], speed: Speed, workers: int) -> Iterator[list[Task]]:
    """Tasks cut into blocks and bundled, so that each portion takes about as long."""
    total = sum(map(speed.seconds, tasks))
    aim = min(PORTION_SECONDS, max(LEAST_SECONDS, total / (4 * workers)))
    portion: list[Task] = []
    filled = 0.0
    for task in tasks:
        runs = task.end - task.first
        size = max(1, min(runs, math.ceil(aim * runs / max(speed.seconds(task), 1e-9))))
        for first in range(task.first, task.end, size):
            block = task._replace(first=first, end=min(first + size, task.end))
            portion.append(block)
            filled += speed.seconds(block)
            if filled >= aim:
                yield portion
                portion, filled = [], 0.0
    if portion:
        yield portion
