"""How much a run of an experiment is, in rounds recorded, rows and bytes, told before anything is compiled."""

import math
from typing import Any

import numpy as np

from byzmab.core.contexts.believe import scratch_shapes
from byzmab.core.contexts.statistics import row_size
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.density import expected_edges, is_dense

COMFORTABLE_BYTES = 600_000_000  # for all runs that are played at once, unless a number of workers is given


def grid_of(horizon: int, record: int) -> Any:
    """The rounds on which regret is recorded: about `record` of them, evenly spread, the last included."""
    return np.unique(np.linspace(0, horizon, min(record, horizon) + 1).round().astype(np.int64))[1:]


def is_always_same(experiment: Experiment) -> bool:
    """Whether everyone hears the same others in every round."""
    return not experiment.time_varying and experiment.subset is None


def expected_lies(experiment: Experiment) -> int:
    """How many reports of liars are heard in a round, to be expected."""
    return expected_edges(experiment, False) * experiment.parts.byzantine // experiment.parts.agents


def rows_to_keep(experiment: Experiment) -> int:
    """How many rows hold what was told and is not told anew: one per sender, or per edge, lies included."""
    agents = experiment.parts.agents
    if not experiment.parts.tell.keeps:
        return 0
    return agents if is_always_same(experiment) else agents * agents


def bytes_of(experiment: Experiment) -> int:
    """About how much memory one run takes."""
    parts = experiment.parts
    agents, arms = parts.agents, parts.arms
    dense = is_dense(experiment)
    edges = expected_edges(experiment, dense) + agents
    lies = expected_lies(experiment) + experiment.parts.byzantine
    memory = 0 if is_always_same(experiment) else min(experiment.memory, experiment.horizon)
    remembered = 0 if parts.tell.keeps else memory
    rows = agents * (remembered + experiment.delay + 1) + lies * (remembered + 1) + rows_to_keep(experiment)
    lists = (8 if memory else 3) * min(edges * (memory + 1), agents * agents)
    recorded = agents * min(experiment.record, experiment.horizon)
    tables = len(parts.given.rounds) * (parts.given.agents or 1) * arms + 2 * agents * parts.forgetting.window
    audited = agents * parts.byzantine * (2 * arms + 1) if parts.audits or parts.attack.careful else 0
    return 8 * int(2 * rows * arms + audited + lists + 14 * agents * arms + recorded + tables)


def context_bytes(experiment: Experiment) -> int:
    """About how much memory contexts take in one run, besides the rest; none where there are none."""
    parts, contexts = experiment.parts, experiment.parts.contexts
    if contexts is None:
        return 0
    agents, arms, d = parts.agents, parts.arms, contexts.d
    rows = agents * (experiment.memory + experiment.delay + 1) + expected_lies(experiment) + rows_to_keep(experiment)
    scratch = sum(map(math.prod, scratch_shapes(arms, d, agents).values()))
    return 8 * (rows * arms * (row_size(d) + 1) + agents * scratch)
