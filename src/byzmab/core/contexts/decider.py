"""What one agent decides with at a context: its statistics and its inbox as arrays, and the compiled call over them."""

import math
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.contexts.believe import Scratch, scratch_shapes
from byzmab.core.contexts.comparing import WEIGHTS
from byzmab.core.contexts.decide import PENDING, ROWS, context_decision
from byzmab.core.contexts.fates import fates_at
from byzmab.core.contexts.pairs import pairs_of
from byzmab.core.contexts.reports import ContextReport, checked_context_report, row_of
from byzmab.core.contexts.statistics import NEUTRAL, empty_statistics
from byzmab.core.contexts.trial import LEAD, LEAST_LEAD, judge
from byzmab.core.decide import UNSOUND
from byzmab.core.decider import Decider
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import NO_BELIEF
from byzmab.core.filters.fates import Fate
from byzmab.core.policies.base import NO_SUCH_ARM
from byzmab.core.report import Floats, Words
from byzmab.core.tally import Arm, Name, Tally


class Known(NamedTuple):
    """What `decide_at` is given of some arms, and where it writes."""

    own: Floats  # arms × numbers: see core/contexts/statistics.py
    own_versions: Words  # arms
    beliefs: Floats  # ROWS of core/contexts/decide.py × arms: a Belief, and pulls pending
    told: Floats  # capacity × arms × numbers
    versions: Words  # capacity × arms
    scratch: Scratch

    def among(self, arms: list[int]) -> "Known":
        """The same of some of the arms, copied, as if there were no others."""
        capacity, d = len(self.told), math.isqrt(self.scratch.factors.shape[1])  # d² + 2d
        return Known(
            self.own[arms],
            self.own_versions[arms],
            self.beliefs[:, arms].copy("C"),
            self.told[:, arms].copy("C"),
            self.versions[:, arms].copy("C"),
            new_scratch(len(arms), d, capacity, self.scratch.trial[LEAD]),
        )

    def apart(self) -> "Known":
        """The same, to believe at another context without forgetting what was believed at the latest one."""
        scratch = self.scratch._replace(trial=self.scratch.trial.copy())
        return self._replace(beliefs=self.beliefs.copy(), scratch=scratch)


def new_scratch(arms: int, d: int, capacity: int, lead: float) -> Scratch:
    """A `Scratch` in which nothing was computed yet, but for the lead of what is heard."""
    shapes = scratch_shapes(arms, d, capacity)
    scratch = Scratch(
        **{name: np.zeros(shape, np.uint64 if name == "stamps" else float) for name, shape in shapes.items()}
    )
    scratch.trial[LEAD] = lead
    return scratch


