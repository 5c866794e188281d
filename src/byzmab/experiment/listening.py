"""How many reports agents have at once, and whether they listen at all."""

import numpy as np

from byzmab.core.liars import ENOUGH_PER_LIAR, f_for
from byzmab.core.report import Floats, Integers
from byzmab.experiment.experiment import Experiment

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
        # of those that one may hear, each is heard in a round with equal chance, and remembered for some
        others = may_hear(experiment)
        heard = others * (1.0 - (1.0 - heard / np.maximum(others, 1.0)) ** (experiment.memory + 1))
    return np.asarray(heard)


def f_of_agents(experiment: Experiment) -> Integers:
    """Return f of each agent: as given, or what the neighbours allow that it may hear.

    On graphs drawn anew these are all others. The number heard in one round would not do: all Byzantine agents may be
    among them.
    """
    return np.array([f_for(experiment.parts.f, int(count)) for count in may_hear(experiment)])


def hears_enough(experiment: Experiment) -> bool:
    """Whether nearly every round brings every honest agent more than 3f reports, where neighbours change.

    With f = 0 it must be more than 3, too: with fewer the number changes so much that agents did worse than alone.
    """
    parts = experiment.parts
    heard, others = expected_heard(experiment)[parts.byzantine :], may_hear(experiment)[parts.byzantine :]
    share = np.minimum(heard / np.maximum(others, 1.0), 1.0)
    varies = is_redrawn(experiment) or remembers_others(experiment)
    deviation = np.sqrt(heard * (1.0 - share)) if varies else 0.0
    enough = ENOUGH_PER_LIAR * np.maximum(f_of_agents(experiment)[parts.byzantine :], 1)
    return bool(np.all(heard - NEARLY_ALWAYS * deviation > enough))


def listens(experiment: Experiment) -> bool:
    """Return whether agents use any reports.

    Where neighbours change from round to round, an agent that pools reports in one round and is alone in the next
    explores for both: it does worse than alone. A filter that is `steady` uses no reports there, unless an agent nearly
    always holds enough of them, remembered ones included.
    """
    parts = experiment.parts
    if parts.baseline is not None:
        return bool(getattr(parts.baseline, "hears", True))
    changes = is_redrawn(experiment) or experiment.subset is not None
    if not (parts.filter.steady and changes):
        return parts.filter.hears
    return hears_enough(experiment)
