"""What the true means are in a run: as given or drawn, with what agents differ by, and with what moves them."""

from typing import NamedTuple

import numpy as np

from byzmab.core import draws
from byzmab.core.report import Floats
from byzmab.engine.state import State
from byzmab.experiment.experiment import Experiment
from byzmab.worlds.rewards import prepared_for


class Schedule(NamedTuple):
    """Tables of means, one after the other; agents in the engine's order."""

    rounds: tuple[int, ...]  # from which on each is in force
    tables: Floats  # entries × 1 or agents × arms
    common: Floats  # entries × arms: what agents have in common


def draw_schedule(experiment: Experiment, run: int) -> Schedule:
    """The means of a run without spread and drift: as given, or drawn and sorted decreasingly."""
    given = experiment.parts.given
    if not given.tables:
        drawn = draws.uniforms(draws.key_of(experiment.seed, run, draws.ARMS), given.arms)
        tables = np.sort(drawn)[::-1].reshape(1, 1, given.arms)
    else:
        tables = np.array(given.tables)
    if given.agents:
        tables = tables[:, list(experiment.parts.order)]
    return Schedule(given.rounds, tables.copy(), tables.mean(axis=1) if given.agents else tables[:, 0].copy())


def draw_means(experiment: Experiment, run: int) -> Floats:
    """μ of a run at its beginning; where agents differ, what they have in common of it."""
    return np.array(draw_schedule(experiment, run).common[0])


def draw_offsets(experiment: Experiment, run: int) -> Floats:
    """By how much the means of each agent differ from the common ones in a run: `spread` times normal numbers."""
    parts = experiment.parts
    if experiment.spread == 0.0:
        return np.zeros((parts.agents, parts.arms))
    key = draws.key_of(experiment.seed, run, draws.SPREAD)
    return experiment.spread * draws.normals(key, np.array(parts.order, np.int64), parts.arms)


def draw_own_means(experiment: Experiment, run: int) -> Floats:
    """μ of every agent in a run at its beginning, agents in the engine's order."""
    own = draw_schedule(experiment, run).tables[0] + draw_offsets(experiment, run)
    return np.asarray(own.clip(0.0, 1.0))


def set_means(state: State, experiment: Experiment, run: int) -> None:
    """Set all arrays of a state that have to do with true means."""
    schedule, own = draw_schedule(experiment, run), draw_own_means(experiment, run)
    state.true_means = schedule.common[0]
    state.own_means = own
    state.bests = own.argmax(axis=1)
    state.schedule_rounds = np.array(schedule.rounds)
    state.schedule, state.schedule_common = schedule.tables, schedule.common
    state.offsets = draw_offsets(experiment, run)
    state.drift_params = np.array(experiment.parts.drift.params)
    state.drift_key = draws.key_of(experiment.seed, run, draws.DRIFT)
    if experiment.parts.moves:  # rewards that prepare something do not go with that
        return
    turns, prepared = state.numbers % len(experiment.parts.rewards), own.copy()
    for turn, item in enumerate(experiment.parts.rewards):
        prepared[turns == turn] = prepared_for(item, own[turns == turn])
    state.prepared = prepared