class ContextDecider(Decider):
    """The part of an agent that believes and chooses at a context; what it is given is checked already."""

    _report_type = ContextReport
    context: int
    ridge: float  # λ
    _shares: int  # EQUAL, INFORMATION or PROJECTION
    vetting: bool
    _statistics: dict[Arm, Floats]  # the row of every arm, retired ones included
    _latest_version: int
    lead: float  # by how much what it hears foretold its rewards better than itself: see core/contexts/trial.py
    _heard_at: Floats | None  # the context at which the forecasts in the trial were made

    def _compile(self) -> Any:
        return context_decision(self.filter, self.policy)

    def _checked(self, report: Any, arms: tuple[Arm, ...]) -> Any:
        return checked_context_report(report, arms, self.context)

    def _next_version(self) -> int:
        """A number that no statistics had yet."""
        self._latest_version += 1
        return self._latest_version

    def _allocate(self, arms: int) -> None:
        d, capacity = self.context, self._capacity
        own = empty_statistics(arms, d, self.ridge)
        for index, arm in enumerate(self._arms):
            own[index] = self._statistics.get(arm, own[index])
            self._statistics[arm] = own[index]
        told, versions = np.zeros((capacity, arms, own.shape[1])), np.zeros((capacity, arms), np.uint64)
        own_versions = np.full(arms, self._next_version(), np.uint64)
        scratch = new_scratch(arms, d, capacity, self.lead)
        self._known = Known(own, own_versions, np.zeros((ROWS, arms)), told, versions, scratch)
        self._heard_at = None
        self._beliefs, self._own_pending = self._known.beliefs[:PENDING], self._known.beliefs[PENDING]

    def _count(self, arm: Arm, tally: Tally) -> None:
        self._known.own_versions[self._indices[arm]] = self._next_version()

    def _write(self, sender: Name) -> None:
        report, row = self._inbox[sender], self._rows_of[sender]
        self._known.told[row] = 0.0
        self._known.versions[row] = self._next_version()
        for arm, pulls, moment, gram in zip(report.arms, report.pulls, report.moments, report.grams, strict=True):
            if arm in self._indices:
                self._known.told[row, self._indices[arm]] = row_of(pulls, moment, gram, self.ridge)

    def _prefer(self, among: list[int]) -> int:
        if len(among) == len(self._arms):
            return self._update(pick=True)
        self._heard_at = None  # of the others nothing is known at this context
        return among[self._decide_at(self._x, self._known.among(among), pick=True)]

    def _update(self, pick: bool) -> int:
        """Believe anew of all arms at the latest context, and choose one where asked to; neutral before the first."""
        self._believed = True
        if self._x is None:
            self._beliefs[:] = [[NEUTRAL], [0.0], [0.0], [NEUTRAL], [0.0]]
            return 0
        self._heard_at = self._x
        return self._decide_at(self._x, self._known, pick)

    def _trial_at(self, x: Floats) -> Floats | None:
        """The trial with the forecasts at x: those of the choice there if it was the latest, else those of now."""
        if not (self.vetting and len(self._used_rows)):
            return None
        known = self._known
        if self._heard_at is None or not np.array_equal(self._heard_at, x):
            known = known.apart()
            self._decide_at(x, known, pick=False)
        return known.scratch.trial

    def _judge(self, trial: Floats, arm: int, value: float, x: Floats) -> None:
        """Let a reward judge what is heard, before it is counted in one's own statistics."""
        judge(trial, self._known.own[arm], arm, x, value)
        self.lead = self._known.scratch.trial[LEAD] = float(trial[LEAD])

    def _decide_at(self, x: Floats | None, known: Known, pick: bool) -> int:
        """`decide_at` on some arms."""
        own, own_versions, beliefs, told, versions, scratch = known
        arm: int = self._decide(
            own,
            own_versions,
            beliefs,
            (told, versions, self._used_rows),
            x,
            # nobody is expected: an absent neighbour proves nothing
            (self.ridge, self._shares, self.vetting, self.filter.consistency, self.f, self.kappa, self.time, 0),
            self._params,
            tuple(scratch),
            self._rng,
            pick,
        )
        if arm < 0:
            raise BadInput(NO_BELIEF if arm == UNSOUND else NO_SUCH_ARM)
        return arm

    def _fates(self, arm: int) -> list[Fate]:
        """What becomes of each report on an arm at the latest context, row by row; call `_update` before."""
        own, told = self._known.own[arm], self._known.told[self._rows, arm]
        speaks = told[:, 0] > 0.0
        if not own[0] or self._x is None or not self.filter.hears or self.ignores_reports:
            return [Fate.UNUSED if says else Fate.SILENT for says in speaks]
        left_out = self._known.scratch.work[2, : len(told)] > 0.0
        weights = self._known.scratch.terms[arm, WEIGHTS, : len(told)]
        centre = self._known.scratch.factors[arm, -self.context :]
        heard = speaks & ~left_out
        pairs = pairs_of(own, told, self._x, self.ridge, self._shares, heard, np.where(heard, weights, 0.0), centre)
        trusts = not self.vetting or self.lead >= LEAST_LEAD
        reading = trusts, self.f, self.kappa, self.time, 0
        return fates_at(self.filter, pairs, speaks, left_out, *reading)
