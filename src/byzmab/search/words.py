"""What a crafted attack does, in plain words."""

from typing import NamedTuple

from byzmab.attacks import Attack
from byzmab.attacks.contexts.crafted_at import CraftedAt
from byzmab.attacks.crafted import (
    ALL_ARMS,
    BESIDE,
    BEST_AND_SECOND,
    BEST_ONLY,
    END,
    RANKS,
    SECOND_ONLY,
    SENDERS_ERRORS,
    Crafted,
)
from byzmab.attacks.greedy import Foresight, Phased, Victim
from byzmab.experiment.experiment import Experiment
from byzmab.search.context_space import in_words_at

CAREFUL = (
    "It tells nothing that an audit notices: where this cannot follow what it told before, what is nearest, "
    "and instead of silence, where that is noticed, no news."
)


class End(NamedTuple):
    """An end of the honest means, from which ranks are counted."""

    name: str
    beyond: str  # the end of the scale behind it
    side: str  # of the true mean


LOW, HIGH = End("smallest", "0", "below"), End("largest", "1", "above")


class Teller(NamedTuple):
    """What is the same in all claims of an attack."""

    errors: int  # what lies are measured in
    unheard: float  # the multiple of n + 1 below which a report is surely inconsistent

    def claim(self, rank: float, times: float, end: End) -> str:
        """A count and a mean."""
        if times == 0.0:
            return "is silent"
        count = "n + 1" if times == 1.0 else f"{times:g} (n + 1)"
        if times < self.unheard:
            return f"is as good as silent: it claims {count} pulls, too few to be consistent"
        mean = _mean(rank, end) if self.errors == RANKS else self._mean_off(rank, end)
        return f"claims {count} pulls of {mean}"

    def _mean_off(self, rank: float, end: End) -> str:
        if rank == 0.0:
            return "the receiver's own mean" if self.errors == BESIDE else "the true mean"
        whose = "of the count it claims" if self.errors == SENDERS_ERRORS else "of the receiver"
        side = (end if rank > 0.0 else LOW if end is HIGH else HIGH).side
        centre = "the receiver's own" if self.errors == BESIDE else "the true one"
        return f"a mean {abs(rank):g} standard errors {whose} {side} {centre}"


def in_words(attack: Attack, experiment: Experiment) -> list[str]:
    """One sentence for each thing that the attack does; n is the receiver's count."""
    if isinstance(attack, CraftedAt):
        return in_words_at(attack, experiment.horizon)
    if isinstance(attack, Foresight):
        return _foreseen(attack)
    assert isinstance(attack, Crafted), "only attacks of the families that are searched are told in words"
    teller = Teller(attack.errors, _unheard(experiment))
    said = []
    if attack.common:
        said.append("It tells everyone the same; n is the largest count of a normal agent.")
    if attack.target != SECOND_ONLY:
        said.append(f"On the best arm it {teller.claim(attack.best, attack.best_count, LOW)}.")
    if attack.target != BEST_ONLY:
        said.append(f"On the second best arm it {teller.claim(attack.second, attack.second_count, HIGH)}.")
    if experiment.parts.arms > 2 and attack.target == ALL_ARMS:
        said.append(f"On the other arms it {teller.claim(attack.others, attack.other_counts, HIGH)}.")
    if attack.target != ALL_ARMS and (experiment.parts.arms > 2 or attack.target != BEST_AND_SECOND):
        said.append("On all other arms it reports honestly.")
    if attack.isolate:
        fewer = f"fewer than {attack.isolate} honest reports"
        said.append(f"Where {fewer} are consistent on an arm other than the best, it is silent there.")
    if attack.careful:
        said.append(CAREFUL)
    return said + _shares(attack, experiment, teller) + _pause(attack, experiment, teller)


def _foreseen(attack: Foresight) -> list[str]:
    """What an attack does that tries out its lies."""
    tried = f"up to {attack.reach:g} standard errors of the receiver off the honest mean, and 0 and 1"
    said = [
        f"It tries means {tried}, with one pull, (n + 1)/2 and n + 1, on the receiver's own filter and policy.",
        "It tells what gives the best arm the lowest index and the others the highest.",
        f"It tries anew in every round at first, later each time {attack.pace:g} of the time so far has passed.",
    ]
    if isinstance(attack, Victim):
        said.append(f"It lies to honest agent {attack.victim} alone, all the time, and tells the others its own tally.")
    if isinstance(attack, Phased):
        said.append(f"It lies to one honest agent after the other, {attack.rounds} rounds each, and not to the others.")
    return [*said, CAREFUL] if attack.careful else said


def _shares(attack: Crafted, experiment: Experiment, teller: Teller) -> list[str]:
    """Who is struck until the switch, and what the spared are told."""
    elsewhere = attack.share < 1.0 and attack.target != BEST_ONLY
    on_best = attack.best_share < 1.0 and attack.target != SECOND_ONLY
    if attack.common or attack.switch == 0 or not (elsewhere or on_best):
        return []
    forever = attack.switch >= experiment.horizon
    until = "All the time" if forever else f"Until round {attack.switch}"
    said = []
    if elsewhere:
        spared = teller.claim(attack.spared, attack.spared_count, LOW)
        said += [
            f"{until} only {attack.share:.0%} of the receivers, others on each arm but the best, are struck so.",
            f"To the rest it {spared}, so that they fall behind on that arm.",
        ]
    if on_best:
        spared = teller.claim(attack.spared, attack.spared_count, HIGH)
        said.append(f"{until} on the best arm only {attack.best_share:.0%} are struck; to the rest it {spared}.")
    return said if forever else [*said, "From then on it strikes everyone."]


def _pause(attack: Crafted, experiment: Experiment, teller: Teller) -> list[str]:
    """When nobody is struck."""
    if attack.pause >= min(attack.resume, experiment.horizon):
        return []
    end = "the end" if attack.resume >= experiment.horizon else f"round {attack.resume}"
    low, high = (teller.claim(attack.spared, attack.spared_count, side) for side in (LOW, HIGH))
    contrary = high if low == high else f"{low}; on the best arm it {high}"
    return [f"From round {attack.pause} to {end} it strikes nobody: it {contrary}."]


def _unheard(experiment: Experiment) -> float:
    """The multiple of n + 1 below which a report is surely inconsistent: κ times it is less than n for all n > 1."""
    parts = experiment.parts
    if not parts.filter.consistency or parts.baseline is not None:
        return 0.0
    return 0.5 / (2.0 if parts.kappas is None else max(parts.kappas))


def _mean(rank: float, end: End) -> str:
    if rank <= END:
        return f"mean {end.beyond}"
    if rank < 0.0:
        return f"a mean {-rank:.0%} of the way from the {end.name} honest one to {end.beyond}"
    return f"the mean at rank {rank:g} among the honest ones, the {end.name} being at 0"
