"""Judging what a search found: on fresh seeds, beside every other attack and beside being alone."""

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from byzmab.attacks import ATTACKS
from byzmab.attacks.crafted import Crafted
from byzmab.core.errors import BadInput
from byzmab.search.search import Search
from byzmab.simulation.compare import Comparison, compare
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import Result
from byzmab.simulation.run import simulate
from byzmab.simulation.statistics import describe

FRESH = 1  # added to the seed of the search: other streams, without any draw in common
FOUND, ALONE = "found", "solo"

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Judgement:
    """Results of the found attack, of every other and of being alone, all on the same fresh seeds."""

    results: dict[str, Result]  # FOUND first, the others from strong to weak, ALONE last

    @property
    def found(self) -> Result:
        """What the found attack does."""
        return self.results[FOUND]

    def excess(self, name: str) -> Comparison:
        """How far regret under the found attack exceeds another one."""
        return compare(self.found, self.results[name])

    def summary(self) -> dict[str, Any]:
        """Plain numbers: regret by name, and by how much that of the found attack exceeds it."""
        experiment = self.found.experiment
        rows = {name: {"regret": _numbers(result)} for name, result in self.results.items()}
        for name in rows:
            if name != FOUND:
                rows[name]["excess"] = asdict(self.excess(name))
        return {"seed": experiment.seed, "runs": experiment.runs, "attacks": rows}


def judge(search: Search, progress: Progress | None = None, workers: int | None = None) -> Judgement:
    """Play the found attack and all others on the runs of the experiment, with fresh seeds."""
    check_judged(search.experiment)
    experiment = search.experiment.but(seed=search.experiment.seed + FRESH)
    contest = _contestants(experiment, search.attack)
    results: dict[str, Result] = {}
    for name, contestant in contest.items():
        if progress is not None:
            progress(len(results), len(contest), f"judging {name}")
        with warnings.catch_warnings():
            if results:
                warnings.simplefilter("ignore")  # once is enough
            results[name] = simulate(contestant, workers=workers)
    between = sorted(contest.keys() - {FOUND, ALONE}, key=lambda name: -_numbers(results[name])["mean"])
    return Judgement({name: results[name] for name in (FOUND, *between, ALONE)})


def check_judged(experiment: Experiment) -> None:
    """Raise BadInput for an experiment on which nothing can be compared; to be called before a long search."""
    if experiment.runs < 2:
        raise BadInput(f"runs {experiment.runs} is too few to judge what is found; allowed: at least 2")


def _contestants(experiment: Experiment, found: Crafted) -> dict[str, Experiment]:
    """The found attack, those with a name, the experiment's own, and nobody to listen to."""
    others = {name: name for name, entry in ATTACKS.entries.items() if entry is not Crafted}
    own = experiment.settings()["attack"]
    contest = {FOUND: found, **others, own: experiment.attack}
    alone = experiment.but(filter="solo", algorithm="resilient", attack="none")
    return {name: experiment.but(attack=attack) for name, attack in contest.items()} | {ALONE: alone}


def _numbers(result: Result) -> dict[str, float]:
    return {key: value for key, value in describe(result.network_regret[:, -1]).items() if key != "runs"}
