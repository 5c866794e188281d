"""Reports of means: the model of a report where rewards depend on the arm alone, and a live agent's arrays of it.

A row is (n, x̄). The pair of a row is the row itself, whatever else was told.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from byzmab.core.audit import can_follow
from byzmab.core.decide import ESTIMATES, MEANS, PENDING, PULLS, ROWS, decision
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import Filter
from byzmab.core.forgetting import ALL, Forgetting
from byzmab.core.model import Pairs, PairsHeard, Reading, ReportModel, Workspace, checked_choice
from byzmab.core.policies.base import Policy
from byzmab.core.recent_tallies import RecentTallies
from byzmab.core.report import Belief, Floats, Report, Words
from byzmab.core.tally import Arm, Tally, checked_report

MOST = 1_000_000  # choices at once


class TallyModel(ReportModel):
    """Pulls and means of every arm."""

    report = Report
    row_size = 2
    usual = "trimmed", "ucb"

    def check_context(self, x: Any) -> None:
        if x is not None:
            raise BadInput("context is not allowed; allowed: none, as this agent was made without `context`")

    def check_contexts(self, asked: Any) -> Sequence[None]:
        if not isinstance(asked, int) or isinstance(asked, bool) or not 0 <= asked <= MOST:
            raise BadInput(f"count {asked!r} is not allowed; allowed: a whole number from 0 to {MOST}")
        return [None] * asked

    def tell(self, rows: Floats, arms: Sequence[Any]) -> Report:
        return Report(rows[:, 0].copy(), rows[:, 1].copy(), tuple(arms))

    def read(self, report: Report) -> Floats:
        return np.stack((report.pulls, report.means), axis=1)

    def validate(self, report: Any, arms: tuple[Arm, ...]) -> Report:
        return checked_report(report, arms)

    def audit(self, before: Report, after: Report) -> Arm | None:
        known = {arm: (count, count * mean) for arm, count, mean in zip(*before.as_rows(), strict=True)}
        told = zip(*after.as_rows(), strict=True)
        follows = ((arm, can_follow(count, count * mean, *known[arm])) for arm, count, mean in told if arm in known)
        return next((arm for arm, may in follows if not may), None)

    def workspace(self, filter: Filter, policy: Policy, rng: Words, forgetting: Forgetting) -> Workspace:
        return TallyWorkspace(filter, policy, rng, forgetting)


TALLIES = TallyModel()


class TallyWorkspace(Workspace):
    """What a live agent decides with: its own table, with beliefs, and the pulls and means that it was told."""

    def __init__(self, filter: Filter, policy: Policy, rng: Words, forgetting: Forgetting) -> None:
        super().__init__(TALLIES, filter, policy, rng)
        self.recent = None if forgetting.kind == ALL else RecentTallies(forgetting)
        self._decide = decision(filter, policy, self.recent is not None)

    def allocate(self, tallies: Mapping[Arm, Tally], capacity: int) -> None:
        self._arms, self.believed = tuple(tallies), False
        self._work: Floats = np.zeros((2, capacity))
        self._use(np.zeros((ROWS, len(tallies))), np.zeros((self.model.row_size, capacity, len(tallies))))
        for index, tally in enumerate(tallies.values()):
            self._own[PULLS, index], self._own[MEANS, index] = tally.pulls, tally.mean
            self.pending[index] = tally.pending
        self._write_recent()

    def _use(self, own: Floats, told: Floats) -> None:
        """Go on with these arrays: rows of core/decide.py × arms, and 2 × capacity × arms."""
        self._own, self._told = own, told
        self.rows, self.told = own[PULLS : MEANS + 1].T, told.transpose(1, 2, 0)
        self.pending, self.beliefs = own[PENDING], own[ESTIMATES:]

    def _write_recent(self) -> None:
        """Where tallies forget, go by what is left of them."""
        if self.recent is not None:
            for index, arm in enumerate(self._arms):
                self.rows[index] = self.recent.of(arm)

    def observe(
        self, arm: Arm, tally: Tally, index: int | None, value: float, x: Any, reading: Callable[[], Reading]
    ) -> None:
        self.model.observe(tally, value, x)
        if index is not None:
            self._own[PULLS, index], self._own[MEANS, index] = tally.pulls, tally.mean
        if self.recent is not None:
            self.recent.add(arm, value)
            self._write_recent()

    def clear(self, arm: Arm, tally: Tally) -> None:
        super().clear(arm, tally)
        if self.recent is not None:
            self.recent.drop(arm)

    def believe(self, x: Any, reading: Reading, pick: bool) -> int:
        self.believed = True
        return checked_choice(self._call(self._decide, self._own, self._params, reading, pick))

    def proven_belief(self, believe: Any, params: tuple[Floats, Floats], reading: Reading) -> Belief:
        """Return what a filter with a theorem believes of the rewarded pulls alone; pending ones make nothing surer."""
        own = self._own.copy()
        own[PENDING] = 0.0
        self._call(believe, own, params, reading, False)
        return Belief(*own[ESTIMATES:])

    def _call(self, decide: Any, own: Floats, params: tuple[Floats, Floats], reading: Reading, pick: bool) -> int:
        rows, consistency, f, kappa, time, spread, due, differences = reading
        setting = consistency, f, kappa, time, self.clock(time), spread, due
        return int(decide(own, self._told, self._work, rows, differences, params, self._rng, setting, pick))

    def among(self, arms: list[int]) -> Self:
        some = copy(self)
        some._use(self._own[:, arms].copy("C"), self._told[:, :, arms].copy("C"))
        return some

    def copy_for_query(self) -> Self:
        return self  # there is but one context

    def pairs_at(self, arm: int, x: Any, rows: Words) -> PairsHeard:
        pulls, means = self._told[:, rows, arm]
        own, mean = self.rows[arm]
        nobody = np.zeros(rows.size, np.bool_)
        return PairsHeard(Pairs(own, mean, pulls, means), pulls > 0.0, nobody, trusts=True)

    def clock(self, time: int) -> float:
        return time if self.recent is None else self.recent.clock

    def state(self, tallies: Mapping[Arm, Tally]) -> dict[str, Any]:
        return {"recent": None if self.recent is None else self.recent.as_rows()}

    def restore(self, state: dict[str, Any], tallies: Mapping[Arm, Tally]) -> None:
        if self.recent is not None:
            self.recent = RecentTallies.from_rows(self.recent.forgetting, *state["recent"])
            self._write_recent()
