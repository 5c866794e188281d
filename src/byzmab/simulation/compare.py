"""Comparing two algorithms that met the same random numbers."""

from dataclasses import dataclass

from byzmab.core.errors import BadInput
from byzmab.experiment.experiment import Experiment, check_experiment
from byzmab.html import table
from byzmab.results.result import Result
from byzmab.results.statistics import student_interval
from byzmab.simulation.run import simulate

SAME_LUCK = ("context", "contexts", "arms", "rewards", "horizon", "runs", "seed")  # so that pulls are rewarded equally


@dataclass(frozen=True, repr=False)
class Comparison:
    """The paired difference in regret at the horizon, a − b, with its two-sided 95 % interval.

    Parameters
    ----------
    difference
        The mean of a − b over runs.
    low
        Lower end of the 95 % interval.
    high
        Upper end of the interval.
    stderr
        Standard error of the difference.
    runs
        How many runs were compared.
    """

    difference: float
    low: float
    high: float
    stderr: float
    runs: int

    @property
    def differs(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0.0 or self.high < 0.0

    def _repr_html_(self) -> str:
        verdict = "differs" if self.differs else "may be zero"
        row = f"{self.difference:+.2f}", f"{self.low:+.2f} to {self.high:+.2f}", self.stderr, self.runs, verdict
        return table(
            "regret of the first less that of the second",
            ("difference", "95 % interval", "stderr", "runs", "verdict"),
            [row],
        )

    def __repr__(self) -> str:
        return f"<Comparison: {self}>"

    def __str__(self) -> str:
        return f"{self.difference:+.2f} [{self.low:+.2f}, {self.high:+.2f}] over {self.runs} runs"


def compare(a: Experiment | Result, b: Experiment | Result) -> Comparison:
    """Compare two experiments, or their results, run by run.

    A reward depends on run, agent, arm and pull alone. With the same seed, both therefore met the same random numbers,
    and the difference is much less noisy than either regret.

    Parameters
    ----------
    a
        An experiment, or a result.
    b
        Another, with equal arms, rewards, horizon, runs and seed.

    Returns
    -------
    Comparison
        The paired difference in regret, a − b.

    Raises
    ------
    BadInput
        If the two do not use the same random numbers, or have a single run.

    Examples
    --------
    >>> import byzmab
    >>> together = byzmab.Experiment(runs=5, horizon=500)
    >>> byzmab.compare(together, together.alone()).differs
    True
    """
    experiments = [item.experiment if isinstance(item, Result) else item for item in (a, b)]
    for experiment in experiments:
        check_experiment(experiment)
    check_same_luck(*experiments)
    first, second = (simulate(item) if isinstance(item, Experiment) else item for item in (a, b))
    differences = first.network_regret[:, -1] - second.network_regret[:, -1]
    found = student_interval(differences)
    return Comparison(found.mean, found.low, found.high, found.stderr, differences.size)


def check_same_luck(a: Experiment, b: Experiment) -> None:
    """Raise BadInput for experiments that cannot be compared run by run."""
    settings = [experiment.settings() for experiment in (a, b)]
    for name in SAME_LUCK:
        values = [item[name] for item in settings]
        if name == "context" and max(values) <= 1:
            continue  # in one dimension the context is 1, and the random numbers are those without contexts
        if values[0] != values[1]:
            raise BadInput(
                f"{name} differs, {values[0]!r} and {values[1]!r}; allowed: experiments with the same {name}"
            )
    if a.runs < 2:
        raise BadInput("runs 1 is too few to compare; allowed: at least 2")
