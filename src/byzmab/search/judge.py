"""Judging what a search found: on fresh seeds, beside every other attack and beside being alone."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from byzmab.attacks import ALL_ATTACKS, ATTACKS, CONTEXT_ATTACKS, Attack
from byzmab.core.errors import BadInput
from byzmab.experiment.experiment import Experiment
from byzmab.results.result import Result
from byzmab.results.statistics import describe, share_interval
from byzmab.search import goals
from byzmab.search.search import Search, alone_of
from byzmab.simulation.compare import Comparison, compare
from byzmab.simulation.run import simulate
from byzmab.sweep.store import ResultStore

FRESH = 1  # added to the seed of the search: other streams, without any draw in common
FOUND, ALONE = "found", "solo"
UNNOTICED = ("none",)  # attacks in which an audit finds nothing

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Judgement:
    """Results of the found attack, of every other and of being alone, all on the same fresh seeds."""

    results: dict[str, Result]  # FOUND first, the others from strong to weak, ALONE last
    lock_in: float  # the network regret above which a run locked in

    @property
    def found(self) -> Result:
        """What the found attack does."""
        return self.results[FOUND]

    @property
    def worst_named(self) -> str:
        """The attack with the largest regret among those with a name."""
        return next(name for name in self.results if name != FOUND)

    def locked(self, name: str) -> dict[str, Any]:
        """How many runs locked in, their share, and its 95 % interval."""
        result = self.results[name]
        count, runs = goals.locked(result, self.lock_in), result.experiment.runs
        low, high = share_interval(count, runs)
        return {"runs": count, "share": count / runs, "low": low, "high": high}

    def excess(self, name: str) -> Comparison:
        """How far regret under the found attack exceeds another one."""
        return compare(self.found, self.results[name])

    def summary(self) -> dict[str, Any]:
        """Plain numbers: regret by name, and by how much that of the found attack exceeds it."""
        experiment = self.found.experiment
        rows = {name: {"regret": numbers(result), "locked": self.locked(name)} for name, result in self.results.items()}
        for name in rows:
            if name != FOUND:
                rows[name]["excess"] = asdict(self.excess(name))
        return {"seed": experiment.seed, "runs": experiment.runs, "lock_in": self.lock_in, "attacks": rows}


def judge(
    search: Search,
    progress: Progress | None = None,
    workers: int | None = None,
    store: ResultStore | None = None,
) -> Judgement:
    """Play the found attack and all others on the runs of the experiment, with fresh seeds."""
    check_judged(search.experiment)
    experiment = search.experiment.but(seed=search.experiment.seed + FRESH)
    contest = _contestants(experiment, search.attack)
    play = simulate if store is None else store.get
    results: dict[str, Result] = {}
    for name, contestant in contest.items():
        if progress is not None:
            progress(len(results), len(contest), f"judging {name}")
        with warnings.catch_warnings():
            if results:
                warnings.simplefilter("ignore")  # once is enough
            results[name] = play(contestant, workers=workers)
    others = (name for name in contest if name not in (FOUND, ALONE))
    between = sorted(others, key=lambda name: -numbers(results[name])["mean"])  # ties in the order of the registry
    ordered = {name: results[name] for name in (FOUND, *between, ALONE)}
    return Judgement(ordered, goals.threshold(results[ALONE], search.lock_in))


def check_judged(experiment: Experiment) -> None:
    """Raise BadInput for an experiment on which nothing can be compared; to be called before a long search."""
    if experiment.runs < 2:
        raise BadInput(f"runs {experiment.runs} is too few to judge what is found; allowed: at least 2")


def _contestants(experiment: Experiment, found: Attack) -> dict[str, Experiment]:
    """The found attack, those with a name, careful too where that matters, the experiment's own, and being alone."""
    registry = ATTACKS if experiment.parts.contexts is None else CONTEXT_ATTACKS
    names = (name for name, entry in registry.entries.items() if entry is not type(found))
    others = {name: name for name in as_told(experiment, names)}
    own = experiment.settings()["attack"]
    contest = {FOUND: found, **others, own: experiment.attack}
    return {name: experiment.but(attack=attack) for name, attack in contest.items()} | {ALONE: alone_of(experiment)}


def as_told(experiment: Experiment, names: Iterable[str]) -> list[str]:
    """Attacks by their names, and the same by careful liars where agents audit what they are told."""
    bold = list(names)
    careful = [_carefully(name) for name in bold if name not in UNNOTICED]
    return bold + careful if experiment.parts.audits else bold


def _carefully(name: str) -> str:
    """An attack's text with `careful=1` behind its parameters."""
    first, _, parameters = name.partition(":")
    if first not in ALL_ATTACKS.entries:  # file.py:Name, and then its parameters
        parameters = parameters.partition(":")[2]
    return f"{name}{',' if parameters else ':'}careful=1"


def numbers(result: Result) -> dict[str, float]:
    """Mean, standard deviation and standard error of the regret at the horizon."""
    return {key: value for key, value in describe(result.network_regret[:, -1]).items() if key != "runs"}
