"""A run whose width g is recorded, from which the paper's bound follows."""

from typing import Any

from byzmab.engine.state import State
from byzmab.engine.widths import advance_recording
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.single_run import Run
from byzmab.theory.bounds import WidthRecord


class WidthRun(Run):
    """A run that keeps a `WidthRecord` of all its agents. Not for baselines, which have no g."""

    def __init__(self, experiment: Experiment, run: int, dense: bool | None = None) -> None:
        super().__init__(experiment, run, dense)
        self.widths = WidthRecord(experiment.parts.agents, self.state.true_means)
        self._advance_until = self._advance_recording

    def _advance_recording(self, state: State, until: int, *loops: Any) -> int:
        widths = self.widths
        arguments: tuple[Any, ...] = (*loops, (widths.gaps, widths.largest, widths.tightest))
        outcome = advance_recording(state, until, *arguments)
        widths.time = state.time
        return outcome
