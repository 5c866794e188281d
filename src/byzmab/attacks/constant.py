"""Constant: the same means for ever, with the counts of some honest agent. Paper: Section 5."""

from dataclasses import dataclass
from typing import Self

from byzmab.attacks.base import Attack, World, pick_normal_agent
from byzmab.attacks.contexts.world import ContextWorld, tell_theta
from byzmab.core.compiler import compiled
from byzmab.core.contexts.statistics import NEUTRAL
from byzmab.core.report import Floats, Report, Words

PAPER_MEANS = (0.4, 0.5, 0.4, 0.3)


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The configured means, repeated over the arms, with the drawn agent's counts."""
    copied = int(scratch[0, 0])
    index = 0
    for arm in range(report.means.size):
        report.pulls[arm] = world.pulls[copied, arm]
        report.means[arm] = params[index]
        index = index + 1 if index + 1 < params.size else 0


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """The configured means at every context."""
    index = 0
    for arm in range(report.shape[0]):
        tell_theta(world, receiver, arm, world.constant * (params[index] - NEUTRAL), report)
        index = index + 1 if index + 1 < params.size else 0


@dataclass(frozen=True)
class Constant(Attack):
    """Constant means to all, with the counts of one honest agent drawn each round."""

    parameters = "constant:0.4,0.5,0.4,0.3, means in [0, 1] repeated cyclically over the arms; those if not given"
    start_round = staticmethod(pick_normal_agent)
    lie = staticmethod(lie)
    lie_at = staticmethod(lie_at)
    equivocates = False
    sees_edges = False
    means: tuple[float, ...] = PAPER_MEANS

    @classmethod
    def from_text(cls, text: str) -> Self:
        parts = text.split(",") if text else []
        named, means = ([part for part in parts if ("=" in part) == has_name] for has_name in (True, False))
        try:
            known = cls._values(",".join(named))
            return cls(tuple(map(float, means)) or PAPER_MEANS, careful=int(known.pop("careful", 0)), **known)
        except (TypeError, ValueError):
            raise cls.misunderstood(text) from None

    def __post_init__(self) -> None:
        if not self.means or not all(0.0 <= mean <= 1.0 for mean in self.means):
            raise self.misunderstood(",".join(map(str, self.means)))

    def to_text(self) -> str:
        means = () if self.means == PAPER_MEANS else self.means
        return ",".join([*map(str, means), *([f"careful={self.careful}"] if self.careful else [])])

    @property
    def params(self) -> tuple[float, ...]:
        return self.means
