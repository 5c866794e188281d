"""One agent whose rewards depend on a context: tell it the context, ask it for an arm, tell it the reward.

>>> from byzmab import Agent
>>> agent = Agent(["red", "green"], context=2, seed=1)
>>> for step in range(200):
...     x = (1.0, 0.0) if step % 2 else (0.0, 1.0)
...     arm = agent.select(x)
...     agent.reward(arm, 1.0 if (arm == "green") == (x[0] == 1.0) else 0.0, x)
>>> agent.select((1.0, 0.0)), agent.select((0.0, 1.0))
('green', 'red')
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from byzmab.core import recommended
from byzmab.core.agent import MOST, SHARES, VETTING, Agent
from byzmab.core.confidence import Best
from byzmab.core.contexts import shares as ways
from byzmab.core.contexts.decide import PENDING
from byzmab.core.contexts.decider import ContextDecider
from byzmab.core.contexts.reports import (
    MOST_DIMENSIONS,
    ContextReport,
    check_statistics,
    checked_context,
    parts_of,
    report_of,
)
from byzmab.core.contexts.statistics import (
    EPSILON,
    LEAST_RIDGE,
    MOST_RIDGE,
    NEUTRAL,
    RIDGE,
    empty_statistics,
    observe,
    row_size,
)
from byzmab.core.contexts.trial import HEARD
from byzmab.core.errors import BadInput
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Belief, Floats
from byzmab.core.tally import Arm, Name

ALL_REWARDS = "all"
USUAL = (3, "filter", recommended.CONTEXT_FILTER), (4, "policy", recommended.CONTEXT_POLICY)  # where, if not given
DERIVED = 1e-6  # how far saved θ and A⁻¹ may be from what follows from G and b, besides what rounding does


class ContextAgent(ContextDecider, Agent):
    """One agent of a network in which rewards depend on a context of d numbers, together no longer than 1.

    The mean reward of an arm at x is ½ + xᵀθ. An agent keeps and tells the statistics of a ridge regression for every
    arm; at x every report becomes a pair (pulls, mean), and filter and policy decide on these as they do without
    contexts. `ridge` is λ. `shares` says how reports become pairs: "equal" or "information" solve for all reports
    together, "projection" looks at each by itself. With `vetting` a neighbour whose parameters contradict one's own
    data is left out first, and counts as one of the f; and what it hears is followed only while it has foretold its own
    rewards no worse than it did itself: better by `lead` in squared errors, −1 or more. Filter and policy are "pooled"
    and "tuned" if not given, as measured to be best here.
    """

    def __init__(
        self,
        *arguments: Any,
        context: Any = None,
        ridge: Any = RIDGE,
        shares: Any = SHARES,
        vetting: Any = VETTING,
        **settings: Any,
    ) -> None:
        context = context.item() if isinstance(context, np.integer) else context
        if not isinstance(context, int) or isinstance(context, bool) or not 1 <= context <= MOST_DIMENSIONS:
            raise BadInput(f"context {context!r} is not allowed; allowed: dimensions from 1 to {MOST_DIMENSIONS}")
        if not isinstance(ridge, Real) or isinstance(ridge, bool) or not LEAST_RIDGE <= float(ridge) <= MOST_RIDGE:
            raise BadInput(f"ridge {ridge!r} is not allowed; allowed: a number from {LEAST_RIDGE:g} to {MOST_RIDGE:g}")
        if not isinstance(shares, str) or shares not in ways.SHARES:
            raise BadInput(f"shares {shares!r} is not allowed; allowed: {', '.join(ways.SHARES)}")
        if not isinstance(vetting, bool):
            raise BadInput(f"vetting {vetting!r} is not allowed; allowed: True or False")
        if settings.get("tally", ALL_REWARDS) != ALL_REWARDS:
            raise BadInput(f"tally {settings['tally']!r} does not go with context; allowed: {ALL_REWARDS}")
        self.context, self.ridge, self.shares, self.vetting = context, float(ridge), shares, vetting
        self._shares, self._statistics, self._latest_version, self.lead = ways.SHARES[shares], {}, 0, 0.0
        for index, name, usual in USUAL:
            if len(arguments) <= index:
                settings.setdefault(name, usual)
        super().__init__(*arguments, **settings)

    def __repr__(self) -> str:
        return super().__repr__().replace("<Agent with", f"<Agent with contexts of {self.context} dimensions,")

    def check_context(self, x: Any) -> Floats:
        """A context as it is used, or BadInput: d finite numbers, together no longer than 1."""
        if x is None:
            raise BadInput(f"context is missing; allowed: {self.context} numbers, as this agent has contexts")
        return checked_context(x, self.context)

    def select_many(self, count: Any) -> list[Arm]:
        """Choose an arm for each of some contexts, as so many calls of `select` before the next reward do."""
        if not isinstance(count, Iterable):
            raise BadInput(f"contexts {count!r} are not allowed; allowed: up to {MOST} contexts, one for each choice")
        return [self.select(x) for x in [self.check_context(x) for x in count]]

    def reward(self, arm: Arm, value: float, x: Any = None) -> None:
        """Count the reward, in [0, 1], of a pull of an arm at a context."""
        seen = self.check_context(x)
        trial = self._trial_at(seen)
        super().reward(arm, value, seen)
        if trial is not None and arm in self._indices:
            self._judge(trial, self._indices[arm], float(value), seen)
        observe(self._statistics[arm], seen, float(value), self.ridge)

    def warm_start(self, table: Mapping[Arm, tuple[int, float]]) -> None:
        """Refuse: counts without their contexts are nothing to begin with."""
        raise BadInput("warm start is not allowed with contexts; allowed: without, as past counts do not tell theirs")

    def report(self) -> ContextReport:  # type: ignore[override]  # another kind of report, for others with contexts
        """What an honest agent tells: the statistics of its rewarded pulls."""
        return report_of(self._known.own, self.context, self._arms)

    def belief(self, x: Any = None) -> Belief:
        """What the agent holds true of its arms at a context; at that of the latest choice if none is given.

        Whoever asks changes nothing: a reward judges the forecasts of its choice, not those of a later look.
        """
        known, at = self._known.apart(), self._x if x is None else self.check_context(x)
        if at is None:
            known.beliefs[:3] = [[NEUTRAL], [0.0], [0.0]]
        else:
            self._decide_at(at, known, pick=False)
        return Belief(*known.beliefs[:PENDING])

    def best(self, confidence: float = 0.95) -> Best:
        """Refuse: the best arm depends on the context, and no interval at a context is proven here."""
        raise BadInput("best is not allowed with contexts; allowed: belief(x), as the best arm depends on the context")

    def explain(self, x: Any = None) -> dict[Name, dict[Arm, Fate]]:
        """What becomes of each neighbour's report on each arm at a context; at the latest one if none is given.

        Whoever vetting has left out is implausible on every arm.
        """
        before = self._x, self._known, self._heard_at, self._believed
        self._x, self._known = self._x if x is None else self.check_context(x), self._known.apart()
        try:
            self._update(pick=False)
            return self._all_fates()
        finally:
            self._x, self._known, self._heard_at, self._believed = before

    def reset(self, arm: Arm) -> None:
        """Forget the rewards of an arm, as it has changed; those still to come count. All else stays."""
        self.tally(arm)
        self._statistics[arm] = empty_statistics(1, self.context, self.ridge)[0]
        super().reset(arm)

    def statistics(self, arm: Arm) -> tuple[Floats, Floats]:
        """b and G of an arm from one's own pulls, retired arms included; copies."""
        self.tally(arm)
        moments, grams = parts_of(self._statistics[arm][None], self.context)
        return moments[0], grams[0]

    def _state(self) -> dict[str, Any]:
        rows = [[arm, *row.tolist()] for arm, row in self._statistics.items()]
        at_contexts = {"context": self.context, "ridge": self.ridge, "shares": self.shares, "vetting": self.vetting}
        latest = None if self._x is None else self._x.tolist()
        heard = [] if self._heard_at is None else self._known.scratch.trial[HEARD:].tolist()
        trial = {"trial": [self.lead, *heard]}
        return {**super()._state(), **at_contexts, "latest": latest, "statistics": rows, **trial}

    def _restore(self, state: dict[str, Any]) -> None:
        pulls = {row[0]: row[1] for row in (*state["arms"], *state["retired"])}
        for arm, *numbers in state["statistics"]:
            self._statistics[arm] = self._checked_row(np.array(numbers, float), pulls.pop(arm))
        if pulls:
            raise ValueError(f"arms {list(pulls)} have no statistics")
        self._x = None if state["latest"] is None else self.check_context(state["latest"])
        self.lead, *heard = np.array(state.get("trial", [0.0]), float).tolist()
        if not np.isfinite([self.lead, *heard]).all() or len(heard) not in (0, len(state["arms"])):
            raise ValueError("a trial that is no number for every arm")
        super()._restore(state)
        if heard:
            self._heard_at, self._known.scratch.trial[HEARD:] = self._x, heard

    def _checked_row(self, row: Floats, pulls: int) -> Floats:
        """A row of statistics as it was saved, or ValueError."""
        d = self.context
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
