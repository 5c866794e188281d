"""What a search is for: how much a result is worth to the Byzantine agents, beside that of solo."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from byzmab.core.errors import BadInput, unknown
from byzmab.results.result import Result

LOCKED = 2.0  # a run locked in where its regret is above this many times solo's mean: 100 or so at the paper's arms
LEAST_REGRET = 1e-9  # of an agent alone that is divided by
DEFAULT = "regret"


class Beside(NamedTuple):
    """What a result is compared with, on the same runs."""

    alone: Result  # the same policy with nobody heard
    lock_in: float  # the network regret above which a run locked in


def threshold(alone: Result, given: float | None = None) -> float:
    """The network regret above which a run locked in: as given, or twice solo's mean."""
    return LOCKED * float(alone.network_regret[:, -1].mean()) if given is None else given


def check_threshold(given: float | None) -> None:
    """Raise BadInput unless a threshold of lock-ins is a regret above 0."""
    if given is not None and not 0.0 < given < float("inf"):
        raise BadInput(f"lock-in {given!r} is not allowed; allowed: a regret above 0")


def locked(result: Result, lock_in: float) -> int:
    """In how many runs the network locked in."""
    return int((result.network_regret[:, -1] > lock_in).sum())


def regret(result: Result, beside: Beside) -> float:
    """The network regret at the horizon, mean over runs."""
    return float(result.network_regret[:, -1].mean())


def lost_gain(result: Result, beside: Beside) -> float:
    """Minus the gain over solo of the honest agent that gains least."""
    final, alone = (item.regret_values[:, :, -1].mean(axis=0) for item in (result, beside.alone))
    return float((final - alone).max())


def worst_agent(result: Result, beside: Beside) -> float:
    """The regret of the honest agent that has most, mean over runs."""
    return float(result.regret_values[:, :, -1].mean(axis=0).max())


def victim(result: Result, beside: Beside) -> float:
    """The regret of the honest agent that loses most by listening, over what the same agent has alone."""
    final, alone = (item.regret_values[:, :, -1].mean(axis=0) for item in (result, beside.alone))
    return float((final / np.maximum(alone, LEAST_REGRET)).max())


def lock_ins(result: Result, beside: Beside) -> float:
    """The share of runs that locked in; between equal shares, how near the worst run came to it decides."""
    near = min(float(result.network_regret[:, -1].max()) / beside.lock_in, 1.0)
    return (locked(result, beside.lock_in) + 0.5 * near) / result.experiment.runs


GOALS: dict[str, Callable[[Result, Beside], float]] = {
    "regret": regret,
    "gain": lost_gain,
    "worst-agent": worst_agent,
    "victim": victim,
    "lock-in": lock_ins,
}


def check_goal(name: str) -> None:
    """Raise BadInput for a goal that is not known."""
    if name not in GOALS:
        raise unknown("goal", name, GOALS)
