"""Poisoned rewards: somebody alters what an honest agent sees, so that its reports mislead all who hear it.

After Zuo et al. 2023 (arXiv 2311.01698): the rewards of every arm but one are lowered until that arm looks best. The
agent then pulls it nearly always, where nothing has to be altered. So the attack costs little, and the agent, honest as
it is, tells everyone what it saw.
"""

from dataclasses import dataclass
from typing import ClassVar

from byzmab.core.compiler import compiled
from byzmab.core.draws import unit
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards

ARM, LEVEL = range(2)  # where the parameters are


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """1 with probability μ; on other arms than the one to be liked a 1 is altered to 0 where μ is above the level."""
    chance = pull.mean if pull.arm == int(params[ARM]) - 1 else min(pull.mean, params[LEVEL])
    return 1.0 if unit(rng[0]) < chance else 0.0


@dataclass(frozen=True)
class Poisoned(Rewards):
    """Bernoulli, but altered: all arms but one look as if their mean were at most a level."""

    parameters = "poisoned:1,0.1, the arm that is to be liked, from 1, and the most that the others seem to be worth"
    reward = staticmethod(reward)
    unbiased: ClassVar[bool] = False
    arm: int = 1
    level: float = 0.1

    def __post_init__(self) -> None:
        if self.arm < 1 or not 0.0 <= self.level <= 1.0:
            raise self.misunderstood(self.to_text())
