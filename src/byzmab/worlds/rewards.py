"""Rewards: the contract between a pull and the function that draws what it is worth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from byzmab.core.errors import BadInput
from byzmab.core.mistakes import Contract, a_number
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats

BISECTIONS = 64  # halvings of a range: until what is left is as small as rounding


class Pull(NamedTuple):
    """One pull. Agents and arms are numbered from 0, as are the runs, and the pulls of an agent on an arm.

    Attributes
    ----------
    run
        Number of the run.
    agent
        Number of the agent.
    arm
        Number of the arm.
    number
        How often this agent pulled this arm before.
    mean
        True mean of the arm.
    prepared
        What `prepare` made of the mean.
    """

    run: int
    agent: int
    arm: int
    number: int  # how often this agent pulled this arm before
    mean: float  # μ of the arm
    prepared: float  # what `prepare` made of μ


REWARD = Contract(
    {"pull": Pull(0, 0, 0, 0, 0.0, 0.0), "params": np.empty(0), "rng": np.zeros(1, np.uint64)},
    "a number from 0 to 1",
    a_number,
)


@dataclass(frozen=True)
class Rewards(Plugin):
    """Draws the reward of a pull: a number in [0, 1] whose mean is `pull.mean`.

    It provides one compiled function:

        reward(pull, params, rng) -> number

    `params` are its fields. `rng` is a random stream of this pull's own, a hash of seed, run, agent, arm and number;
    its first cell is random by itself, so that `unit(rng[0])` is the cheapest draw. As nothing else is known to it, a
    reward does not depend on the algorithm, and algorithms can be compared on the same random numbers.
    """

    kind: ClassVar[str] = "rewards"
    function: ClassVar[str] = "reward"
    reward: ClassVar[Any]
    unbiased: ClassVar[bool] = True  # whether the mean reward is the arm's; False where somebody alters rewards

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "reward", cls.reward, REWARD

    def prepare(self, means: Floats) -> Floats:
        """One number for each mean, kept for all pulls of a run: for what takes too long to compute at each of them.

        Parameters
        ----------
        means
            The true means.
        """
        return means


def prepared_for(rewards: Rewards, means: Floats) -> Floats:
    """What `prepare` makes of an array of means; BadInput where a user's own fails."""
    try:
        prepared = np.asarray(rewards.prepare(means.copy()), np.float64)
    except Exception as error:
        name = type(rewards).__name__
        raise BadInput(f"rewards {name!r}: prepare failed: {type(error).__name__}: {error}") from error
    if prepared.shape != means.shape:
        raise BadInput(f"rewards {type(rewards).__name__!r}: prepare made {prepared.shape} of {means.shape} means")
    return prepared


def where_rising(function: Callable[[Floats], Floats], wanted: Floats, low: float, high: float) -> Floats:
    """Where a rising function takes the wanted values, by bisection between `low` and `high`."""
    lows, highs = np.full(wanted.shape, low), np.full(wanted.shape, high)
    for _ in range(BISECTIONS):
        middle = lows + (highs - lows) / 2.0
        below = function(middle) < wanted
        lows, highs = np.where(below, middle, lows), np.where(below, highs, middle)
    return np.asarray(lows + (highs - lows) / 2.0)
