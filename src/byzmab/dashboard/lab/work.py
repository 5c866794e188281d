"""How much work an experiment is, in seconds of one core: a guess that is right within a factor of three or so."""

from byzmab.core.errors import BadInput
from byzmab.core.filters.base import EVERY_ROUND
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import listens
from byzmab.paper.figures import alone
from byzmab.simulation.density import degrees_of, is_dense

MOST_SECONDS = 240.0
# nanoseconds, measured at 2.8 GHz
DECISION, ARM = 50.0, 15.0  # of one agent, and for each arm of it
REPORT, CHANGED_REPORT = 20.0, 5.0  # one report on one arm: where all are believed anew, and where only what changed
CHANGED_ARMS = 2.0  # on which something is new in a round
OWN_ARM, OWN_AT_CONTEXT = 100.0, 5.0  # one's own statistics of one arm at a context, and for each pair of dimensions
AT_CONTEXT = 30.0  # one report on one arm at a context, for each pair of dimensions
DENSE_REPORTS = 8.0  # what a round costs where reports are ordered once for all, in reports


def seconds_of(experiment: Experiment) -> float:
    """The work of an experiment and of its agents alone, in seconds of one core."""
    return _seconds(experiment) + _seconds(alone(experiment))


def check_work(experiment: Experiment, elsewhere: str) -> None:
    """BadInput where an experiment is too much work for a page."""
    seconds = seconds_of(experiment)
    if seconds > MOST_SECONDS:
        most = max(1, int(experiment.horizon * MOST_SECONDS / seconds))
        raise BadInput(
            f"horizon {experiment.horizon} of {experiment.runs} runs is about {in_words(seconds)} of work; "
            f"allowed in the lab: about {in_words(MOST_SECONDS)}, here up to {most}; {elsewhere}"
        )


def in_words(seconds: float) -> str:
    """A time span in words."""
    for size, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{max(1.0, seconds):.0f} seconds"


def _seconds(experiment: Experiment) -> float:
    parts = experiment.parts
    decisions = experiment.runs * experiment.horizon * parts.agents
    arm = ARM if parts.contexts is None else ARM + OWN_ARM + OWN_AT_CONTEXT * parts.contexts.d**2
    return decisions * (DECISION + arm * parts.arms + _listening(experiment) / experiment.epoch) / 1e9


def _listening(experiment: Experiment) -> float:
    """Nanoseconds that an agent takes for what it hears in a round."""
    parts = experiment.parts
    if not listens(experiment):
        return 0.0
    reports = float(degrees_of(parts.placed, parts.agents, experiment.parts.byzantine).mean())
    if experiment.subset is not None:
        reports = min(reports, experiment.subset)
    if parts.contexts is not None:
        return AT_CONTEXT * parts.arms * (1.0 + reports) * parts.contexts.d**2
    if is_dense(experiment):
        reports = min(reports, DENSE_REPORTS)
    anew = experiment.time_varying or experiment.subset is not None
    anew |= parts.baseline is not None or parts.filter.depends_on == EVERY_ROUND
    return reports * (REPORT * parts.arms if anew else CHANGED_REPORT * min(CHANGED_ARMS * 2, parts.arms))
