"""How much memory contexts take, told before anything is compiled."""

import math

from byzmab.core.contexts.believe import scratch_shapes
from byzmab.core.contexts.statistics import row_size
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.sizes import expected_lies, rows_to_keep


def context_bytes(experiment: Experiment) -> int:
    """About how much memory contexts take in one run, besides the rest; none where there are none."""
    parts, contexts = experiment.parts, experiment.parts.contexts
    if contexts is None:
        return 0
    agents, arms, d = parts.agents, parts.arms, contexts.d
    rows = agents * (experiment.memory + experiment.delay + 1) + expected_lies(experiment) + rows_to_keep(experiment)
    scratch = sum(map(math.prod, scratch_shapes(arms, d, agents).values()))
    return 8 * (rows * arms * (row_size(d) + 1) + agents * scratch)
