"""Which loop believes: dense, where ordering reports once for all agents pays; digested, where little is told."""

from functools import lru_cache

from byzmab.core.liars import FROM_NEIGHBOURS
from byzmab.core.report import Floats
from byzmab.experiment.experiment import Experiment
from byzmab.graphs import Graph

# Where the dense path is faster, as measured: docs/decisions/0007-dense-path.md.
LEAST_AGENTS = 48
NORMAL_PER_MISSING = 12  # honest agents for each that an agent does not hear, itself included
NORMAL_PER_F = 8  # honest agents for each report trimmed on a side


@lru_cache(maxsize=64)
def degrees_of(graph: Graph, agents: int, byzantine: int) -> Floats:
    """Each agent's number of neighbours, to be expected or exact."""
    return graph.degrees(agents, byzantine)


def can_be_dense(experiment: Experiment) -> bool:
    """Whether reports can be ordered once for all: by the filter, and because everyone always hears the same others."""
    parts = experiment.parts
    always_same = not experiment.time_varying and experiment.subset is None and experiment.delay == 0
    always_same &= not parts.tell.keeps or experiment.epoch == 1
    always_same &= not parts.forgets and parts.contexts is None  # counts that fall are in no order, nor are matrices
    one_f = parts.f != FROM_NEIGHBOURS  # as many as a third of all would be no gain
    return always_same and one_f and parts.baseline is None and parts.filter.believe_dense is not None


def is_dense(experiment: Experiment) -> bool:
    """Whether they are: a rule on the experiment alone, so that it is played alike everywhere."""
    parts = experiment.parts
    normal = parts.agents - experiment.parts.byzantine
    if not can_be_dense(experiment) or parts.agents < LEAST_AGENTS or NORMAL_PER_F * parts.f > normal:
        return False
    missing = parts.agents - degrees_of(parts.placed, parts.agents, experiment.parts.byzantine).min()
    return bool(NORMAL_PER_MISSING * missing <= normal)


def is_digested(experiment: Experiment) -> bool:
    """Whether reports are digested when they are told: see engine/digest.py."""
    parts = experiment.parts
    always_same = not experiment.time_varying and experiment.subset is None and experiment.epoch == 1
    return parts.tell.keeps and always_same and parts.filter.digest is not None


def expected_edges(experiment: Experiment, dense: bool) -> int:
    """How many edges to make room for at first; those on which lies are told, where others need not be listed."""
    parts = experiment.parts
    agents = parts.agents
    degrees = degrees_of(parts.placed, agents, experiment.parts.byzantine)
    if dense and not parts.attack.sees_edges:
        return agents * int(max(experiment.parts.byzantine, 1.1 * (agents - degrees.mean()))) + 16
    return int(1.1 * degrees.sum()) + 16
