"""What commands load and draw with, done once in the process that they are forked from: each would do it again, for seconds."""

import tempfile
from pathlib import Path

import cmaes  # noqa: F401
import optuna  # noqa: F401

from byzmab import Experiment
from byzmab.cli import show, tables  # noqa: F401
from byzmab.results.directory import write_result
from byzmab.simulation.run import simulate

with tempfile.TemporaryDirectory() as directory:
    write_result(simulate(Experiment(horizon=3, runs=2), workers=1), Path(directory))
