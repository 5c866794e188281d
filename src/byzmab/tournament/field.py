"""The field of a tournament: which filters and policies meet which attacks, where, and the solo counterpart of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from byzmab.core import recommended
from byzmab.core.errors import BadInput
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.files import open_experiment

# found against guarded with moss over 10 000 rounds (docs/concepts/attack-search.md); its switch is at the same share
SEARCHED = (
    "crafted:careful=1,best=1.233,second=-0.511,others=0.021,best_count=4.878,second_count=0.035,other_counts=0,"
    "share=0.399,spared=0.459,spared_count=1.519,switch=1700,best_share=0.663"
)
# a chosen few, for which docs/tournament.md has figures: a new plug-in need not be among them
FILTERS = ("trimmed", "mean", "median", "pooled", "screened", recommended.FILTER)
POLICIES = ("ucb", "tuned", "kl-ucb", "thompson", recommended.POLICY)
ATTACKS = (
    *("constant", "gaussian", "adaptive", "extreme", "starve", "mimic", "alie"),
    *("alie:careful=1", "starve:careful=1", "victim", "phased:250", SEARCHED),
)
CONTEXT_ATTACKS = ("constant", "flip", "large", "swap", "blind-alie", "stealth", "inflate", "extreme-at", "alie-at")
GRAPHS = ("complete", "erdos-renyi:0.8", "ring:8", "time-varying erdos-renyi:0.6")
AGENTS = (10, 20)
USUAL = {"horizon": 2_000, "runs": 20, "record": 20}  # where nothing else is asked for
TIME_VARYING = "time-varying "  # before the name of a graph that is drawn anew in every round


class Cell(NamedTuple):
    """One match: a filter and a policy against an attack, on a graph of so many agents."""

    filter: str
    policy: str
    attack: str
    graph: str
    agents: int


@dataclass(frozen=True)
class Field:
    """All matches. `base` holds the settings that they share."""

    base: Experiment
    filters: Sequence[str] = FILTERS
    policies: Sequence[str] = POLICIES
    attacks: Sequence[str] = ATTACKS
    graphs: Sequence[str] = GRAPHS
    agents: Sequence[int] = AGENTS

    def matches(self) -> dict[Cell, Experiment]:
        """Every combination, and its experiment."""
        cells = map(Cell._make, product(self.filters, self.policies, self.attacks, self.graphs, self.agents))
        return {cell: self._experiment(cell) for cell in cells}

    def solos(self) -> dict[tuple[str, int], Experiment]:
        """The experiment in which all are alone, by policy and number of agents: attack and graph do not matter."""
        alone = self.base.but(filter="solo", graph="complete", attack="none", time_varying=False, memory=0)
        return {(policy, n): alone.but(policy=policy, agents=n) for policy, n in product(self.policies, self.agents)}

    def _experiment(self, cell: Cell) -> Experiment:
        varying = cell.graph.startswith(TIME_VARYING)
        graph = cell.graph.removeprefix(TIME_VARYING)
        return self.base.but(**{**cell._asdict(), "graph": graph}, time_varying=varying or self.base.time_varying)


def read_field(file: str | Path | None, changes: Mapping[str, Any]) -> Field:
    """The field of an experiment file and changes; lists of filters, policies, attacks, graphs and agents win."""
    chosen = {name: changes[name] for name in Cell._fields if changes.get(name)}
    shared = {name: value for name, value in changes.items() if name not in Cell._fields}
    usual = {} if file is not None else USUAL
    base = open_experiment(file, {**usual, **shared})
    if base.parts.baseline is not None:
        raise BadInput(
            f"algorithm {base.algorithm!r} does not go with a tournament of filters; allowed: resilient (byzmab "
            "compare-algorithms plays the others)"
        )
    if base.context > 0 and "attack" not in chosen:
        chosen["attack"] = CONTEXT_ATTACKS
    plural = {"filter": "filters", "policy": "policies", "attack": "attacks", "graph": "graphs", "agents": "agents"}
    return Field(base, **{plural[name]: tuple(dict.fromkeys(values)) for name, values in chosen.items()})
