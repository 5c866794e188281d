"""The shelf: results on disk, so that what was simulated once is never simulated again."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from byzmab.core.compiler import CACHE
from byzmab.core.errors import BadInput
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.files import in_place
from byzmab.simulation.result import Result
from byzmab.simulation.run import simulate

Progress = Callable[[int, int], None]


class Shelf:
    """Results in a directory, each under a digest of its settings and of the code that computed it."""

    def __init__(self, directory: Path, workers: int | None = None) -> None:
        self.directory = directory
        self.workers = workers
        self.computed = 0
        self.reused = 0
        directory.mkdir(parents=True, exist_ok=True)

    def place(self, experiment: Experiment) -> Path:
        """Where the result of an experiment stands."""
        graph = experiment.parts.graph
        everything = json.dumps([experiment.settings(), repr(graph), CACHE.name], sort_keys=True)
        return self.directory / f"{hashlib.sha256(everything.encode()).hexdigest()[:20]}.nc"

    def get(self, experiment: Experiment, progress: Progress | None = None) -> Result:
        """The result of an experiment: read if it is there and whole, simulated otherwise."""
        path = self.place(experiment)
        if path.exists():
            try:
                result = Result.load(path)
                self.reused += 1
                return result
            except BadInput:
                path.unlink()  # cut off in the middle, or broken since
        result = simulate(experiment, progress=progress, workers=self.workers)
        with in_place(path) as unfinished:
            result.save(unfinished)
        self.computed += 1
        return result
