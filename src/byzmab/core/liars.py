"""The fault budget f: the number of Byzantine neighbours an agent defends itself against.

A person gives f, or it follows from the neighbours that the agent *may* hear (f = auto): the paper's guarantee asks for
3f + 1 of them. Absent, late and silent neighbours count, as an absence proves nothing. Only proof lowers f: each
neighbour that was expelled is one of the f.
"""

from typing import Any

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.recommended import AUTO

ENOUGH_PER_LIAR = 3  # the paper's condition: more than 3f reports
FEWEST = ENOUGH_PER_LIAR + 1  # neighbours with which f = auto is 1: with fewer it ignores all reports
FROM_NEIGHBOURS = -1  # in the place of f: AUTO, as compiled code knows it


class TooFewNeighbours(UserWarning):
    """Some agent has too few neighbours for f."""


@compiled
def most_allowed(neighbours: int) -> int:
    """The largest f for which so many neighbours are enough: 3f + 1 of them."""
    return max(0, (neighbours - 1) // ENOUGH_PER_LIAR)


@compiled
def f_for(f: int, neighbours: int) -> int:
    """Return f as given; for FROM_NEIGHBOURS as many as the neighbours allow, at least 1: f is 0 only if given."""
    return f if f >= 0 else max(1, most_allowed(neighbours))


@compiled
def f_left(f: int, neighbours: int, expelled: int) -> int:
    """Return the fault budget left for the neighbours that were not expelled: max(0, f − expelled)."""
    return max(0, f_for(f, neighbours) - expelled)


@compiled
def are_enough(f: int, neighbours: int, expelled: int) -> bool:
    """Return whether an agent may believe any report; where f is given, the person who gave it decided that.

    For FROM_NEIGHBOURS there must be neighbours enough for f = 1, and no more of them expelled than f allows.
    """
    return f >= 0 or most_allowed(neighbours) >= max(1, expelled)


def ignored_because(neighbours: int, expelled: int) -> str:
    """Return one sentence that says why an agent with f = auto ignores all reports, and what helps."""
    if neighbours < FEWEST:
        why = f"f = {AUTO} needs {FEWEST} neighbours or more, and this agent may hear {neighbours}"
    else:
        why = f"{expelled} of {neighbours} neighbours were expelled, more than f = {most_allowed(neighbours)} allows"
    return f"{why}: it ignores all reports; add neighbours, or give f as a number (0 believes everyone)"


def checked_f(f: Any, most: int) -> int:
    """A given f as compiled code knows it, or BadInput."""
    if isinstance(f, str) and f == AUTO:
        return FROM_NEIGHBOURS
    if isinstance(f, bool) or not isinstance(f, int) or not 0 <= f <= most:
        raise BadInput(f"f {f!r} is not allowed; allowed: a whole number from 0 to {most}, or {AUTO}")
    return f


def f_as_given(f: int) -> int | str:
    """The f that `checked_f` was given."""
    return AUTO if f == FROM_NEIGHBOURS else f
