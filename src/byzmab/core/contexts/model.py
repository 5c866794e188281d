"""Reports at contexts: the model of a report where rewards depend on a context x.

A row holds the statistics of a ridge regression, as core/contexts/statistics.py lists them. The pair of a row at x
depends on the other rows, too: see core/contexts/shares.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from byzmab.core import recommended
from byzmab.core.contexts import shares as ways
from byzmab.core.contexts.reports import (
    MOST_DIMENSIONS,
    ContextReport,
    check_growth,
    check_statistics,
    checked_context,
    checked_context_report,
    own_row_of,
    parts_of,
    report_of,
    row_of,
)
from byzmab.core.contexts.statistics import (
    EPSILON,
    LEAST_RIDGE,
    MOST_RIDGE,
    RIDGE,
    empty_statistics,
    observe,
    row_size,
)
from byzmab.core.errors import BadInput
from byzmab.core.filters.base import Filter
from byzmab.core.forgetting import Forgetting
from byzmab.core.model import ReportModel, Workspace
from byzmab.core.policies.base import Policy
from byzmab.core.report import Floats, Words
from byzmab.core.tally import Arm, Tally

MOST = 1_000_000  # choices at once
DERIVED = 1e-6  # how far saved θ and A⁻¹ may be from what follows from G and b, besides what rounding does


@dataclass(frozen=True)
class ContextModel(ReportModel):
    """Statistics of every arm, from which every report becomes a pair at x."""

    dimensions: int
    ridge: float = RIDGE  # λ
    shares: str = "equal"  # how reports become pairs: see core/contexts/shares.py
    vetting: bool = True  # whether neighbours that contradict one's own data are left out, and what is heard is tried

    report = ContextReport
    usual = recommended.CONTEXT_FILTER, recommended.CONTEXT_POLICY

    @property
    def row_size(self) -> int:
        """How many numbers a row has."""
        return int(row_size(self.dimensions))

    def check_context(self, x: Any) -> Floats:
        if x is None:
            raise BadInput(f"context is missing; allowed: {self.dimensions} numbers, as this agent has contexts")
        return checked_context(x, self.dimensions)

    def check_contexts(self, asked: Any) -> Sequence[Floats]:
        if not isinstance(asked, Iterable):
            raise BadInput(f"contexts {asked!r} are not allowed; allowed: up to {MOST} contexts, one for each choice")
        return [self.check_context(x) for x in asked]

    def observe(self, tally: Tally, value: float, x: Any) -> None:
        super().observe(tally, value, x)
        assert tally.row is not None
        observe(tally.row, x, value, self.ridge)

    def clear(self, tally: Tally) -> None:
        super().clear(tally)
        tally.row = self.blank(1)[0]

    def tell(self, rows: Floats, arms: Sequence[Any]) -> ContextReport:
        return report_of(rows, self.dimensions, arms)

    def read(self, report: ContextReport) -> Floats:
        rows = np.zeros((len(report.pulls), self.row_size))
        for row, (pulls, moment, gram) in zip(rows, zip(*report[:3], strict=True), strict=True):
            row[:] = row_of(pulls, moment, gram, self.ridge)
        return rows

    def validate(self, report: Any, arms: tuple[Arm, ...]) -> ContextReport:
        return checked_context_report(report, arms, self.dimensions)

    def audit(self, before: ContextReport, after: ContextReport) -> Arm | None:
        try:
            check_growth(before, after)
            return None
        except ValueError:  # LinAlgError is one, too
            if len(after.arms) == 1:
                return after.arms[0]  # type: ignore[no-any-return]
        middle = len(after.arms) // 2
        halves = slice(middle), slice(middle, None)
        found = (self.audit(_on(before, half), _on(after, half)) for half in halves)
        return next((arm for arm in found if arm is not None), None)

    def workspace(self, filter: Filter, policy: Policy, rng: Words, forgetting: Forgetting) -> Workspace:
        from byzmab.core.contexts.workspace import ContextWorkspace  # compiles what only a live agent needs

        return ContextWorkspace(self, filter, policy, rng)

    def settings(self) -> dict[str, Any]:
        return {"context": self.dimensions, "ridge": self.ridge, "shares": self.shares, "vetting": self.vetting}

    @property
    def way(self) -> int:
        """How reports become pairs, as compiled code knows it."""
        return ways.SHARES[self.shares]

    def blank(self, arms: int) -> Floats:
        """Return the rows of arms without a pull."""
        return empty_statistics(arms, self.dimensions, self.ridge)

    def own_row(self, pulls: int, moment: Floats, gram: Floats) -> Floats:
        """Return the row of one's own statistics of an arm, θ and A⁻¹ computed anew."""
        return own_row_of(pulls, moment, gram, self.ridge) if pulls else self.blank(1)[0]

    def checked_row(self, row: Floats, pulls: int) -> Floats:
        """Return a row as it was saved, or raise ValueError."""
        d = self.dimensions
        if row.shape != (row_size(d),) or row[0] != pulls or not np.isfinite(row).all():
            raise ValueError(f"{row.size} numbers are no statistics of {pulls!r} pulls and {d} dimensions")
        (moment,), (gram,) = parts_of(row[None], d)
        check_statistics(float(pulls), gram, moment)
        inverse, theta = row[-d * d :].reshape(d, d), row[1 + d : 1 + 2 * d]
        matrix = gram + self.ridge * np.eye(d)
        # each of the pulls errs by a last digit, and directions of which little is known make it large
        error = 16.0 * EPSILON * d * max(1, pulls) * float(np.linalg.norm(inverse))
        most, largest = error * float(np.linalg.norm(matrix)), error * float(np.linalg.norm(moment))
        follows = np.abs(inverse @ matrix - np.eye(d)).max() <= DERIVED + most
        if not follows or not np.abs(inverse @ moment - theta).max() <= DERIVED + largest + most * np.abs(theta).max():
            raise ValueError("parameters that do not follow from the statistics")
        return row


def _on(report: ContextReport, half: slice) -> ContextReport:
    """A report on some of its arms."""
    return ContextReport(report.pulls[half], report.moments[half], report.grams[half], report.arms[half])


def context_model(context: Any, ridge: Any = RIDGE, shares: Any = "equal", vetting: Any = True) -> ContextModel:
    """Return the model of these settings, or raise BadInput."""
    context = context.item() if isinstance(context, np.integer) else context
    if not isinstance(context, int) or isinstance(context, bool) or not 1 <= context <= MOST_DIMENSIONS:
        raise BadInput(f"context {context!r} is not allowed; allowed: dimensions from 1 to {MOST_DIMENSIONS}")
    if not isinstance(ridge, Real) or isinstance(ridge, bool) or not LEAST_RIDGE <= float(ridge) <= MOST_RIDGE:
        raise BadInput(f"ridge {ridge!r} is not allowed; allowed: a number from {LEAST_RIDGE:g} to {MOST_RIDGE:g}")
    if not isinstance(shares, str) or shares not in ways.SHARES:
        raise BadInput(f"shares {shares!r} is not allowed; allowed: {', '.join(ways.SHARES)}")
    if not isinstance(vetting, bool):
        raise BadInput(f"vetting {vetting!r} is not allowed; allowed: true or false")
    return ContextModel(context, float(ridge), shares, vetting)
