"""When a report is told again: every k rounds, or an arm as soon as its count has grown by a share δ."""

import math
from typing import Any, NamedTuple

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput

EVERY, GROWTH = "every", "growth"  # the names of the two ways
MOST_ROUNDS = 2_000_000_000
NO_GROWTH = -1.0  # in the place of δ: whole reports are told


class Tell(NamedTuple):
    """What a receiver is told, and when; at first the whole report."""

    rounds: int = 1  # k: the whole report every so many rounds
    growth: float = NO_GROWTH  # δ: an arm when its count has grown by this share since it was last told

    @property
    def keeps(self) -> bool:
        """Whether receivers must keep what they were told, as it is not told anew in every round."""
        return self.growth != NO_GROWTH or self.rounds > 1


def parse_tell(tell: Any) -> Tell:
    """The way of telling that a text names, or BadInput."""
    name, colon, parameter = tell.partition(":") if isinstance(tell, str) else ("", "", "")
    if name == EVERY and not colon:
        return Tell()
    if name == EVERY and parameter.isdecimal() and 1 <= int(parameter) <= MOST_ROUNDS:
        return Tell(rounds=int(parameter))
    if name == GROWTH and 0.0 <= number_of(parameter) <= 1.0:
        return Tell(growth=number_of(parameter))
    raise BadInput(
        f"tell {tell!r} is not allowed; allowed: {EVERY}, {EVERY}:k with a whole number k of rounds of at least 1, or "
        f"{GROWTH}:d with a share d in [0, 1]"
    )


def number_of(text: str) -> float:
    """The number that a text is; NaN, which compares false, where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@compiled
def is_due(count: float, told: float, growth: float) -> bool:
    """Whether a count has grown by a share since it was told; 0 stands for one that never was."""
    return count > told and count - told >= growth * told
