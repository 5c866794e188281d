"""One model of a report: what an agent keeps of its pulls, tells, and decides with, for means and for contexts alike.

A `ReportModel` says what a report is. A `Workspace` holds the numbers of one live agent, its own and those it received,
beside the compiled call over them. core/tallies.py has both for means, core/contexts/model.py and
core/contexts/workspace.py have them where rewards depend on a context x.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from byzmab.core.contexts.reports import ContextReport
from byzmab.core.decide import UNSOUND
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import NO_BELIEF, Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.forgetting import Forgetting
from byzmab.core.policies.base import NO_SUCH_ARM, Policy
from byzmab.core.report import Floats, Report, Words
from byzmab.core.tally import Arm, Tally

AnyReport = Report | ContextReport


class ReportModel(ABC):
    """What a report is: how many numbers an arm takes, how they grow, and which of them an honest agent can tell."""

    dimensions: int | None = None  # d of the contexts; None where there are none
    report: ClassVar[Any]  # the type of what is told
    usual: ClassVar[tuple[str, str]]  # the filter and the policy if not given

    @property
    @abstractmethod
    def row_size(self) -> int:
        """The numbers that a report has for an arm, and what follows from them."""

    @abstractmethod
    def check_context(self, x: Any) -> Floats | None:
        """Return a context as it is used, or raise BadInput."""

    @abstractmethod
    def check_contexts(self, asked: Any) -> Sequence[Floats | None]:
        """Return the context of each of several choices, which are given by these or by their number."""

    def observe(self, tally: Tally, value: float, x: Any) -> None:
        """Count the reward of a pull at a context."""
        tally.pulls += 1
        tally.total += value

    def clear(self, tally: Tally) -> None:
        """Forget the rewards of an arm."""
        tally.pulls, tally.total = 0, 0.0

    @abstractmethod
    def tell(self, rows: Floats, arms: Sequence[Any]) -> Any:
        """Return the report of rows, arms × `row_size`."""

    @abstractmethod
    def read(self, report: Any) -> Floats:
        """Return the rows of a report, arms × `row_size`; zeros are silence."""

    @abstractmethod
    def validate(self, report: Any, arms: tuple[Arm, ...]) -> Any:
        """Return a copy of a report with its arms named; raise BadInput if no honest agent can have told it."""

    @abstractmethod
    def audit(self, before: Any, after: Any) -> Arm | None:
        """Return an arm on which no honest agent tells `after` after `before`, None if there is none.

        Both are on the same arms.
        """

    @abstractmethod
    def workspace(self, filter: Filter, policy: Policy, rng: Words, forgetting: Forgetting) -> "Workspace":
        """Return the workspace of a new agent."""

    def settings(self) -> dict[str, Any]:
        """Return what a saved agent keeps of its model."""
        return {}


class Reading(NamedTuple):
    """How an agent reads reports now."""

    rows: Words  # the rows of those that it uses
    consistency: bool  # whether the filter has step A
    f: int
    kappa: float
    time: int
    spread: float  # how far agents differ: see core/differences.py
    due: bool  # whether that is measured anew
    differences: Floats  # τ² of every row, then one's own


class Pairs(NamedTuple):
    """One's own pair on an arm, and those of the reports heard; no pulls where a report is nothing at the context."""

    own_pulls: float
    own_mean: float
    pulls: Floats  # n_j
    means: Floats  # y_j


class PairsHeard(NamedTuple):
    """The reports on an arm as pairs, and what became of them before the filter."""

    pairs: Pairs
    speaks: NDArray[np.bool_]  # reports: which tell something of the arm
    left_out: NDArray[np.bool_]  # reports: which contradict one's own data
    trusts: bool  # whether they are used at all


