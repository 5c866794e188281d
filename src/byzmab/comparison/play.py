"""Playing a comparison: tune, then meet no attack, every named one and the worst found; kept in a store, resumable."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from byzmab.attacks import ATTACKS
from byzmab.comparison.contestants import Contestant, Network, Preset, Settings, constants, experiment_of
from byzmab.experiment.assumptions import unwarned
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import listens
from byzmab.results.result import Result
from byzmab.results.statistics import describe
from byzmab.search.judge import as_told
from byzmab.search.search import search_attack, space_of
from byzmab.sweep.store import ResultStore

NONE = "none"
TUNING, SEARCHING = 1, 2  # added to the seed: tuned and searched on other random numbers than judged
PUBLISHED, TUNED = "published", "tuned"

Progress = Callable[[int, int, str], None]


class Outcome(NamedTuple):
    """Regret under one attack."""

    attack: str
    mean: float
    stderr: float


class Cost(NamedTuple):
    """What a run takes, on average."""

    messages: float
    bytes: float
    seconds: float

    @classmethod
    def of(cls, result: Result) -> "Cost":
        """The cost of a result's runs."""
        runs = result.experiment.runs
        return cls(float(result.message_counts.mean()), result.bytes_told / runs, result.seconds / runs)


@dataclass(frozen=True)
class Row:
    """What a contestant did on a network, with one choice of constants."""

    contestant: Contestant
    network: Network
    kind: str  # PUBLISHED or TUNED
    constants: str
    reason: str = ""  # why it was not played
    without: Outcome | None = None  # under no attack
    named: Outcome | None = None  # under the worst with a name
    found: Outcome | None = None  # under the one that a search found
    cost: Cost | None = None  # under no attack

    @property
    def worst(self) -> Outcome | None:
        """The worse of named and found."""
        played = [outcome for outcome in (self.named, self.found) if outcome is not None]
        return max(played, key=lambda outcome: outcome.mean) if played else self.without

    def summary(self) -> dict[str, Any]:
        """Plain data."""
        outcomes = {"none": self.without, "named": self.named, "found": self.found}
        numbers = {name: outcome and outcome._asdict() for name, outcome in outcomes.items()}
        about = {"algorithm": self.contestant.name, "network": str(self.network), "kind": self.kind}
        needs = {"knows": self.contestant.knows, "assumes": self.contestant.assumes, "source": self.contestant.source}
        cost = {} if self.cost is None else self.cost._asdict()
        return {**about, "constants": self.constants, **numbers, **cost, **needs, "not_played": self.reason}


class Comparing:
    """One comparison under way: its size, its store, and how it plays."""

    def __init__(self, preset: Preset, store: ResultStore, seed: int = 0, workers: int | None = None) -> None:
        self.preset, self.store, self.seed, self.workers = preset, store, seed, workers

    def rows(self, contestants: Sequence[Contestant], progress: Progress | None = None) -> list[Row]:
        """Every contestant on every network of the preset, published first, then tuned."""
        done: list[Row] = []
        pairs = [(network, item) for network in self.preset.networks for item in contestants]
        for number, (network, item) in enumerate(pairs):
            if progress is not None:
                progress(number, len(pairs), f"{item.name} on {network}")
            done += self.rows_of(item, network)
        return done

    def rows_of(self, contestant: Contestant, network: Network) -> list[Row]:
        """One contestant on one network; a single row where nothing beats what was published."""
        experiment = self._experiment(network, contestant.published)
        if isinstance(experiment, str):
            return [Row(contestant, network, PUBLISHED, constants(contestant.published), experiment)]
        tuned = self.tuned(contestant, network)
        kinds = {PUBLISHED: contestant.published} | ({} if tuned == contestant.published else {TUNED: tuned})
        return [self._row(contestant, network, kind, settings) for kind, settings in kinds.items()]

    def tuned(self, contestant: Contestant, network: Network) -> Settings:
        """The constants, of those tried, whose worst mean regret over no attack and the named ones is smallest."""
        worst: list[tuple[float, Settings]] = []
        for settings in (contestant.published, *contestant.others):
            experiment = self._experiment(network, settings, seed=self.seed + TUNING, runs=self.preset.search_runs)
            if isinstance(experiment, Experiment):
                attacks = self._attacks(experiment) if listens(experiment) else []
                outcomes = [self._meet(experiment, attack) for attack in (NONE, *attacks)]
                worst.append((max(outcome.mean for outcome, _ in outcomes), settings))
        return min(worst, key=lambda item: item[0])[1]

    def _row(self, contestant: Contestant, network: Network, kind: str, settings: Settings) -> Row:
        experiment = self._experiment(network, settings)
        assert isinstance(experiment, Experiment), "it was tuned there"
        without, result = self._meet(experiment, NONE)
        row = Row(contestant, network, kind, constants(settings), "", without, cost=Cost.of(result))
        if not listens(experiment):  # no attack matters
            return row
        named = [self._meet(experiment, attack)[0] for attack in self._attacks(experiment)]
        found = self._meet(experiment, self._search(experiment))[0]
        worst = max(named, key=lambda outcome: outcome.mean)
        return replace(row, named=worst, found=found)

    def _attacks(self, experiment: Experiment) -> list[str]:
        """The attacks with a name."""
        return as_told(experiment, self.preset.attacks)

    def _search(self, experiment: Experiment) -> str:
        """The worst attack that a search finds, on other luck."""
        preset = self.preset
        searched = experiment.but(seed=self.seed + SEARCHING)
        careful = sum(getattr(branch, "careful", 0) for branch, _ in space_of(searched).starts)  # more to begin from
        trials = preset.trials + careful
        search = search_attack(searched, trials, preset.search_runs, store=self.store, workers=self.workers)
        if search.interrupted:
            raise KeyboardInterrupt
        return ATTACKS.name_of(search.attack)

    def _experiment(self, network: Network, settings: Settings, **changes: Any) -> Experiment | str:
        size = {"horizon": self.preset.horizon, "runs": self.preset.runs, "seed": self.seed, **changes}
        return experiment_of(network, settings, **size)

    def _meet(self, experiment: Experiment, attack: str) -> tuple[Outcome, Result]:
        with unwarned():  # too few neighbours are part of the question
            result = self.store.get(experiment.but(attack=attack), workers=self.workers)
        numbers = describe(result.network_regret[:, -1])
        return Outcome(attack, numbers["mean"], numbers["stderr"]), result


@dataclass(frozen=True)
class Leaderboard:
    """All rows of a comparison."""

    preset: Preset
    seed: int
    rows: list[Row]
    seconds: float

    def summary(self) -> dict[str, Any]:
        """The object of `byzmab compare-algorithms --json`."""
        size = {name: getattr(self.preset, name) for name in ("horizon", "runs", "trials", "search_runs")}
        attacks = list(self.preset.attacks)
        rows = [row.summary() for row in self.rows]
        return {**size, "attacks": attacks, "seed": self.seed, "rows": rows, "seconds": self.seconds}


def compare_algorithms(
    contestants: Sequence[Contestant],
    preset: Preset,
    store: ResultStore,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Compare algorithms; stopped and called again with the same store, it resumes."""
    began = time.perf_counter()
    rows = Comparing(preset, store, seed, workers).rows(contestants, progress)
    return Leaderboard(preset, seed, rows, time.perf_counter() - began)
