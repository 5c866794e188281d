"""What one agent decides with: its tallies and its inbox as arrays, and the compiled call over them."""

import warnings
from typing import Any

import numpy as np

from byzmab.core.decide import ESTIMATES, MEANS, PENDING, PULLS, ROWS, UNSOUND, decision
from byzmab.core.differences import AUTO, EVERY
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import NO_BELIEF, Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.forgetting import ALL, Forgetting
from byzmab.core.liars import TooFewNeighbours, are_enough, f_left, ignored_because
from byzmab.core.policies.base import NO_SUCH_ARM, Policy
from byzmab.core.recent_tallies import RecentTallies
from byzmab.core.report import Floats, Report, Words
from byzmab.core.tally import Arm, Name, Tally, checked_report
from byzmab.core.traffic import Forced, Traffic, luck_at


class Decider:
    """The part of an agent that believes and chooses; what it is given is checked already."""

    _report_type: Any = Report
    context: int | None = None  # dimensions of the contexts on which rewards depend

    def __init__(
        self,
        tallies: dict[Arm, Tally],
        f: int,
        kappa: float,
        filter: Filter,
        policy: Policy,
        seed: int,
        neighbours: int | None,
        forgetting: Forgetting,
    ) -> None:
        self._given_f, self.kappa, self.seed, self.neighbours = f, kappa, seed, neighbours
        self.expelled = set[Name]()  # neighbours proven to lie, and heard no more: each of them lowers f by one
        self._ever_heard = set[Name]()  # neighbours that sent a report, also if it was forgotten
        self._has_warned = False  # that reports are ignored
        self.filter, self.policy = filter, policy
        self.time = 0  # t: decisions after the first pulls
        self.traffic = Traffic()
        self._x: Floats | None = None  # the context of the latest choice, where there are contexts
        self.forced: Forced | None = None  # why the latest choice was not the policy's own
        self._recent = None if forgetting.kind == ALL else RecentTallies(forgetting)
        self._decide = self._compile()
        self._params = np.array(filter.params, np.float64), np.array(policy.params, np.float64)
        self._rng = np.array([0, seed], np.uint64)
        self._spread = filter.spread_between_agents
        self._rows_of = dict[Name, int]()
        self._differences: Floats = np.array([max(self._spread, 0.0) ** 2])
        self._tallies, self._inbox = tallies, dict[Name, Any]()  # the newest report of each sender
        self._set_arrays()

    @property
    def may_hear(self) -> int:
        """The number of neighbours it may hear: those configured or ever heard, absent and expelled ones included."""
        return max(self.neighbours or 0, len(self._ever_heard | self.expelled))

    @property
    def f(self) -> int:
        """The fault budget in force: f as given or as its neighbours allow, less those expelled.

        It depends on the neighbours that the agent may hear, never on who is present.
        """
        return f_left(self._given_f, self.may_hear, len(self.expelled))

    @property
    def ignores_reports(self) -> bool:
        """Whether all reports are ignored: with f = "auto" and fewer than four neighbours, or more expelled than f."""
        return self.filter.trims and not are_enough(self._given_f, self.may_hear, len(self.expelled))

    @property
    def clock(self) -> float:
        """t as filter and policy see it: the decisions, or what is left of the rewards where tallies forget."""
        return self.time if self._recent is None else self._recent.clock

    @property
    def _used_rows(self) -> Words:
        """The rows of the reports that the filter uses; warn once where reports are ignored."""
        if not self.filter.hears:
            return self._rows[:0]
        if self.ignores_reports:
            if self._inbox:
                self._warn()
            return self._rows[:0]
        return self._rows

    def _warn(self) -> None:
        """Warn, once, that all reports are ignored."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(ignored_because(self.may_hear, len(self.expelled)), TooFewNeighbours, stacklevel=2)

    def _compile(self) -> Any:
        """Filter and policy in the one compiled call."""
        return decision(self.filter, self.policy, self._recent is not None)

    def _checked(self, report: Any, arms: tuple[Arm, ...]) -> Any:
        """A copy of a report with its arms named, or BadInput."""
        return checked_report(report, arms)

    def _fates(self, arm: int) -> list[Fate]:
        """What becomes of each report on an arm, row by row."""
        own, mean, (pulls, means) = self._own_pulls[arm], self._own_means[arm], self._told[:, self._rows, arm]
        if not own or self.ignores_reports:
            return [Fate.UNUSED if heard else Fate.SILENT for heard in pulls]
        apart = self._differences[self._rows] if self._spread == AUTO else None
        return self.filter.fates(own, mean, pulls, means, self.f, self.kappa, int(self.clock), 0, apart)

    def _set_arrays(self) -> None:
        """Set up the arrays of `decide` anew, from tallies and inbox."""
        self._arms = tuple(self._tallies)
        self._indices = {arm: index for index, arm in enumerate(self._arms)}
        self._unpulled = {arm: None for arm, tally in self._tallies.items() if not tally.pulls + tally.pending}
        own, neighbours = float(self._differences[-1]), self._neighbour_differences
        self._rows_of = {sender: row for row, sender in enumerate(self._inbox)}
        self._rows = np.arange(len(self._rows_of), dtype=np.uint64)
        self._capacity = max(8, 2 * len(self._rows_of))  # reports for which there is room
        self._set_differences(own, neighbours)
        self._believed = False  # on these arrays
        self._allocate(len(self._arms))
        for index, tally in enumerate(self._tallies.values()):
            self._own_pending[index] = tally.pending
        self._set_recent()
        for sender in self._inbox:
            self._write(sender)

    @property
    def _compares(self) -> bool:
        """Whether differences between agents are measured before the next choice."""
        return self._spread == AUTO and self.time > 0 and self.time % EVERY == 0

    @property
    def _neighbour_differences(self) -> dict[Name, float]:
        """τ² of each sender, as it was measured last."""
        return {sender: float(self._differences[row]) for sender, row in self._rows_of.items()}

    def _set_differences(self, own: float, neighbours: dict[Name, float]) -> None:
        """Write τ² of the agent itself, and of those senders of whom it is known."""
        self._differences = np.zeros(self._capacity + 1)  # by row; the last one is the agent's own
        self._differences[-1] = own
        for sender, row in self._rows_of.items():
            self._differences[row] = neighbours.get(sender, 0.0)

    def _set_recent(self) -> None:
        """Where tallies forget, go by what is left of them."""
        if self._recent is not None:
            for index, arm in enumerate(self._arms):
                self._own_pulls[index], self._own_means[index] = self._recent.of(arm)

    def _allocate(self, arms: int) -> None:
        """Make the arrays of `decide`, with one's own tallies in them."""
        self._own: Floats = np.zeros((ROWS, arms))
        self._told: Floats = np.zeros((2, self._capacity, arms))
        self._work: Floats = np.zeros((2, self._capacity))
        self._own_pulls, self._own_means, self._own_pending = (self._own[row] for row in (PULLS, MEANS, PENDING))
        self._beliefs = self._own[ESTIMATES:]
        for arm, tally in self._tallies.items():
            self._count(arm, tally)

    def _count(self, arm: Arm, tally: Tally) -> None:
        """Write what the rewards of an arm in use have come to."""
        index = self._indices[arm]
        self._own_pulls[index], self._own_means[index] = tally.pulls, tally.mean

    def _write(self, sender: Name) -> None:
        """Write a neighbour's report into its row, arm by arm."""
        report = self._inbox[sender]
        pulls, means = self._told[:, self._rows_of[sender]]
        if report.arms == self._arms:
            pulls[:], means[:] = report.pulls, report.means
            return
        pulls[:] = 0.0
        for arm, count, mean in zip(report.arms, report.pulls, report.means, strict=True):
            index = self._indices.get(arm)
            if index is not None:
                pulls[index], means[index] = count, mean

    def _choose(self) -> int:
        """The index of the arm to pull: the policy's choice, or what floors and caps make of it."""
        if self.traffic.is_free:
            return self._update(pick=True)
        if self._compares:
            self._update(pick=False)  # of all arms, not only of those that are free
        index, self.forced = self.traffic.draw(self._arms, luck_at(self.seed, self.time), self._prefer)
        return index

    def _prefer(self, among: list[int]) -> int:
        """The index of the arm that the policy prefers among some, as if there were no others."""
        if len(among) == len(self._arms):
            return self._update(pick=True)
        return among[self._call(self._own[:, among].copy("C"), self._told[:, :, among].copy("C"), True, False)]

    def _update(self, pick: bool) -> int:
        """Believe anew of all arms, and choose one where asked to."""
        self._believed = True
        return self._call(self._own, self._told, pick, self._compares)

    def _call(self, own: Floats, told: Floats, pick: bool, due: bool) -> int:
        """`decide` on these arms."""
        arm: int = self._decide(
            own,
            told,
            self._work,
            self._used_rows,
            self._differences,
            self._params,
            self._rng,
            (self.filter.consistency, self.f, self.kappa, self.time, self.clock, self._spread, due),
            pick,
        )
        if arm < 0:
            raise BadInput(NO_BELIEF if arm == UNSOUND else NO_SUCH_ARM)
        return arm
