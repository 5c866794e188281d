"""How many reports agents have at once, and whether they listen at all."""

import numpy as np

from byzmab.core.liars import ENOUGH_PER_LIAR, f_for
from byzmab.core.report import Floats, Integers
from byzmab.simulation.experiment import Experiment

NEARLY_ALWAYS = 2.0  # standard deviations of the number of reports by which it must be met


def is_redrawn(experiment: Experiment) -> bool:
    """Whether the graph is drawn anew in every round."""
    return experiment.time_varying and experiment.parts.graph.random


def remembers_others(experiment: Experiment) -> bool:
    """Whether an agent holds reports of others than it hears in this round."""
    return experiment.memory > 0 and (experiment.subset is not None or experiment.time_varying)


def may_hear(experiment: Experiment) -> Floats:
    """How many others each agent may hear in some round or other."""
    parts = experiment.parts
    if is_redrawn(experiment):
        return np.full(parts.agents, parts.agents - 1.0)
    return np.asarray(parts.placed.degrees(parts.agents, parts.byzantine))


def expected_heard(experiment: Experiment) -> Floats:
    """How many neighbours' reports each agent has at once, to be expected or exact; remembered ones included."""
    parts = experiment.parts
    degrees = parts.placed.degrees(parts.agents, parts.byzantine)
    heard = degrees if experiment.subset is None else degrees.clip(max=experiment.subset)
    if remembers_others(experiment):
        # of whom one may hear, each is heard in a round with equal chance, and remembered for some
        others = may_hear(experiment)
        heard = others * (1.0 - (1.0 - heard / np.maximum(others, 1.0)) ** (experiment.memory + 1))
    return np.asarray(heard)


def f_of_all(experiment: Experiment) -> Integers:
    """f of each agent where neighbours change: as it is given, or what all whom it may hear allow.

    What those allow whom it hears in one round may be less than the liars among them.
    """
    return np.array([f_for(experiment.parts.f, int(count)) for count in may_hear(experiment)])


def hears_enough(experiment: Experiment) -> bool:
    """Whether nearly every round brings every normal agent more than 3f reports, where neighbours change."""
    parts = experiment.parts
    heard = expected_heard(experiment)[parts.byzantine :]
    share = np.minimum(heard / max(parts.agents - 1, 1), 1.0)
    deviation = np.sqrt(heard * (1.0 - share)) if is_redrawn(experiment) else 0.0
    enough = ENOUGH_PER_LIAR * f_of_all(experiment)[parts.byzantine :]
    return bool(np.all(heard - NEARLY_ALWAYS * deviation > enough))


def listens(experiment: Experiment) -> bool:
    """Whether agents hear anybody.

    Where neighbours change from round to round and nobody is remembered, an agent that pools what it hears in one
    round and is alone in the next explores for both: it would do worse than alone. A filter that is `steady` does not
    listen there, unless there are always enough.
    """
    parts = experiment.parts
    if parts.baseline is not None:
        return bool(getattr(parts.baseline, "hears", True))
    changes = is_redrawn(experiment) or experiment.subset is not None
    if not (parts.filter.steady and changes) or experiment.memory > 0 or parts.f == 0:
        return parts.filter.hears
    return hears_enough(experiment)
