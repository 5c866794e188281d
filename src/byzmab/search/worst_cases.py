"""The worst case of every filter: the worst attack with a name and the worst found, beside being alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from byzmab.attacks import ALL_ATTACKS
from byzmab.core import recommended
from byzmab.core.filters import FILTERS
from byzmab.experiment.experiment import Experiment
from byzmab.search.judge import ALONE, FOUND, Judgement, check_judged, judge, numbers
from byzmab.search.search import Search, search_attack
from byzmab.sweep.store import ResultStore

TRIALS = 100  # against every filter
RUNS = 10  # of one trial
SEARCHING = 0.7  # about the share of the time that is spent searching, the rest is judging
USUAL_POLICY = "tuned"
POLICIES = {"trimmed": ("ucb", USUAL_POLICY), recommended.FILTER: (recommended.POLICY,)}  # the paper's, and ours

Progress = Callable[[int, int, str], None]


class Contestant(NamedTuple):
    """A filter and the policy that it is played with."""

    filter: str
    policy: str


@dataclass(frozen=True)
class WorstCase:
    """What a search found against one filter, and its judgement on fresh seeds."""

    contestant: Contestant
    search: Search
    judgement: Judgement

    def summary(self) -> dict[str, Any]:
        """Plain numbers: regret alone, under the worst attack with a name and under the worst found."""
        judged, named = self.judgement, self.judgement.worst_named
        attacks = {"named": (named, named), "found": (FOUND, ALL_ATTACKS.name_of(self.search.attack))}
        worst = {
            key: {
                "attack": text,
                "regret": numbers(judged.results[name]),
                "locked": judged.locked(name),
            }
            for key, (name, text) in attacks.items()
        }
        excess = judged.excess(ALONE)
        above = {"difference": excess.difference, "low": excess.low, "high": excess.high}
        alone = {"regret": numbers(judged.results[ALONE]), "locked": judged.locked(ALONE)}
        return {
            **self.contestant._asdict(),
            "solo": alone,
            **worst,
            "found_above_solo": above,
            "lock_in": judged.lock_in,
        }


def contestants(policy: str | None = None) -> list[Contestant]:
    """Every filter that hears somebody, with the policy that is given or those that it is usually played with."""
    names = [name for name in FILTERS.entries if FILTERS.resolve(name).hears]
    return [
        Contestant(name, chosen)
        for name in names
        for chosen in ((policy,) if policy is not None else POLICIES.get(name, (USUAL_POLICY,)))
    ]


def worst_cases(
    base: Experiment,
    wanted: list[Contestant],
    trials: int = TRIALS,
    runs: int = RUNS,
    store: ResultStore | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    **settings: Any,
) -> list[WorstCase]:
    """Search and judge against every contestant on an experiment; `settings` are further ones of `search_attack`.

    Ctrl-C ends it with those that were finished; with a store, the same call goes on from there.
    """
    check_judged(base)
    done: list[WorstCase] = []
    try:
        for contestant in wanted:
            experiment = base.but(**contestant._asdict())
            searching, judging = _parts(progress, len(done), len(wanted), contestant)
            search = search_attack(
                experiment, trials, runs, store=store, progress=searching, workers=workers, **settings
            )
            if search.interrupted:
                break
            done.append(WorstCase(contestant, search, judge(search, judging, workers, store)))
    except KeyboardInterrupt:
        if not done:
            raise
    return done


def _parts(
    progress: Progress | None, before: int, of: int, contestant: Contestant
) -> tuple[Progress | None, Progress | None]:
    """Progress of searching and of judging one contestant as progress of them all."""
    if progress is None:
        return None, None
    who = f"{contestant.filter} {contestant.policy}"

    def part(low: float, high: float) -> Progress:
        def tell(done: int, total: int, now: str) -> None:
            progress(round(1000 * (before + low + (high - low) * done / total)), 1000 * of, f"{who}: {now}")

        return tell

    return part(0.0, SEARCHING), part(SEARCHING, 1.0)
