"""What a crafted attack does, in plain words."""

from typing import NamedTuple

from byzmab.attacks.crafted import END, Crafted
from byzmab.simulation.experiment import Experiment


class End(NamedTuple):
    """An end of the honest means, from which places are counted."""

    name: str
    beyond: str  # the end of the scale behind it


LOW, HIGH = End("smallest", "0"), End("largest", "1")


def in_words(attack: Crafted, experiment: Experiment) -> list[str]:
    """One sentence for each thing that the attack does; n is the receiver's count."""
    unheard = _unheard(experiment)
    best = _claim(attack.best, attack.best_count, LOW, unheard)
    second = _claim(attack.second, attack.second_count, HIGH, unheard)
    others = _claim(attack.others, attack.other_counts, HIGH, unheard)
    said = [f"On the best arm it {best}.", f"On the second best arm it {second}."]
    if experiment.parts.arms > 2:
        said.append(f"On the other arms it {others}.")
    if attack.isolate:
        fewer = f"fewer than {attack.isolate} honest reports"
        said.append(f"Where {fewer} are consistent on an arm other than the best, it is silent there.")
    if attack.share < 1.0 and attack.switch > 0:
        forever = attack.switch >= experiment.horizon
        until = "All the time" if forever else f"Until round {attack.switch}"
        spared = _claim(attack.spared, attack.spared_count, LOW, unheard)
        said.append(
            f"{until} only {attack.share:.0%} of the receivers, others on each arm but the best, are struck so."
        )
        said.append(f"To the rest it {spared}, so that they fall behind on that arm.")
        if not forever:
            said.append("From then on it strikes everyone.")
    return said


def _unheard(experiment: Experiment) -> float:
    """The multiple of n + 1 below which a report is surely inconsistent: κ times it is less than n for all n > 1."""
    parts = experiment.parts
    if not parts.filter.consistency or parts.baseline is not None:
        return 0.0
    return 0.5 / (2.0 if parts.kappas is None else max(parts.kappas))


def _claim(place: float, times: float, end: End, unheard: float) -> str:
    if times == 0.0:
        return "is silent"
    count = "n + 1" if times == 1.0 else f"{times:g} (n + 1)"
    if times < unheard:
        return f"is as good as silent: it claims {count} pulls, too few to be consistent"
    return f"claims {count} pulls of {_mean(place, end)}"


def _mean(place: float, end: End) -> str:
    if place <= END:
        return f"mean {end.beyond}"
    if place < 0.0:
        return f"a mean {-place:.0%} of the way from the {end.name} honest one to {end.beyond}"
    return f"the mean at place {place:g} among the honest ones, the {end.name} being at 0"
