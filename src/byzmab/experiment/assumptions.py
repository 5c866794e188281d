"""What the paper assumes of an experiment, and what to say where it does not hold."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from byzmab.core.liars import FEWEST, FROM_NEIGHBOURS, TooFewNeighbours, f_as_given
from byzmab.core.recommended import AUTO, CONTEXT_FILTER, CONTEXT_POLICY
from byzmab.core.report import Floats
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import (
    expected_heard,
    f_of_agents,
    is_redrawn,
    listens,
    may_hear,
    remembers_others,
)

BASE_MODEL = {
    "memory": 0,
    "subset": None,
    "epoch": 1,
    "delay": 0,
    "spread": 0.0,
    "drift": "none",
    "tally": "all",
    "context": 0,
}  # of the paper's upper bound
CLIPPED_SHARE = 0.001  # of the agents' means, from which on it is said
WEAK_WITH_CONTEXTS = {
    "trimmed": ", the default, is the paper's and weak",
    "guarded": " was above being alone under one of twelve attacks",
}
EXPULSION = (
    "Agents that audit reports expel a Byzantine agent whose reports contradict each other, and then defend against "
    "one less. So regret can fall as the number of Byzantine agents rises: each that is expelled lowers f."
)
PROVED = (("trimmed", "ucb"), ("solo", "ucb"))  # filters and policies that have it


class TooManyLiars(UserWarning):
    """Some honest agent may hear more Byzantine neighbours than f."""


class NobodyHeard(UserWarning):
    """The filter uses no reports, as neighbours change and too few reports are held at once."""


class MeansClipped(UserWarning):
    """Some agents' means would leave [0, 1], and are clipped."""


class FilterWithoutContexts(UserWarning):
    """The filter was not made for contexts."""


class SettingUnused(UserWarning):
    """A setting was given of which the algorithm makes no use."""


def warn_of(experiments: Sequence[Experiment], stacklevel: int) -> None:
    """Warn, at most once for each assumption, where some of the experiments do not meet it."""
    for category, check in CHECKS.items():
        messages = [message for message in map(check, experiments) if message]
        if messages:
            where = (
                f"at {len(messages)} of {len(experiments)} points, as in the first: " if len(experiments) > 1 else ""
            )
            warnings.warn(where + messages[0], category, stacklevel)


def too_few_neighbours(experiment: Experiment) -> str | None:
    """One sentence where f is too large for the degrees: 2f + 1 to cooperate, 3f + 1 for the guarantee.

    With f = auto, an agent with fewer than four neighbours ignores all reports.
    """
    parts = experiment.parts
    if parts.f == 0 or not _uses_f(experiment):
        return None
    verbs = ("expects", "expect") if parts.graph.random or experiment.subset is not None else ("has", "have")
    if parts.f == FROM_NEIGHBOURS:
        short = _normal(experiment, may_hear(experiment) < FEWEST)
        if not short:
            return None
        ignored = "" if parts.baseline else " and " + ("ignores" if len(short) == 1 else "ignore") + " all reports"
        return f"f = {AUTO} needs {FEWEST} neighbours; {_say(short, *verbs)} fewer{ignored}: {_list(short)}"
    heard = expected_heard(experiment)
    for needed, purpose in ((2 * parts.f + 1, "to cooperate at all"), (3 * parts.f + 1, "for the paper's guarantee")):
        short = _normal(experiment, heard < needed)
        if short:
            return f"f = {parts.f} needs {needed} neighbours {purpose}; {_say(short, *verbs)} fewer: {_list(short)}"
    return None


def too_many_liars(experiment: Experiment) -> str | None:
    """One sentence where an honest agent can hear more Byzantine neighbours than f."""
    if experiment.parts.f >= experiment.parts.byzantine or not _uses_f(experiment):
        return None
    liars, fs = most_liars(experiment), f_of_agents(experiment)
    if experiment.parts.f == FROM_NEIGHBOURS and experiment.parts.baseline is None:
        liars = np.where(may_hear(experiment) < FEWEST, 0.0, liars)  # they ignore all reports
    over = _normal(experiment, liars > fs)
    if not over:
        return None
    possible = experiment.parts.graph.random or experiment.subset is not None
    verbs = ("may hear", "may hear") if possible else ("hears", "hear")
    normal = slice(experiment.parts.byzantine, None)
    most = int(liars[normal].max())
    called = f_as_given(experiment.parts.f)
    called = called if called != AUTO else f"{AUTO}, here {fs[normal][liars[normal] > fs[normal]].min()},"
    return (
        f"f = {called} is too small: {_say(over, *verbs)} up to {most} Byzantine neighbours, "
        f"and no guarantee holds: {_list(over)}"
    )


def nobody_heard(experiment: Experiment) -> str | None:
    """One sentence where a filter that could hear others is better off alone."""
    parts = experiment.parts
    if parts.baseline is not None or not parts.filter.hears or listens(experiment):
        return None
    f, hint = int(f_of_agents(experiment).max()), ", and so may f as a number" if parts.f < 0 else ""
    return (
        f"filter {experiment.settings()['filter']} uses no reports here: neighbours change from round to round, and "
        f"agents often hold no more than {3 * max(f, 1)} reports at once; memory 50 lets agents cooperate{hint}"
    )


