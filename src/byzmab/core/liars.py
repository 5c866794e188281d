"""How many liars an agent reckons with: f as it is given, or as many as the guarantee allows.

The paper's guarantee asks for 3f + 1 neighbours. So an agent that does not know f, and has a neighbours, can stand up
to (a − 1) / 3 of them, rounded down.
"""

from typing import Any

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.recommended import AUTO

ENOUGH_PER_LIAR = 3  # the paper's condition: more than 3f reports
FROM_NEIGHBOURS = -1  # in the place of f: AUTO, as compiled code knows it


@compiled
def most_allowed(neighbours: int) -> int:
    """The largest f for which so many neighbours are enough: 3f + 1 of them."""
    return max(0, (neighbours - 1) // ENOUGH_PER_LIAR)


@compiled
def f_for(f: int, neighbours: int) -> int:
    """f as it is given, or, for FROM_NEIGHBOURS, as many as so many neighbours allow."""
    return f if f >= 0 else most_allowed(neighbours)


def checked_f(f: Any, most: int) -> int:
    """A given f as compiled code knows it, or BadInput."""
    if isinstance(f, str) and f == AUTO:
        return FROM_NEIGHBOURS
    if isinstance(f, bool) or not isinstance(f, int) or not 0 <= f <= most:
        raise BadInput(f"f {f!r} is not allowed; allowed: a whole number from 0 to {most}, or {AUTO}")
    return f


def f_as_given(f: int) -> int | str:
    """What `checked_f` was given."""
    return AUTO if f == FROM_NEIGHBOURS else f
