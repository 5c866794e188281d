"""What is true in a run with contexts: parameters, directions and means, drawn or given, without compiling."""

import math

import numpy as np

from byzmab.core import draws
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats
from byzmab.experiment.context_settings import ContextParts, constant_of_drawn
from byzmab.experiment.experiment import Experiment


def context_parts(experiment: Experiment) -> ContextParts:
    """The settings of contexts of an experiment that has some."""
    contexts = experiment.parts.contexts
    assert contexts is not None, "only experiments with contexts come here"
    return contexts


def draw_directions(key: np.uint64, count: int, size: int) -> Floats:
    """Vectors of length 1, each direction equally likely."""
    rng, rows = np.array([key], np.uint64), np.empty((count, size))
    for row in rows:
        row[:] = [draws.normal(rng) for _ in range(size)]
        row /= np.linalg.norm(row)
    return rows


def draw_parameters(experiment: Experiment, run: int) -> Floats:
    """θ of every arm in a run: as given, or the linear fit of data, or drawn: ½ + ½ uᵀv with v on the unit sphere."""
    contexts = context_parts(experiment)
    if contexts.parameters is not None:
        return np.array(contexts.parameters)
    if contexts.data is not None:
        fitted = np.linalg.lstsq(contexts.data.contexts, contexts.data.means - NEUTRAL)[0]
        return np.ascontiguousarray(fitted.T, np.float64)
    key = draws.key_of(experiment.seed, run, draws.ARMS)
    if contexts.d == 1:  # means as they are drawn without contexts
        return np.sort(draws.uniforms(key, contexts.arms))[::-1, None] - NEUTRAL
    parameters = np.zeros((contexts.arms, contexts.d))
    parameters[:, 1:] = math.sqrt(0.5) * draw_directions(key, contexts.arms, contexts.d - 1)
    return parameters


def draw_leans(experiment: Experiment, run: int) -> Floats:
    """The direction in which each agent's contexts lean, without the constant; one column more, which is not used."""
    contexts, agents = context_parts(experiment), experiment.parts.agents
    leans = np.zeros((agents, contexts.d))
    if contexts.lean > 0.0 and contexts.d > 1:
        key = draws.key_of(experiment.seed, run, draws.LEANS)
        leans[:, :-1] = contexts.lean * draw_directions(key, agents, contexts.d - 1)
    return leans


def usual_means(experiment: Experiment, run: int) -> Floats:
    """The mean of every arm over contexts that do not lean, or over the data."""
    contexts = context_parts(experiment)
    if contexts.data is not None:
        return contexts.data.means.mean(axis=0)  # type: ignore[no-any-return]
    middle = constant_of_drawn(contexts.d) / (2.0 if contexts.d > 1 else 1.0)
    return NEUTRAL + draw_parameters(experiment, run) @ middle
