"""A run whose width g is recorded, from which the paper's bound follows."""

from typing import Any

from byzmab.engine.widths import advance_recording
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.single_run import Run
from byzmab.theory.bounds import WidthRecord


class WidthRun(Run):
    """A run that keeps a `WidthRecord` of all its agents. Not for baselines, which have no g."""

    def __init__(self, experiment: Experiment, run: int, dense: bool | None = None) -> None:
        super().__init__(experiment, run, dense)
        self.widths = WidthRecord(experiment.parts.agents, self.state["true_means"])
        self._compiled = self._advance_recording

    def _advance_recording(self, record: Any, until: int, *loops: Any) -> int:
        widths = self.widths
        kept = widths.gaps, widths.largest, widths.tightest
        arguments: tuple[Any, ...] = (*loops, *kept)
        outcome = advance_recording(record, until, *arguments)
        widths.time = int(record["time"])
        return outcome
