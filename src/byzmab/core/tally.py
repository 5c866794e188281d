"""What an agent knows from its own pulls, and checks of what it is given from outside."""

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Report
from byzmab.html import table

Name = str | int
Arm = Name
MOST_PAST = 10**12  # pulls of an arm in a table of past counts


class Tally:
    """What an agent knows of one arm from its own pulls: `Agent.tally(arm)` returns it.

    Parameters
    ----------
    pulls
        Rewarded pulls.
    total
        The sum of their rewards.
    pending
        Pulls whose reward is still to come.

    Examples
    --------
    >>> tally = Tally(pulls=4, total=3.0)
    >>> tally, tally.mean
    (Tally(pulls=4, total=3, pending=0), 0.75)
    """

    __slots__ = ("pending", "pulls", "row", "total")

    def __init__(self, pulls: int = 0, total: float = 0.0, pending: int = 0) -> None:
        self.pulls = pulls  # rewarded
        self.total = total
        self.pending = pending  # chosen, but not rewarded yet
        self.row: Floats | None = None  # statistics at contexts, where there are any: see core/contexts/statistics.py

    def __repr__(self) -> str:
        return f"Tally(pulls={self.pulls}, total={self.total:g}, pending={self.pending})"

    def _repr_html_(self) -> str:
        return table(
            "tally", ("pulls", "total", "mean", "pending"), [(self.pulls, self.total, self.mean, self.pending)]
        )

    @property
    def mean(self) -> float:
        """The sample mean; 0 before the first reward."""
        return self.total / self.pulls if self.pulls else 0.0


def checked_name(what: str, name: Any) -> Name:
    """A name of an arm or a neighbour, numpy's numbers as Python's, or BadInput if it is none."""
    name = name.item() if isinstance(name, (np.integer, np.str_)) else name
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise BadInput(f"{what} {name!r} is not allowed; allowed: a name or a whole number")
    return name


def checked_time(time: Any) -> int:
    """A time as it was saved, or ValueError."""
    if not isinstance(time, int) or not 0 <= time < 2**62:
        raise ValueError(f"time {time!r} is not a whole number of at least 0")
    return time


def checked_tally(pulls: Any, total: Any, pending: Any) -> Tally:
    """A tally as it was saved, or ValueError."""
    whole = all(isinstance(count, int) and 0 <= count < 2**53 for count in (pulls, pending))
    if not whole or not isinstance(total, (int, float)) or not 0.0 <= total <= pulls * (1.0 + 1e-9):
        raise ValueError(f"{pulls!r} pulls with {total!r} of reward and {pending!r} pending are no tally")
    return Tally(pulls, float(total), pending)


def past_tallies(table: Any, arms: Collection[Arm]) -> dict[Arm, Tally]:
    """The tallies of a table of past counts, arm → (pulls, mean), or BadInput; arms with no pulls are left out."""
    if not isinstance(table, Mapping):
        raise BadInput(f"table {table!r} is not allowed; allowed: arms, each with its pulls and their mean")
    tallies = {}
    for arm, past in table.items():
        name = checked_name("arm", arm)
        if name not in arms:
            raise BadInput(f"arm {name!r} does not exist; allowed: {', '.join(map(repr, arms))}")
        pulls, mean = past if isinstance(past, Sequence) and len(past) == 2 else (past, None)
        pulls = pulls.item() if isinstance(pulls, np.integer) else pulls
        whole = isinstance(pulls, int) and not isinstance(pulls, bool) and 0 <= pulls <= MOST_PAST
        if not whole or not isinstance(mean, Real) or not 0.0 <= float(mean) <= 1.0:
            allowed = f"whole pulls from 0 to {MOST_PAST}, and a mean in [0, 1]"
            raise BadInput(f"past counts {past!r} of arm {name!r} are not allowed; allowed: {allowed}")
        if pulls:
            tallies[name] = Tally(pulls, pulls * float(mean))
    return tallies


def as_rows(tallies: dict[Arm, Tally]) -> list[list[Any]]:
    """Tallies as plain data, arm by arm."""
    return [[arm, tally.pulls, tally.total, tally.pending] for arm, tally in tallies.items()]


def checked_report(report: Report, arms: tuple[Arm, ...]) -> Report:
    """A copy of a report with its arms named, or BadInput if it is none."""
    if not isinstance(report, Report):
        raise BadInput(f"report of type {type(report).__name__} is not allowed; allowed: a Report")
    try:
        names = tuple(checked_name("arm", name) for name in report.arms) or arms
        pulls, means = np.array(report.pulls, np.float64), np.array(report.means, np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"report {report!r} is not allowed; allowed: numbers of pulls and means") from None
    if pulls.shape != (len(names),) or means.shape != (len(names),) or len(set(names)) < len(names):
        raise BadInput(f"report on {pulls.size} pulls and {means.size} means is not allowed; allowed: one each per arm")
    for count, mean in zip(pulls.tolist(), means.tolist(), strict=True):
        if not (0.0 <= count < math.inf and 0.0 <= mean <= 1.0):
            raise BadInput(
                f"report of {count!r} pulls with mean {mean!r} is not allowed; allowed: pulls ≥ 0, mean in [0, 1]"
            )
    return Report(pulls, means, names)
