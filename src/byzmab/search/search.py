"""Searching for the attack that hurts most: a parametric family, optimised over simulations."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from byzmab.attacks import Attack
from byzmab.core.errors import BadInput
from byzmab.experiment.assumptions import nobody_heard, unwarned
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import listens
from byzmab.results.result import Result
from byzmab.search import goals
from byzmab.search.context_space import ContextSpace
from byzmab.search.optimizer import DEFAULT, check_optimizer
from byzmab.search.restarts import Restarts
from byzmab.search.space import Family, Space
from byzmab.simulation.progress import wanted_bar
from byzmab.simulation.run import check_workers, simulate
from byzmab.sweep.store import ResultStore

TRIALS = 300
RUNS = 20  # of one trial
RESTARTS = 4

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Trial:
    """One attack tried, and what it did on the runs of the search."""

    attack: Attack
    regret: float
    worth: float  # by the goal of the search; the regret itself where that is the goal


@dataclass(frozen=True)
class Search:
    """What a search found on an experiment."""

    experiment: Experiment
    runs: int  # of one trial
    optimizer: str
    goal: str
    restarts: int
    lock_in: float | None  # the threshold that was given
    trials: tuple[Trial, ...]  # in their order
    known: dict[str, float]  # the regret of attacks known before, which are the first trials
    wanted: int  # how many trials there were to be; fewer were made where it was interrupted
    seconds: float

    @property
    def best(self) -> Trial:
        """The trial that is worth most, by regret where the goal is another."""
        return max(self.trials, key=lambda trial: (trial.worth, trial.regret))

    @property
    def attack(self) -> Attack:
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
    progress: Progress | bool | None = None,
    workers: int | None = None,
    goal: str = goals.DEFAULT,
    restarts: int = RESTARTS,
    lock_in: float | None = None,
) -> Search:
    """Look for the crafted attack that hurts an experiment most at its horizon.

    The goal is the largest `regret`, the smallest `gain` over solo of any honest agent, or the largest share of runs
    that `lock-in`: with a regret above `lock_in`, or twice solo's mean. Every trial plays the same `runs` runs, so that
    attacks meet the same random numbers. Known attacks come first, so that the search finds nothing weaker than they
    are. Then `restarts` optimizers begin in different parts of the family. Ctrl-C ends the search with the best so far.
    With a store, the same search called again resumes: it asks the same questions, and the store answers. `progress` is
    called with the trials done, their total, and how things stand; True shows a bar.

    Parameters
    ----------
    experiment
        What is attacked.
    trials
        How many attacks are tried.
    runs
        Runs that are played for each of them.
    optimizer
        ``"cma-es"``, ``"tpe"`` or ``"random"``.
    store
        Where results are kept, so that an interrupted search resumes.
    progress
        A function that is called with the trials done and their total; True shows a bar.
    workers
        Threads; if None, as many as there are cores.
    goal
        ``"regret"``, ``"gain"`` or ``"lock-in"``.
    restarts
        How many optimizers begin, each in another part.
    lock_in
        Regret above which a run counts as locked in; if None, twice the solo mean.

    Returns
    -------
    Search
        `.attack`, the worst that was found, and all trials.
    """
    check_search(experiment, trials, runs, optimizer, workers, goal, restarts, lock_in)
    space = space_of(experiment)
    began = time.perf_counter()
    played = experiment.but(runs=runs, record=1)
    done: list[Trial] = []
    with wanted_bar(progress, "searching") as show:
        try:
            alone = _play(alone_of(played), store, workers)
            beside = goals.Beside(alone, goals.threshold(alone, lock_in))

            def attempt(attack: Attack) -> float:
                """Play an attack and write it down; what it is worth."""
                result = _play(played.but(attack=attack), store, workers)
                done.append(Trial(attack, goals.regret(result, beside), goals.GOALS[goal](result, beside)))
                if show is not None:
                    worst = max(done, key=lambda trial: trial.worth)
                    show(len(done), trials, f"searching, regret {worst.regret:.1f}")
                return done[-1].worth

            _explore(space, trials, Restarts(space, optimizer, experiment.seed, restarts), attempt)
        except KeyboardInterrupt:
            if not done:
                raise
    known = {name: trial.regret for name, trial in zip(space.known, done, strict=False)}
    seconds = time.perf_counter() - began
    return Search(experiment, runs, optimizer, goal, restarts, lock_in, tuple(done), known, trials, seconds)


def check_search(
    experiment: Experiment,
    trials: int = TRIALS,
    runs: int = RUNS,
    optimizer: str = DEFAULT,
    workers: int | None = None,
    goal: str = goals.DEFAULT,
    restarts: int = RESTARTS,
    lock_in: float | None = None,
) -> None:
    """BadInput if a search cannot be made as `search_attack` is asked to."""
    check_workers(workers)
    space = space_of(experiment)
    for name, value, least in (
        ("trials", trials, len(space.known)),
        ("search runs", runs, 1),
        ("restarts", restarts, 1),
    ):
        _check_whole(name, value, least)
    check_optimizer(optimizer)
    goals.check_goal(goal)
    goals.check_threshold(lock_in)


def space_of(experiment: Experiment) -> Family:
    """The space for an experiment; BadInput where no attack can matter."""
    parts = experiment.parts
    if parts.byzantine < 1:
        raise BadInput("byzantine 0 leaves nobody to attack; allowed: at least 1")
    if not listens(experiment):
        who = f"filter {experiment.filter!r}" if parts.baseline is None else f"algorithm {experiment.algorithm!r}"
        remedy = ", or memory, as others are heard in every round" if nobody_heard(experiment) else ""
        raise BadInput(f"{who} hears nobody, so that no attack matters; allowed: one that does{remedy}")
    return Space.of(experiment) if parts.contexts is None else ContextSpace(experiment.horizon)


def alone_of(experiment: Experiment) -> Experiment:
    """The experiment's agents and policy with nobody to listen to."""
    return experiment.but(filter="solo", algorithm="resilient", attack="none")


def _explore(space: Family, trials: int, restarts: Restarts, attempt: Callable[[Attack], float]) -> None:
    """Try the starts, then what the restarts propose."""
    starts = space.starts[:trials]
    for branch, point in starts:
        restarts.tried.append((branch, point, attempt(space.attack(branch, point))))
    for branch, optimizer, number in restarts.turns(trials - len(starts)):
        worth = attempt(space.attack(branch, optimizer.ask()))
        optimizer.tell(worth)
        restarts.told(number, worth)


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInput(f"{name} {value!r} is not allowed; allowed: a whole number of at least {least}")


def _play(experiment: Experiment, store: ResultStore | None, workers: int | None) -> Result:
    """The result of an experiment, from the store if it is there."""
    with unwarned():  # warnings come where results are judged
        return (simulate if store is None else store.get)(experiment, workers=workers)
