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
from byzmab.engine.state import BAD_BELIEF, NetworkState
from byzmab.simulation.context_settings import ContextParts, constant_of
from byzmab.simulation.context_world import context_parts, draw_leans, draw_parameters, usual_means
from byzmab.simulation.density import expected_edges
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.single_run import Run, settings_of
from byzmab.simulation.sizes import expected_lies, rows_to_keep


class ContextRun(Run):
    """One run of an experiment with contexts: `advance` it, and read its `state`."""

    def __init__(self, experiment: Experiment, run: int) -> None:
        parts, contexts = experiment.parts, context_parts(experiment)
        by = parts.baseline if isinstance(parts.baseline, ContextBaseline) else parts.filter
        self.loops = (
            drawing(parts.graph),
            telling_at(parts.tell.keeps),
            lying_at(parts.attack),
            believing_at(by, contexts.d),
            choosing(parts.policy, False),
            pulling_at(parts.rewards),
        )
        self._compiled: Any = advance_contexts
        self._believes_by = by.kind
        self.state = NetworkState(**_settings(experiment, contexts))
        self._tells_tallies = int(self.state.record["history"]) == 1
        self._set_inputs(experiment, run)
        self._set_tallies()
        self._set_contexts(experiment, run)
        self._set_edges(expected_edges(experiment, False) + parts.agents)
        self._grow_lies(rows_to_keep(experiment) + expected_lies(experiment) + 1)
        first_pulls_at(self.state.record, self.loops[-1])
        self._check_fault()

    def _check_fault(self) -> None:
        """BadInput where a plug-in did wrong; here beliefs may be an algorithm's, too."""
        if int(self.state.record["fault"]) == BAD_BELIEF:
            raise BadInput(NO_BELIEF.replace("filter", self._believes_by, 1))
        super()._check_fault()

    def _set_contexts(self, experiment: Experiment, run: int) -> None:
        """Set all that contexts need: parameters or data, where they lean, statistics, and what is kept of them."""
        state, parts, contexts = self.state, experiment.parts, context_parts(experiment)
        agents, arms, d = parts.agents, parts.arms, contexts.d
        state.record["context_key"] = draws.key_of(experiment.seed, run, draws.CONTEXTS)
        state.set("true_means", usual_means(experiment, run))
        state.set("parameters", draw_parameters(experiment, run))
        state.set("leans", draw_leans(experiment, run))
        data = contexts.data
        state.set("pool_contexts", np.zeros((0, d)) if data is None else data.contexts)
        state.set("pool_means", np.zeros((0, arms)) if data is None else data.means)
        state.set("constant", constant_of(contexts))
        state.set("ridge", [contexts.ridge])
        for name in ("contexts", "context_totals"):
            state.set(name, np.zeros((agents, d)))
        for name in ("context_means", "own_estimates", "own_weights"):
            state.set(name, np.zeros((agents, arms)))
        state.set("statistics", np.tile(empty_statistics(arms, d, contexts.ridge), (agents, 1, 1)))
        state.set("versions", np.zeros((agents, arms)))
        shapes = scratch_shapes(arms, d, agents)
        for name in ("stamps", "factors", "terms", "trial"):
            state.set(name, np.zeros((agents, *shapes[name])))
        state.set("pairs", np.zeros(shapes["work"]))
        state.set("lie_statistics", np.zeros((arms, row_size(d))))
        state.set("regret_totals", np.zeros(agents))
        state.set("attack_scratch", np.zeros(parts.attack.scratch_shape_at(arms, d)))
        if parts.baseline is not None:
            state.set("filter_params", parts.baseline.params)

    def _grow_lies(self, capacity: int) -> None:
        """Grow the rows of reports; those of normal agents are their statistics themselves where told at once."""
        super()._grow_lies(capacity)
        state = self.state
        agents, arms = int(state.record["agents"]), int(state.record["arms"])
        rows = int(state.record["history"]) * agents + capacity
        statistics = np.zeros((rows, arms, int(state.record["row_size"])))
        versions = np.zeros((rows, arms), np.uint64)
        for told, own, longer in (
            ("told_statistics", "statistics", statistics),
            ("told_versions", "versions", versions),
        ):
            if told in state:
                longer[: len(state[told])] = state[told]
            if self._tells_tallies:
                longer[:agents] = state[own]
            state.set(told, longer)
            if self._tells_tallies:
                state.set(own, state[told][:agents])


def _settings(experiment: Experiment, contexts: ContextParts) -> dict[str, int]:
    """The whole numbers of a state that follow from an experiment."""
    parts, baseline = experiment.parts, experiment.parts.baseline
    scratch = parts.attack.scratch_shape_at(parts.arms, contexts.d)
    settings = {
        **settings_of(experiment, False),
        "max_inbox": scratch_shapes(parts.arms, contexts.d, parts.agents)["work"][1],
        "common_lies": 0,
        "scratch_rows": scratch[0],
        "scratch_columns": scratch[1],
        "context": contexts.d,
        "row_size": row_size(contexts.d),
        "shares": contexts.shares,
        "vetting": contexts.vetting,
        "pool_size": 0 if contexts.data is None else len(contexts.data.contexts),
    }
    if isinstance(baseline, ContextBaseline):
        settings |= {"hears": baseline.hears, "filter_params_size": len(baseline.params)}
    return settings
