"""Searching for the attack that hurts most: a parametric family, optimised over simulations."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from byzmab.attacks.crafted import Crafted
from byzmab.core.errors import BadInput
from byzmab.search.optimizer import DEFAULT, Optimizer
from byzmab.search.space import Space
from byzmab.simulation.assumptions import CHECKS
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.run import check_workers, simulate
from byzmab.sweep.store import ResultStore

TRIALS = 300
RUNS = 20  # of one trial

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Trial:
    """One attack tried, and the regret it caused on the runs of the search."""

    attack: Crafted
    regret: float


@dataclass(frozen=True)
class Search:
    """What a search found on an experiment."""

    experiment: Experiment
    runs: int  # of one trial
    optimizer: str
    trials: tuple[Trial, ...]  # in their order
    known: dict[str, float]  # the regret of attacks known before, which are the first trials
    wanted: int  # how many trials there were to be; fewer were made where it was interrupted
    seconds: float

    @property
    def best(self) -> Trial:
        """The trial with the largest regret."""
        return max(self.trials, key=lambda trial: trial.regret)

    @property
    def attack(self) -> Crafted:
        """The attack that hurt most."""
        return self.best.attack

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it early."""
        return len(self.trials) < self.wanted


def search_attack(
    experiment: Experiment,
    trials: int = TRIALS,
    runs: int = RUNS,
    optimizer: str = DEFAULT,
    store: ResultStore | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Search:
    """Look for the crafted attack with the largest regret at the horizon of an experiment.

    Every trial plays the same `runs` runs, so that attacks meet the same luck. Attacks that are known come first, so
    that nothing weaker than they is found. Ctrl-C ends the search with the best so far; with a store, the same search
    called again goes on from there: it asks the same questions, and the store answers. `progress` is called with the
    trials done, their total, and how things stand.
    """
    check_workers(workers)
    space = Space.of(experiment)
    for name, value, least in (("trials", trials, len(space.known)), ("search runs", runs, 1)):
        _check_whole(name, value, least)
    chooser = Optimizer(space, optimizer, experiment.seed)
    began = time.perf_counter()
    done: list[Trial] = []
    try:
        while len(done) < trials:
            attack = space.attack(chooser.ask())
            done.append(Trial(attack, _regret(experiment.but(attack=attack, runs=runs, record=1), store, workers)))
            chooser.tell(done[-1].regret)
            if progress is not None:
                progress(len(done), trials, f"searching, regret {max(trial.regret for trial in done):.1f}")
    except KeyboardInterrupt:
        if not done:
            raise
    known = {name: trial.regret for name, trial in zip(space.known, done, strict=False)}
    return Search(experiment, runs, optimizer, tuple(done), known, trials, time.perf_counter() - began)


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInput(f"{name} {value!r} is not allowed; allowed: a whole number of at least {least}")


def _regret(experiment: Experiment, store: ResultStore | None, workers: int | None) -> float:
    """The mean regret of an experiment at its horizon."""
    with warnings.catch_warnings():
        for category in CHECKS:
            warnings.simplefilter("ignore", category)  # whoever judges what is found is told
        play = simulate if store is None else store.get
        return float(play(experiment, workers=workers).network_regret[:, -1].mean())
