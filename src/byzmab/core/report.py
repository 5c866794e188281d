"""What agents tell each other, and what they make of it."""

import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byzmab.core.audit import can_follow
from byzmab.core.errors import BadInput

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

LEAST_PULLS = 5e-324  # the least number above zero: a report of zero pulls is silence


class Report(NamedTuple):
    """What one agent reports on every arm; an honest agent reports its own tally.

    Parameters
    ----------
    pulls
        Number of pulls of every arm.
    means
        Sample mean of every arm.
    arms
        The arms, in this order; empty for the receiver's own.
    """

    pulls: Floats  # n_{i,k}
    means: Floats  # x̄_{i,k}
    arms: tuple[Any, ...] = ()  # which arms, in this order; empty: the hearer's own, in its order

    def as_rows(self) -> tuple[list[Any], list[float], list[float]]:
        """Arms, pulls and means as plain data."""
        return list(self.arms), np.asarray(self.pulls).tolist(), np.asarray(self.means).tolist()

    @classmethod
    def from_rows(cls, arms: list[Any], pulls: list[float], means: list[float]) -> "Report":
        """Return the report that `as_rows` took apart.

        Parameters
        ----------
        arms
            The arms.
        pulls
            Number of pulls of each.
        means
            Sample mean of each.
        """
        return cls(np.array(pulls, float), np.array(means, float), tuple(arms))

    def to_json(self) -> str:
        """The report as JSON, for a way of sending it of your own.

        >>> Report(np.array([3.0]), np.array([0.5]), ("red",)).to_json()
        '{"arms": ["red"], "pulls": [3.0], "means": [0.5]}'
        """
        return json.dumps(dict(zip(("arms", "pulls", "means"), self.as_rows(), strict=True)))

    @classmethod
    def from_json(cls, text: str | bytes) -> "Report":
        """The report that `to_json` wrote; BadInput if it is none. `Agent.hear` checks what it says.

        Parameters
        ----------
        text
            What `to_json` returned.

        Raises
        ------
        BadInput
            If the text is not a report.
        """
        try:
            told = json.loads(text)
            return cls.from_rows(told.get("arms", ()), told["pulls"], told["means"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            allowed = '{"arms": [...], "pulls": [...], "means": [...]}'
            raise BadInput(f"report {text[:80]!r} is not allowed; allowed: JSON like {allowed}") from None

    def can_follow(self, before: "Report") -> bool:
        """Whether an honest agent that told `before` can tell this afterwards: see core/audit.py.

        Silence on an arm says nothing: keep the last report that was not silent there to compare with.

        Parameters
        ----------
        before
            An earlier report of the same agent.

        Examples
        --------
        >>> first, more, fewer = (Report(np.array([n]), np.array([0.5]), ("red",)) for n in (4.0, 6.0, 2.0))
        >>> more.can_follow(first), fewer.can_follow(first)
        (True, False)
        """
        named = bool(self.arms and before.arms)
        past = _by_arm(before, named)
        told = ((*numbers, *past[arm]) for arm, numbers in _by_arm(self, named).items() if arm in past)
        return all(can_follow(*numbers) for numbers in told)


def _by_arm(report: Report, named: bool) -> dict[Any, tuple[float, float]]:
    """The count and the sum of rewards of every arm that is told, by its name or its place."""
    arms, pulls, means = report.as_rows()
    rows = zip(arms if named else range(len(pulls)), pulls, means, strict=True)
    return {arm: (count, count * mean) for arm, count, mean in rows if count > 0.0 and math.isfinite(mean)}


class Fates(NamedTuple):
    """Where a filter writes what became of each report: see core/filters/fates.py."""

    places: Integers  # of the reports as they were given: a filter that moves reports moves these with them
    codes: Integers  # by place: the fate


class Heard(NamedTuple):
    """All that a filter is given to believe something of one arm.

    Parameters
    ----------
    pulls
        Pulls in each report on the arm; where the filter asks for consistency, of the consistent reports.
    means
        Sample means of these reports.
    own_pulls
        The agent's own number of pulls.
    own_mean
        The agent's own sample mean.
    f
        Upper bound on Byzantine neighbours.
    kappa
        The agent's consistency level.
    time
        The round, t.
    silent
        Expected neighbours that reported nothing on the arm.
    params
        The filter's parameters, in the order of its fields.
    fates
        Where the filter writes what became of each report; None where nobody asks.
    """

    pulls: Floats  # n_j of the reports on the arm: those with a pull and, with consistency, those that pass step A
    means: Floats  # x̄_j of the same
    own_pulls: float  # n_i
    own_mean: float  # x̄_i
    f: int  # upper bound on Byzantine neighbours
    kappa: float  # κ_i
    time: int  # t
    silent: int  # expected neighbours that told nothing on the arm; 0 where nobody in particular is expected
    params: Floats  # the filter's parameters, in the order of its fields
    fates: Fates | None = None  # filled in where somebody asks; None costs nothing, as it is known to the compiler


class Middle(NamedTuple):
    """Reports that no receiver drops, told together: see `Filter.believe_dense`."""

    size: int
    means: float  # Σ x̄_j
    pulls: float  # Σ c_j: every count capped at one's own, c_j = min(n_j, n_i)
    rewards: float  # Σ c_j x̄_j
    at_least_own: int  # how many have n_j ≥ n_i
    centre: float  # the median of the agent's own mean and of all that is heard, for filters that say what they drop


NO_MIDDLE = Middle(0, 0.0, 0.0, 0.0, 0, math.nan)


class Belief(NamedTuple):
    """Estimate, weight and doubt of every arm after filtering, beside what the agent knows from its own pulls.

    Parameters
    ----------
    estimates
        Estimated mean of every arm, z.
    weights
        How many own pulls each estimate is worth, w.
    doubts
        Bound on the bias that Byzantine reports may have left, d.
    own_estimates
        The agent's own sample means.
    own_weights
        The agent's own numbers of pulls.
    """

    estimates: Floats  # z_{i,k}
    weights: Floats  # n_{i,k} / g_{i,k}: the number of own pulls that the estimate is worth
    doubts: Floats  # the bias that Byzantine reports may have left in the estimate
    own_estimates: Floats  # x̄_{i,k}: no report enters it
    own_weights: Floats  # n_{i,k}
