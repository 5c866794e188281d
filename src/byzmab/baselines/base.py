"""What a baseline is: an algorithm of its own on the same boards, graphs and attacks.

A baseline keeps its state in `estimates`, `weights` and `doubts` of the state, which mean something else to
each, and tells what stands in the rows of `told_pulls` and `told_means`. Trimming is by f; f = 0 is without.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from byzmab.core.compiler import compiled
from byzmab.core.filters.trimmed import sum_without_extremes
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats
from byzmab.engine.state import NetworkState


@dataclass(frozen=True)
class Baseline(Plugin):
    """An algorithm in two compiled loops over a network's state, between which every agent pulls its choice."""

    kind: ClassVar[str] = "algorithm"
    function: ClassVar[str] = "decide"
    decide: ClassVar[Any]  # from what was heard to choices
    update: ClassVar[Any]  # from the reward to what is told next

    def begin(self, state: NetworkState) -> None:
        """Set the numbers after the first pulls: everyone tells its own tally."""
        agents = int(state.record["agents"])
        state["told_pulls"][:agents] = state["weights"][:] = state["pulls"]
        state["told_means"][:agents] = state["estimates"][:] = state["means"]
        state["doubts"][:] = state["means"]


@compiled
def trimmed_sum(values: Floats, f: int) -> tuple[float, int]:
    """The sum of what is left without the f largest and f smallest, and how many those are; none of 2f or fewer."""
    if values.size <= 2 * f:
        return 0.0, 0
    return sum_without_extremes(values, f), values.size - 2 * f
