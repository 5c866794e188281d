"""What a filter is: the contract between an agent and the function that turns what it heard into a belief."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from byzmab.core.differences import own_variance, worth_of
from byzmab.core.filters.fates import TOLD, Fate, blank_fates
from byzmab.core.mistakes import Contract, a_number_and_a_bool, a_total_and_a_size, three_numbers
from byzmab.core.plugins import Plugin
from byzmab.core.report import LEAST_PULLS, NO_MIDDLE, Floats, Heard

# Which changes make a belief out of date: a filter declares one of these as `depends_on`.
EVERY_ROUND = 0  # time itself, or unknown: believe anew in every round
ANY_REPORT = 1  # a count or a mean in a report on the arm changed
CONSISTENT_MEANS = 2  # a mean changed, or whether a report passes the consistency filter
CAPPED_COUNTS = 3  # a mean changed, or a count below one's own: who counts for at most oneself is told by min(n_j, n_i)

NO_BELIEF = "filter made a belief that is no number, or whose weight is not positive"

_EXAMPLE = Heard(np.empty(0), np.empty(0), 1.0, 0.5, 0, 1.5, 0, 0, np.empty(0))
_THREE = "three numbers: estimate, weight, doubt"
BELIEVE = Contract({"heard": _EXAMPLE}, _THREE, three_numbers)
BELIEVE_DENSE = Contract({"heard": _EXAMPLE, "middle": NO_MIDDLE}, _THREE, three_numbers)
DROPS = Contract({"params": np.empty(0), "time": 0}, "a number and a bool: limit, by_pull", a_number_and_a_bool)

DIGEST = Contract({"heard": _EXAMPLE}, "a number and a whole number: total, size", a_total_and_a_size)
BELIEVE_DIGEST = Contract({"heard": _EXAMPLE, "total": 0.0, "size": 0}, _THREE, three_numbers)


@dataclass(frozen=True)
class Filter(Plugin):
    """Turns one's own tally and the reports heard on an arm into a belief.

    A filter provides one compiled function for one arm:

        believe(heard) -> (estimate, weight, doubt)

    `heard`, a `byzmab.Heard`, holds in `pulls` and `means` the reports with at least one pull, in any order; the
    function may use these two arrays up. With `consistency` they are only those that pass the paper's step A,
    κ n_j ≥ n_i. `heard.params` are the filter's fields. Where nobody is heard the belief must be (own_mean,
    own_pulls, 0).

    Where somebody asks what became of each report, `heard.fates` is not None, and a filter tells it as it decides, by
    the functions of `byzmab.core.filters.fates`. A filter that moves reports moves their places with them. One that
    tells nothing is shown as having heard everybody.

    Where nearly everyone hears everyone, the reports on an arm can be ordered once for all receivers. A filter
    that asks no more than this of them may provide a second function, which is then used:

        believe_dense(heard, middle) -> (estimate, weight, doubt)

    Reports are now sorted by mean, equal means by pulls, and `middle`, a `byzmab.core.report.Middle`, sums up
    those that belong somewhere between them. At least f on either side of it are told one by one.

    A filter that looks at the distance from the median of all means, `middle.centre`, says what else it may drop:

        drops(params, time) -> (limit, by_pull)

    Told one by one, sorted as before, are now all reports with c (x̄ − centre)² above the limit, and of the others at
    least f on either side. The sides go by mean, or with `by_pull` by c (x̄ − centre). Here c = min(n_j, C), and C is
    the receiver's own count or the (g+1)-th largest of those heard, for any g ≤ f. Reports with more pulls than such a
    C are then told, too. A limit below 0 tells all.

    Where not everything is told in every round, what a filter makes of others' reports can outlast changes of your own
    tally. One with step A that looks at the means alone (`depends_on` is CONSISTENT_MEANS) may provide

        digest(heard) -> (total, size)                  without a look at own_pulls and own_mean
        believe_digest(heard, total, size) -> (estimate, weight, doubt)         without a look at pulls and means

    which one after the other are `believe`.
    """

    kind: ClassVar[str] = "filter"
    function: ClassVar[str] = "believe"
    believe: ClassVar[Any]
    believe_dense: ClassVar[Any] = None
    drops: ClassVar[Any] = None
    digest: ClassVar[Any] = None
    believe_digest: ClassVar[Any] = None
    depends_on: ClassVar[int] = EVERY_ROUND  # which changes matter: one of the constants above
    consistency: ClassVar[bool] = False  # whether step A comes first; some attacks look at it
    hears: ClassVar[bool] = True
    audits: ClassVar[bool] = False  # the default: whether simulated agents expel exposed Byzantine agents
    steady: ClassVar[bool] = False  # whether it listens to nobody where neighbours come and go and none is remembered
    trims: ClassVar[bool] = True  # whether f says how many reports are set aside: then it asks for neighbours

    def __init_subclass__(cls) -> None:
        """A filter that believes otherwise than the one it is derived from has no other function of it."""
        for name in ("believe_dense", "digest", "believe_digest"):
            if "believe" in vars(cls) and name not in vars(cls):
                setattr(cls, name, None)

    @property
    def spread_between_agents(self) -> float:
        """How far the true means of agents may differ: AUTO, a bound ε, or 0; see core/differences.py."""
        return 0.0

    @classmethod
    def functions(cls) -> Iterator[tuple[str, Any, Contract]]:
        """Its compiled functions, with what is asked of them."""
        yield "believe", cls.believe, BELIEVE
        if cls.believe_dense is not None:
            yield "believe_dense", cls.believe_dense, BELIEVE_DENSE
        if cls.drops is not None:
            yield "drops", cls.drops, DROPS
        if cls.digest is not None:
            yield "digest", cls.digest, DIGEST
            yield "believe_digest", cls.believe_digest, BELIEVE_DIGEST

    def played(self, name: str) -> Any:
        """The function of a name, as loops are compiled with it: one that does no more than the parameters ask for.

        Parameters
        ----------
        name
            The name of the function.
        """
        return getattr(type(self), name)

    def believed(
        self,
        own_pulls: float,
        own_mean: float,
        pulls: Floats,
        means: Floats,
        f: int,
        kappa: float,
        time: int,
        silent: int = 0,
        differences: Floats | None = None,  # τ² of each sender, where neighbours are compared
    ) -> tuple[tuple[float, float, float], list[Fate]]:
        """Return the belief of an arm, and the fates of all reports, the silent and the inconsistent included.

        Parameters
        ----------
        own_pulls
            The agent's own number of pulls.
        own_mean
            The agent's own sample mean.
        pulls
            Pulls in each report.
        means
            Sample means in each report.
        f
            Upper bound on Byzantine neighbours.
        kappa
            Consistency level.
        time
            The round, t.
        silent
            Expected neighbours that reported nothing.
        differences
            τ² of each sender, where neighbours are compared.
        """
        loud, worths = pulls > 0.0, pulls
        if differences is not None:
            variance = own_variance(own_pulls, own_mean)
            given = zip(pulls, differences, strict=True)
            worths = np.array([worth_of(count, own_pulls, apart, variance) for count, apart in given])
        unlike = loud & (worths == 0.0)
        pulls, means = np.where(unlike, LEAST_PULLS, worths), np.where(unlike, own_mean, means)
        used = loud & (kappa * pulls >= own_pulls) if self.consistency else loud
        kept, fates = np.flatnonzero(used), blank_fates(int(used.sum()))
        rest = float(own_pulls), float(own_mean), f, kappa, time, silent, np.array(self.params, np.float64)
        belief = self.played("believe")(Heard(pulls[kept], means[kept], *rest, fates))
        left_out = [Fate.INCONSISTENT if is_loud else Fate.SILENT for is_loud in loud]
        for place, code in zip(kept.tolist(), fates.codes.tolist(), strict=True):
            left_out[place] = Fate.UNLIKE if unlike[place] else TOLD[code]
        return belief, left_out

    def fates(self, *heard: Any) -> list[Fate]:
        """Return what became of each report on an arm; `heard` is what `believed` is given.

        Parameters
        ----------
        *heard
            The arguments of `believed`.
        """
        return self.believed(*heard)[1]
