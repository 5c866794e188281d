"""A floor and a cap of traffic: the share of decisions that an arm gets at least, and at most.

Every decision draws one number u, uniform on [0, 1). It belongs to an arm's floor, or else to what the floors leave
free. That part goes to the arm that the policy prefers as far as its cap allows. The rest goes to the one that it
prefers among the others, and so on. So given all that came before, the chance of every arm is between its floor and its
cap.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from numbers import Real
from typing import Any, Self

import numpy as np

from byzmab.core.draws import key_within, unit
from byzmab.core.errors import BadInput
from byzmab.core.tally import Arm, checked_name

STREAM = 2**62  # of an agent's key; the policy's own draws have the numbers of rounds, which are below it
SLACK = 1e-9  # for sums of shares such as ten times 0.1

Shares = float | dict[Arm, float]  # one for every arm, or some arms' own


class Forced(StrEnum):
    """Why a decision is not the policy's own."""

    FLOOR = "floor"
    CAP = "cap"


class Traffic:
    """The floors and caps of an agent's arms: a number for every arm, or arms with a number each.

    >>> traffic = Traffic(floor=0.05, cap={"red": 0.5})
    >>> traffic.floors(["red", "green"]), traffic.caps(["red", "green"])
    ([0.05, 0.05], [0.5, 1.0])
    """

    def __init__(self, floor: Any = 0.0, cap: Any = 1.0) -> None:
        self.floor: Shares = _checked("floor", floor, least=0.0)
        self.cap: Shares = _checked("cap", cap, least=math.ulp(0.0))
        self.is_free = self.floor in (0.0, {}) and self.cap in (1.0, {})  # every arm may get all decisions, or none

    @classmethod
    def from_rows(cls, floor: Any, cap: Any) -> Self:
        """The traffic that `as_rows` told, or BadInput."""
        return cls(*(dict(shares) if isinstance(shares, list) else shares for shares in (floor, cap)))

    def as_rows(self) -> list[Any]:
        """Floor and cap as plain data, for JSON, whose tables have no numbers for keys."""
        return [
            list(map(list, shares.items())) if isinstance(shares, dict) else shares for shares in (self.floor, self.cap)
        ]

    def floors(self, arms: Sequence[Arm]) -> list[float]:
        """The floor of each of these arms."""
        return _shares_of(arms, self.floor, 0.0)

    def caps(self, arms: Sequence[Arm]) -> list[float]:
        """The cap of each of these arms."""
        return _shares_of(arms, self.cap, 1.0)

    def check(self, arms: Sequence[Arm]) -> None:
        """BadInput unless these arms can have such shares."""
        for what, shares in (("floor", self.floor), ("cap", self.cap)):
            for arm in shares if isinstance(shares, dict) else ():
                if arm not in arms:
                    used = ", ".join(map(repr, arms))
                    raise BadInput(f"{what} of arm {arm!r} is not allowed; allowed: of arms in use, {used}")
        floors, caps = self.floors(arms), self.caps(arms)
        for arm, floor, cap in zip(arms, floors, caps, strict=True):
            if floor > cap:
                raise BadInput(f"floor {floor:g} of arm {arm!r} is not allowed; allowed: at most its cap, {cap:g}")
        if math.fsum(floors) > 1.0 + SLACK:
            raise BadInput(f"floor: those of {len(arms)} arms sum to {math.fsum(floors):g}; allowed: at most 1")
        if math.fsum(caps) < 1.0 - SLACK:
            raise BadInput(f"cap: those of {len(arms)} arms sum to {math.fsum(caps):g}; allowed: at least 1")

    def draw(self, arms: Sequence[Arm], luck: float, choose: Callable[[list[int]], int]) -> tuple[int, Forced | None]:
        """The index of the arm that a number in [0, 1) stands for, and what forced it if it is not the policy's.

        `choose` returns which of some arms, given by their indices, the policy prefers.
        """
        floors, caps = self.floors(arms), self.caps(arms)
        left = list(range(len(arms)))
        preferred = chosen = choose(left)
        for index, floor in enumerate(floors):
            if luck < floor:
                return index, None if index == preferred else Forced.FLOOR
            luck -= floor
        while luck >= caps[chosen] - floors[chosen] and len(left) > 1:
            luck -= caps[chosen] - floors[chosen]
            left.remove(chosen)
            chosen = choose(left)
        return chosen, None if chosen == preferred else Forced.CAP


def luck_at(seed: int, time: int) -> float:
    """The number u of the decision at time t: a hash of seed and time, so that a saved agent goes on with the same."""
    return float(unit(key_within(np.uint64(seed), STREAM, time)))


def _checked(what: str, shares: Any, least: float) -> Shares:
    """A share, or one for some arms, or BadInput; each is at least `least` and at most 1."""
    allowed = f"shares in {'[0, 1]' if least == 0.0 else '(0, 1]'}, one for every arm or a table with arms and theirs"
    if isinstance(shares, Mapping):
        return {checked_name("arm", arm): _share(what, share, least, allowed) for arm, share in shares.items()}
    return _share(what, shares, least, allowed)


def _share(what: str, share: Any, least: float, allowed: str) -> float:
    if not isinstance(share, Real) or isinstance(share, bool) or not least <= float(share) <= 1.0:
        raise BadInput(f"{what} {share!r} is not allowed; allowed: {allowed}")
    return float(share)


def _shares_of(arms: Sequence[Arm], shares: Shares, default: float) -> list[float]:
    if isinstance(shares, dict):
        return [shares.get(arm, default) for arm in arms]
    return [shares] * len(arms)
