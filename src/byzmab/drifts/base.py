"""What a drift is: the contract of the function that moves the arms' means."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.mistakes import Contract, nothing
from byzmab.core.plugins import Plugin

MOVE = Contract(
    {"given": np.empty(0), "time": 0, "params": np.empty(0), "rng": np.zeros(1, np.uint64), "shifts": np.empty(0)},
    "nothing",
    nothing,
)


@dataclass(frozen=True)
class Drift(Plugin):
    """Moves the arms' means away from those that are given.

    It provides one compiled function, which is called once a round, before anybody hears or chooses:

        move(given, time, params, rng, shifts)

    `given` are the means of the arms as given for round `time`, which counts from 1. `shifts` holds what was added to
    them in the round before, at first 0, and is to hold what is added now; a sum outside [0, 1] is clipped. Where
    agents differ, `given` is what they have in common, and each agent's means are moved alike. `params` are the
    drift's fields. `rng` is a random stream of the run and round: nothing depends on the algorithm.
    """

    kind: ClassVar[str] = "drift"
    function: ClassVar[str] = "move"
    move: ClassVar[Any]
    moves: ClassVar[bool] = True  # False where shifts are always 0

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled function, with what is asked of it."""
        yield "move", cls.move, MOVE
