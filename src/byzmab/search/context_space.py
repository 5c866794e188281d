"""The space that is searched where rewards depend on contexts."""

from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from byzmab.attacks.contexts.crafted_at import JOINT, MEAN, OWN, TRUE, CraftedAt
from byzmab.search.space import LOUD, MOST_ERRORS, NEVER, SILENT, Point, times_of

COORDINATES = {
    "best": (-MOST_ERRORS / 2.0, MOST_ERRORS),
    "others": (-MOST_ERRORS / 2.0, MOST_ERRORS),
    "size": (SILENT, LOUD),
    "share": (0.0, 1.0),
    "spared": (0.0, MOST_ERRORS),
    "switch": (0.0, NEVER),
}


class ContextBranch(NamedTuple):
    """A part of the family that is searched by itself: what the Byzantine agents know, and from where they start."""

    knows: int = 0
    centre: int = MEAN
    inflates: int = 0


class ContextStart(NamedTuple):
    """Where a search begins."""

    branch: ContextBranch
    point: Point


@dataclass(frozen=True)
class ContextSpace:
    """All crafted attacks worth trying on an experiment with contexts."""

    horizon: int

    def bounds(self, branch: ContextBranch) -> dict[str, tuple[float, float]]:
        """From where to where each coordinate goes, the same in every branch."""
        return COORDINATES

    @property
    def known(self) -> dict[str, ContextStart]:
        """Where attacks with a name lie that are members of the family."""
        return {"blind-alie": _start(ContextBranch())}

    @property
    def starts(self) -> tuple[ContextStart, ...]:
        """All starts: a shift that is small, and one that is large, in every branch; that with a name first."""
        branches = [ContextBranch(*choice) for choice in product((0, 1), (OWN, MEAN, TRUE, JOINT), (0, 1))]
        others = [_start(branch, errors) for branch in branches for errors in (1.5, 4.0)]
        named = list(self.known.values())
        return (*named, *(start for start in others if start not in named))

    def attack(self, branch: ContextBranch, point: Point) -> CraftedAt:
        """The attack that a point of a branch stands for, with no more digits than can matter."""
        given: dict[str, Any] = {name: round(point[name], 3) for name in ("best", "others", "share", "spared")}
        switch = round(point["switch"] * self.horizon)
        return CraftedAt(**given, size=round(times_of(point["size"]), 3), switch=switch, **branch._asdict())


def _start(branch: ContextBranch, errors: float = 1.5) -> ContextStart:
    point = {"best": errors, "others": errors, "size": 1.0, "share": 1.0, "spared": 0.0, "switch": 0.0}
    return ContextStart(branch, point)


def in_words_at(attack: CraftedAt, horizon: int) -> list[str]:
    """One sentence for each thing that an attack at contexts does."""
    where = "its context in this round" if attack.knows else "the mean of its contexts"
    centres = {OWN: "the receiver's own", MEAN: "the normal agents' mean", TRUE: "the true"}
    whose = {**centres, JOINT: "the normal agents' joint"}[attack.centre]
    if attack.size == 0.0:
        return ["It is silent."]
    gram = ", with a made-up Gram matrix" if attack.inflates else ""
    down, up = f"{attack.best:g} down on the arm that is best there", f"{attack.others:g} up on the others"
    said = [
        f"It tells each receiver {whose} parameters, moved at {where} by the receiver's standard errors: {down}, {up}.",
        f"It claims {attack.size:g} times the receiver's own pulls{gram}.",
    ]
    if attack.share < 1.0 and attack.switch > 0:
        until = "All the time" if attack.switch >= horizon else f"Until round {attack.switch}"
        rest = f"the rest are told parameters {attack.spared:g} standard errors the other way"
        said.append(f"{until} only {attack.share:.0%} of the receivers are struck so; {rest}.")
    return said