class Workspace(ABC):
    """The numbers of one live agent as arrays, and the compiled call that believes and chooses.

    `allocate` sets the arrays; `rows` and `told` are views of those that the compiled call is given.
    """

    rows: Floats  # arms × row_size: one's own
    told: Floats  # capacity × arms × row_size: the reports heard
    pending: Floats  # arms: pulls whose reward is still to come
    beliefs: Floats  # the five rows of a Belief × arms
    believed: bool  # on these arrays
    lead = 0.0  # by how much what is heard foretold its rewards better than itself: see core/contexts/trial.py

    def __init__(self, model: Any, filter: Filter, policy: Policy, rng: Words) -> None:
        self.model, self._rng = model, rng
        self._params = np.array(filter.params, np.float64), np.array(policy.params, np.float64)

    @abstractmethod
    def allocate(self, tallies: Mapping[Arm, Tally], capacity: int) -> None:
        """Set up all arrays for these arms and so many reports, with one's own numbers in them."""

    @abstractmethod
    def observe(
        self, arm: Arm, tally: Tally, index: int | None, value: float, x: Any, reading: Callable[[], Reading]
    ) -> None:
        """Count the reward of a pull at a context; no index where the arm is retired."""

    def clear(self, arm: Arm, tally: Tally) -> None:
        """Forget the rewards of an arm; `allocate` comes next."""
        self.model.clear(tally)

    def write(self, row: int, report: Any, indices: Mapping[Arm, int]) -> None:
        """Write a report into its row, arm by arm; zeros are silence."""
        told, rows = self.told[row], self.model.read(report)
        if report.arms == tuple(indices):
            told[:] = rows
            return
        told[:] = 0.0
        for arm, numbers in zip(report.arms, rows, strict=True):
            if arm in indices:
                told[indices[arm]] = numbers

    @abstractmethod
    def believe(self, x: Any, reading: Reading, pick: bool) -> int:
        """Believe of all arms at a context; return the index of the arm to pull, or 0 if it is not asked for."""

    @abstractmethod
    def among(self, arms: list[int]) -> Self:
        """Return the arrays of some of the arms, copied, as if there were no others."""

    @abstractmethod
    def copy_for_query(self) -> Self:
        """Return a workspace that may believe at another context without changing what was believed for a choice."""

    @abstractmethod
    def pairs_at(self, arm: int, x: Any, rows: Words) -> PairsHeard:
        """Reduce one's own numbers and the reports on an arm to pairs at a context, at which it was believed."""

    def clock(self, time: int) -> float:
        """Return t as filter and policy see it."""
        return time

    @abstractmethod
    def state(self, tallies: Mapping[Arm, Tally]) -> dict[str, Any]:
        """Return what a saved agent keeps besides tallies and reports."""

    @abstractmethod
    def restore(self, state: dict[str, Any], tallies: Mapping[Arm, Tally]) -> None:
        """Take over what `state` told, into arrays that were allocated for these arms."""


def checked_choice(arm: int) -> int:
    """Return the arm that a compiled call chose, or raise BadInput where a plug-in failed."""
    if arm < 0:
        raise BadInput(NO_BELIEF if arm == UNSOUND else NO_SUCH_ARM)
    return arm


def fates_of(
    filter: Filter,
    heard: PairsHeard,
    f: int,  # before vetting
    kappa: float,
    time: int,
    expected: int = 0,  # how many neighbours should tell something; none where an absence proves nothing
    differences: Floats | None = None,  # τ² of each sender, where neighbours are compared
) -> list[Fate]:
    """Return the fate of every report on an arm; unused are those of senders that one does not trust, or hear."""
    pairs, speaks, left_out, trusts = heard
    out = int(left_out.sum())
    silent = max(0, expected - out - int((pairs.pulls > 0.0).sum()))
    if trusts and filter.hears:
        fates = filter.fates(*pairs, f - out, kappa, time, silent, differences)
    else:
        fates = [Fate.UNUSED if says else Fate.SILENT for says in speaks]
    vetted = zip(fates, left_out & speaks, strict=True)
    return [Fate.IMPLAUSIBLE if contradicts else fate for fate, contradicts in vetted]
