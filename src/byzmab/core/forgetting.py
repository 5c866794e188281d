"""Tallies that forget: all rewards count alike, or the older the less, or only the latest.

D-UCB and SW-UCB of Garivier and Moulines (2008) are the policy `ucb` on such tallies, with nobody heard.
"""

from typing import Any, NamedTuple

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.tell import number_of

ALL, FORGET, WINDOW = range(3)
NAMES = {"all": ALL, "forget": FORGET, "window": WINDOW}
LEAST_LEFT = 1e-9  # what is left of a count at least, so that every width is a number
NEUTRAL = 0.5  # the mean of an arm of which nothing is left
MOST_WINDOW = 10_000_000


class Forgetting(NamedTuple):
    """How a tally forgets."""

    kind: int = ALL
    factor: float = 1.0  # γ: what is left of a count after one more pull, of any arm
    window: int = 0  # how many of the latest pulls count

    def check_window(self, arms: int) -> None:
        """BadInput where the window is too short for one pull of each arm."""
        if self.kind == WINDOW and self.window < arms:
            raise BadInput(
                f"tally 'window:{self.window}' is too short; allowed: at least one pull of each of {arms} arms"
            )


def parse_tally(tally: Any) -> Forgetting:
    """The kind of tally that a text names, or BadInput."""
    name, _, parameter = tally.partition(":") if isinstance(tally, str) else ("", "", "")
    kind = NAMES.get(name)
    if kind == ALL and tally == name:
        return Forgetting()
    if kind == FORGET and 0.0 < number_of(parameter) < 1.0:
        return Forgetting(FORGET, factor=number_of(parameter))
    if kind == WINDOW and parameter.isdecimal() and 2 <= int(parameter) <= MOST_WINDOW:
        return Forgetting(WINDOW, window=int(parameter))
    raise BadInput(
        f"tally {tally!r} is not allowed; allowed: all, forget:g with a factor g above 0 and below 1, or window:n with "
        f"a number n of pulls from 2 to {MOST_WINDOW}"
    )


@compiled
def after_forgetting(count: float, factor: float) -> float:
    """What is left of a count after one more pull; of none, none."""
    return max(factor * count, LEAST_LEFT) if count > 0.0 else 0.0
