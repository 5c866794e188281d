"""Comparing two algorithms that met the same luck."""

from dataclasses import dataclass

from byzmab.core.errors import BadInput
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import Result
from byzmab.simulation.run import simulate
from byzmab.simulation.statistics import student_interval

SAME_LUCK = ("arms", "rewards", "horizon", "runs", "seed")  # with these equal, pulls are rewarded equally


@dataclass(frozen=True)
class Comparison:
    """The paired difference in regret at the horizon, a − b, with its two-sided 95 % interval."""

    difference: float
    low: float
    high: float
    stderr: float
    runs: int

    @property
    def differs(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0.0 or self.high < 0.0

    def __str__(self) -> str:
        return f"{self.difference:+.2f} [{self.low:+.2f}, {self.high:+.2f}] over {self.runs} runs"


def compare(a: Experiment | Result, b: Experiment | Result) -> Comparison:
    """Compare two experiments, or their results, run by run.

    A reward depends on run, agent, arm and pull alone, so that with the same seed both met the same luck and
    the difference is much less noisy than either regret.
    """
    first, second = (simulate(item) if isinstance(item, Experiment) else item for item in (a, b))
    for name in SAME_LUCK:
        values = [result.experiment.settings()[name] for result in (first, second)]
        if values[0] != values[1]:
            raise BadInput(
                f"{name} differs, {values[0]!r} and {values[1]!r}; allowed: experiments with the same {name}"
            )
    if first.experiment.runs < 2:
        raise BadInput("runs 1 is too few to compare; allowed: at least 2")
    differences = first.network_regret[:, -1] - second.network_regret[:, -1]
    found = student_interval(differences)
    return Comparison(found.mean, found.low, found.high, found.stderr, differences.size)
