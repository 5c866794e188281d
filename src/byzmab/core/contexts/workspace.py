"""What a live agent decides with at a context: its statistics and inbox as arrays, and the compiled call over them."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Self

import numpy as np

from byzmab.core.contexts.believe import Scratch, scratch_shapes
from byzmab.core.contexts.comparing import WEIGHTS
from byzmab.core.contexts.decide import PENDING, ROWS, context_decision
from byzmab.core.contexts.model import ContextModel
from byzmab.core.contexts.pairs import pairs_of
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.contexts.trial import HEARD, LEAD, LEAST_LEAD, judge
from byzmab.core.filters.base import Filter
from byzmab.core.model import PairsHeard, Reading, Workspace, checked_choice
from byzmab.core.policies.base import Policy
from byzmab.core.report import Floats, Words
from byzmab.core.tally import Arm, Tally


class ContextWorkspace(Workspace):
    """Statistics with a version number for every arm, beliefs, and the scratch of core/contexts/believe.py."""

    model: ContextModel

    def __init__(self, model: ContextModel, filter: Filter, policy: Policy, rng: Words) -> None:
        super().__init__(model, filter, policy, rng)
        self._decide = context_decision(filter, policy)
        self._latest_version, self.lead = 0, 0.0
        self._heard_at: Floats | None = None  # the context at which the forecasts in the trial were made

    def _next_version(self) -> int:
        """Return a number that no statistics had yet."""
        self._latest_version += 1
        return self._latest_version

    def allocate(self, tallies: Mapping[Arm, Tally], capacity: int) -> None:
        arms, self.believed, self._heard_at = len(tallies), False, None
        self.rows = self.model.blank(arms)
        for index, tally in enumerate(tallies.values()):
            self.rows[index] = self.rows[index] if tally.row is None else tally.row
            tally.row = self.rows[index]
        self.told = np.zeros((capacity, arms, self.model.row_size))
        self._versions = np.zeros((capacity, arms), np.uint64)
        self._own_versions = np.full(arms, self._next_version(), np.uint64)
        self._use(np.zeros((ROWS, arms)), self._new_scratch(arms, capacity))
        for index, tally in enumerate(tallies.values()):
            self.pending[index] = tally.pending

    def _use(self, table: Floats, scratch: Scratch) -> None:
        """Go on with these arrays: the rows of core/contexts/decide.py × arms, and what is kept between decisions."""
        self._table, self._scratch = table, scratch
        self.beliefs, self.pending = table[:PENDING], table[PENDING]

    def _new_scratch(self, arms: int, capacity: int) -> Scratch:
        """Return a `Scratch` in which nothing was computed yet, but for the lead of what is heard."""
        shapes = scratch_shapes(arms, self.model.dimensions, capacity)
        stamps = np.zeros(shapes.pop("stamps"), np.uint64)
        scratch = Scratch(stamps, **{name: np.zeros(shape) for name, shape in shapes.items()})
        scratch.trial[LEAD] = self.lead
        return scratch

    def write(self, row: int, report: Any, indices: Mapping[Arm, int]) -> None:
        """Write a report into its row, as a new version."""
        super().write(row, report, indices)
        self._versions[row] = self._next_version()

    def observe(
        self, arm: Arm, tally: Tally, index: int | None, value: float, x: Any, reading: Callable[[], Reading]
    ) -> None:
        if index is not None:
            if self.model.vetting:
                self._judge(index, value, x, reading())
            self._own_versions[index] = self._next_version()
        self.model.observe(tally, value, x)

    def _judge(self, index: int, value: float, x: Any, reading: Reading) -> None:
        """Let a reward judge what is heard, by the forecasts of the choice at x if it was the latest, else of now."""
        if not len(reading.rows):
            return
        made = self
        if self._heard_at is None or not np.array_equal(self._heard_at, x):
            made = self.copy_for_query()
            made.believe(x, reading, pick=False)
        trial = made._scratch.trial
        judge(trial, self.rows[index], index, x, value)
        self.lead = self._scratch.trial[LEAD] = float(trial[LEAD])

    def believe(self, x: Any, reading: Reading, pick: bool) -> int:
        """Believe of all arms; they are neutral before the first context."""
        self.believed = True
        if x is None:
            self.beliefs[:] = [[NEUTRAL], [0.0], [0.0], [NEUTRAL], [0.0]]
            return 0
        self._heard_at = x
        model, (rows, consistency, f, kappa, time, *_) = self.model, reading
        chosen = self._decide(
            self.rows,
            self._own_versions,
            self._table,
            (self.told, self._versions, rows),
            x,
            # nobody is expected: an absent neighbour proves nothing
            (model.ridge, model.way, model.vetting, consistency, f, kappa, time, 0),
            self._params,
            tuple(self._scratch),
            self._rng,
            pick,
        )
        return checked_choice(chosen)

    def among(self, arms: list[int]) -> Self:
        self._heard_at = None  # of the others nothing is known at this context
        some = copy(self)
        some.rows, some.told = self.rows[arms], self.told[:, arms].copy("C")
        some._own_versions, some._versions = self._own_versions[arms], self._versions[:, arms].copy("C")
        some._use(self._table[:, arms].copy("C"), self._new_scratch(len(arms), len(self.told)))
        return some

    def copy_for_query(self) -> Self:
        look = copy(self)
        look._use(self._table.copy(), self._scratch._replace(trial=self._scratch.trial.copy()))
        return look

    def pairs_at(self, arm: int, x: Any, rows: Words) -> PairsHeard:
        own, told, scratch, model = self.rows[arm], self.told[rows, arm], self._scratch, self.model
        left_out = scratch.work[2, : len(told)] > 0.0
        speaks = told[:, 0] > 0.0
        heard = speaks & ~left_out
        weights = np.where(heard, scratch.terms[arm, WEIGHTS, : len(told)], 0.0)
        centre = scratch.factors[arm, -model.dimensions :]
        pairs = pairs_of(own, told, x, model.ridge, model.way, heard, weights, centre)
        return PairsHeard(pairs, speaks, left_out, trusts=not model.vetting or self.lead >= LEAST_LEAD)

    def state(self, tallies: Mapping[Arm, Tally]) -> dict[str, Any]:
        heard = [] if self._heard_at is None else self._scratch.trial[HEARD:].tolist()
        rows = [[arm, *tally.row.tolist()] for arm, tally in tallies.items() if tally.row is not None]
        return {"statistics": rows, "trial": [self.lead, *heard]}

    def restore(self, state: dict[str, Any], tallies: Mapping[Arm, Tally]) -> None:
        saved = {arm: np.array(numbers, float) for arm, *numbers in state["statistics"]}
        if saved.keys() != tallies.keys():
            raise ValueError(f"arms {list(tallies)} have statistics of {list(saved)}")
        for index, (arm, tally) in enumerate(tallies.items()):
            row = self.model.checked_row(saved[arm], tally.pulls)
            if index < len(self.rows):
                self.rows[index] = row
            else:  # retired
                tally.row = row
        self.lead, *heard = np.array(state.get("trial", [0.0]), float).tolist()
        if not np.isfinite([self.lead, *heard]).all() or len(heard) not in (0, len(self.rows)):
            raise ValueError("a trial that is no number for every arm")
        self._scratch.trial[LEAD] = self.lead
        if heard:
            self._scratch.trial[HEARD:] = heard
            self._heard_at = None if state["latest"] is None else self.model.check_context(state["latest"])
