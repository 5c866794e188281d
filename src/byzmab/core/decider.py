"""The part of one agent that believes and chooses: its neighbours, its arms and its workspace, kept in step."""

import warnings
from typing import Any

import numpy as np

from byzmab.core.differences import AUTO, EVERY
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate
from byzmab.core.liars import TooFewNeighbours, are_enough, f_left, ignored_because
from byzmab.core.model import Reading, ReportModel, Workspace, fates_of
from byzmab.core.policies.base import Policy
from byzmab.core.report import Floats, Words
from byzmab.core.tally import Arm, Name, Tally
from byzmab.core.traffic import Forced, Traffic, luck_at


class Decider:
    """The part of an agent that believes and chooses; what it is given is checked already."""

    def __init__(
        self,
        tallies: dict[Arm, Tally],
        f: int,
        kappa: float,
        filter: Filter,
        policy: Policy,
        seed: int,
        neighbours: int | None,
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
        self._rng = np.array([0, seed], np.uint64)
        self._spread = filter.spread_between_agents
        self._rows_of = dict[Name, int]()
        self._differences: Floats = np.array([max(self._spread, 0.0) ** 2])
        self._tallies, self._inbox = tallies, dict[Name, Any]()  # the newest report of each sender
        self._model: ReportModel
        self._workspace: Workspace

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
        return self._workspace.clock(self.time)

    @property
    def _beliefs(self) -> Floats:
        return self._workspace.beliefs

    def _used_rows(self) -> Words:
        """The rows of the reports that the filter uses; warn once where reports are ignored."""
        if not self.filter.hears:
            return self._rows[:0]
        if self.ignores_reports:
            if self._inbox:
                self._warn()
            return self._rows[:0]
        return self._rows

    def _reading(self) -> Reading:
        rows, setting = self._used_rows(), (self.filter.consistency, self.f, self.kappa, self.time)
        return Reading(rows, *setting, self._spread, self._compares, self._differences)

    def _warn(self) -> None:
        """Warn, once, that all reports are ignored."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(ignored_because(self.may_hear, len(self.expelled)), TooFewNeighbours, stacklevel=2)

    def _set_arrays(self) -> None:
        """Set up the workspace anew, from tallies and inbox."""
        self._arms = tuple(self._tallies)
        self._indices = {arm: index for index, arm in enumerate(self._arms)}
        self._unpulled = {arm: None for arm, tally in self._tallies.items() if not tally.pulls + tally.pending}
        own, neighbours = float(self._differences[-1]), self._neighbour_differences
        self._rows_of = {sender: row for row, sender in enumerate(self._inbox)}
        self._rows = np.arange(len(self._rows_of), dtype=np.uint64)
        self._capacity = max(8, 2 * len(self._rows_of))  # reports for which there is room
        self._set_differences(own, neighbours)
        self._workspace.allocate(self._tallies, self._capacity)
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
        """Write τ² of the agent itself, and of those senders for which it is known."""
        self._differences = np.zeros(self._capacity + 1)  # by row; the last one is the agent's own
        self._differences[-1] = own
        for sender, row in self._rows_of.items():
            self._differences[row] = neighbours.get(sender, 0.0)

    def _write(self, sender: Name) -> None:
        """Write a neighbour's report into its row."""
        self._workspace.write(self._rows_of[sender], self._inbox[sender], self._indices)

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
        return among[self._workspace.among(among).believe(self._x, self._reading()._replace(due=False), pick=True)]

    def _update(self, pick: bool) -> int:
        """Believe anew of all arms, and choose one where asked to."""
        return self._workspace.believe(self._x, self._reading(), pick)

    def _fates_at(self, x: Floats | None) -> dict[Name, dict[Arm, Fate]]:
        """What becomes of each report on each arm at a context."""
        look, uses = self._workspace.copy_for_query(), self.filter.hears and not self.ignores_reports
        if x is not None:
            look.believe(x, self._reading(), pick=False)
        columns = [self._fates_on(look, arm, x, uses) for arm in range(len(self._arms))] if self._rows_of else []
        return {
            sender: {arm: column[row] for arm, column in zip(self._arms, columns, strict=True)}
            for sender, row in self._rows_of.items()
        }

    def _fates_on(self, look: Workspace, arm: int, x: Floats | None, uses: bool) -> list[Fate]:
        """What becomes of each report on an arm, row by row; an arm without a pull of your own hears nobody."""
        if not (uses and look.rows[arm, 0] and (x is not None or self._model.dimensions is None)):
            return [Fate.UNUSED if pulls > 0.0 else Fate.SILENT for pulls in look.told[self._rows, arm, 0]]
        compared = self._spread == AUTO and self._model.dimensions is None
        apart = self._differences[self._rows] if compared else None
        heard = look.pairs_at(arm, x, self._rows)
        return fates_of(self.filter, heard, self.f, self.kappa, int(self.clock), differences=apart)
