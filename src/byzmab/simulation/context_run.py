"""One run of an experiment with contexts: its state set up, then advanced."""

from typing import Any

import numpy as np

from byzmab.baselines.contexts import ContextBaseline
from byzmab.contexts.believe import believing_at
from byzmab.contexts.lie import lying_at
from byzmab.contexts.pull import first_pulls_at, pulling_at
from byzmab.contexts.round import advance_contexts, telling_at
from byzmab.core import draws
from byzmab.core.contexts.believe import scratch_shapes
from byzmab.core.contexts.statistics import empty_statistics, row_size
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import NO_BELIEF
from byzmab.engine.choose import choosing
from byzmab.engine.draw import drawing
from byzmab.engine.state import BAD_BELIEF, State
from byzmab.experiment.context_settings import ContextParts, constant_of
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.context_world import context_parts, draw_leans, draw_parameters, usual_means
from byzmab.simulation.loops import ContextLoops
from byzmab.simulation.single_run import Run, settings_of
from byzmab.simulation.true_means import set_means


class ContextRun(Run):
    """One run of an experiment with contexts: `advance` it, and read its `state`."""

    def __init__(self, experiment: Experiment, run: int) -> None:
        parts, contexts = experiment.parts, context_parts(experiment)
        by = parts.baseline if isinstance(parts.baseline, ContextBaseline) else parts.filter
        self.loops = ContextLoops(
            drawing(parts.graph),
            telling_at(parts.tell.keeps),
            lying_at(parts.attack),
            believing_at(by, contexts.d),
            choosing(parts.policy, False),
            pulling_at(parts.rewards),
        )
        self._compiled: Any = advance_contexts
        self._believes_by = by.kind
        self.state = State(**_settings(experiment, contexts))
        self._set_inputs(experiment, run)
        set_means(self.state, experiment, run)
        self._set_contexts(experiment, run)
        first_pulls_at(self.state, self.loops.pull)
        self._check_fault()

    def _check_fault(self) -> None:
        """BadInput where a plug-in did wrong; here beliefs may be an algorithm's, too."""
        if self.state.fault == BAD_BELIEF:
            raise BadInput(NO_BELIEF.replace("filter", self._believes_by, 1))
        super()._check_fault()

    def _set_contexts(self, experiment: Experiment, run: int) -> None:
        """Set all that contexts need: parameters or data, where they lean, and statistics without a reward."""
        state, parts, contexts = self.state, experiment.parts, context_parts(experiment)
        state.context_key = draws.key_of(experiment.seed, run, draws.CONTEXTS)
        state.true_means = usual_means(experiment, run)
        state.parameters = draw_parameters(experiment, run)
        state.leans = draw_leans(experiment, run)
        state.constant = constant_of(contexts)
        if contexts.data is not None:
            state.pool_contexts, state.pool_means = contexts.data.contexts, contexts.data.means
        state.statistics = np.tile(empty_statistics(parts.arms, contexts.d, contexts.ridge), (parts.agents, 1, 1))
        state.attack_scratch = np.zeros(parts.attack.scratch_shape_at(parts.arms, contexts.d))
        if parts.baseline is not None:
            state.filter_params = np.array(parts.baseline.params)


def _settings(experiment: Experiment, contexts: ContextParts) -> dict[str, float]:
    """The numbers of a state that follow from an experiment."""
    settings, baseline = settings_of(experiment, False), experiment.parts.baseline
    settings |= {
        "max_inbox": scratch_shapes(experiment.parts.arms, contexts.d, experiment.parts.agents)["work"][1],
        "tells_tallies": settings["history"] == 1,
        "common_lies": 0,
        "context": contexts.d,
        "row_size": row_size(contexts.d),
        "shares": contexts.shares,
        "vetting": contexts.vetting,
        "ridge": contexts.ridge,
    }
    if isinstance(baseline, ContextBaseline):
        settings["hears"] = baseline.hears
    return settings