def clipped_means(experiment: Experiment) -> str | None:
    """One sentence where `spread` takes a share of the means out of [0, 1] that matters."""
    spread, given = experiment.spread, experiment.parts.given
    if spread == 0.0:
        return None
    means = np.array(given.tables) if given.tables else np.linspace(0.0, 1.0, 101)  # drawn ones are uniform
    share = np.mean(
        [0.5 * math.erfc(end / spread / math.sqrt(2.0)) for mean in means.flat for end in (mean, 1.0 - mean)]
    )
    if 2.0 * share < CLIPPED_SHARE:
        return None
    return f"spread {spread:g} takes {200.0 * share:.1f} % of the agents' means out of [0, 1]; they are clipped"


def filter_without_contexts(experiment: Experiment) -> str | None:
    """One sentence where a filter that we use or recommend elsewhere is played with contexts."""
    weakness = WEAK_WITH_CONTEXTS.get(str(experiment.filter))
    if not experiment.context or experiment.parts.baseline is not None or weakness is None:
        return None
    better = f"filter {CONTEXT_FILTER} with policy {CONTEXT_POLICY}"
    return f"filter {experiment.filter}{weakness} with contexts; {better} was measured to be best"


def settings_unused(experiment: Experiment) -> str | None:
    """One sentence where what is given changes nothing: to another algorithm, or on a graph that stays as it is."""
    baseline, settings = experiment.parts.baseline, experiment.settings()
    if experiment.time_varying and not is_redrawn(experiment):
        return f"time_varying does not matter to graph {settings['graph']}, which is the same in every round"
    if experiment.reliable_links and (is_redrawn(experiment) or experiment.subset is not None):
        return "reliable_links does not matter where neighbours change from round to round"
    if baseline is None:
        return None
    unused = ["filter", "kappa", *(["shares", "vetting"] if experiment.context else ["policy"])]
    unused += [] if baseline.trims else ["f"]
    given = [f"{name} {settings[name]}" for name in unused if getattr(experiment, name) != getattr(Experiment, name)]
    verb = "does" if len(given) == 1 else "do"
    return f"{' and '.join(given)} {verb} not matter to algorithm {settings['algorithm']}" if given else None


CHECKS: dict[type[Warning], Callable[[Experiment], str | None]] = {
    TooManyLiars: too_many_liars,
    TooFewNeighbours: too_few_neighbours,
    NobodyHeard: nobody_heard,
    MeansClipped: clipped_means,
    FilterWithoutContexts: filter_without_contexts,
    SettingUnused: settings_unused,
}


def most_liars(experiment: Experiment) -> Floats:
    """The most Byzantine agents whose reports each agent can have at once, remembered ones included."""
    parts, byzantine = experiment.parts, experiment.parts.byzantine
    ever = parts.placed.most_byzantine(parts.agents, byzantine).astype(float)
    at_once = ever if experiment.subset is None else ever.clip(max=experiment.subset)
    if not remembers_others(experiment):
        return at_once
    if is_redrawn(experiment):
        ever = np.where(ever > 0, float(byzantine), 0.0)
    return np.asarray(np.minimum(ever, at_once * (experiment.memory + 1)))


def why_no_bound(experiment: Experiment) -> str:
    """Why the paper's upper bound does not hold here for all honest agents, in a few words; empty where it does."""
    if reason := outside_the_model(experiment):
        return reason
    if too_many_liars(experiment):
        return "f is smaller than the number of liars that an agent may hear"
    return ""


def outside_the_model(experiment: Experiment) -> str:
    """Why the paper proves nothing of this algorithm and these settings, in a few words; empty where it does."""
    if experiment.parts.baseline is not None or experiment.algorithm_in_words() not in PROVED:
        return "the paper proves it for filter trimmed with policy ucb"
    for name, usual in BASE_MODEL.items():
        if getattr(experiment, name) != usual:
            return f"the paper proves it without {name}"
    if experiment.parts.given.agents or experiment.parts.moves:
        return "the paper proves it for means that all agents share and that stay as they are"
    if experiment.parts.tell.keeps:
        return "the paper proves it with tell every"
    return ""


def _uses_f(experiment: Experiment) -> bool:
    baseline = experiment.parts.baseline
    return experiment.parts.filter.trims if baseline is None else baseline.trims


def _normal(experiment: Experiment, chosen: NDArray[np.bool_]) -> list[int]:
    """The honest agents that are chosen, numbered from 1."""
    parts = experiment.parts
    chosen_normal = chosen[parts.byzantine :]
    return [number + 1 for number, here in zip(parts.normal, chosen_normal, strict=True) if here]


def _say(agents: list[int], one: str, several: str) -> str:
    return f"{len(agents)} normal agent {one}" if len(agents) == 1 else f"{len(agents)} normal agents {several}"


def _list(agents: list[int]) -> str:
    return ", ".join(map(str, agents[:10])) + (", …" if len(agents) > 10 else "")


@contextmanager
def unwarned(*categories: type[Warning]) -> Iterator[None]:
    """Play experiments without these warnings, or without any of `CHECKS`: a study asks what happens there."""
    with warnings.catch_warnings():
        for category in categories or CHECKS:
            warnings.simplefilter("ignore", category)
        yield
