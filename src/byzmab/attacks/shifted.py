"""Shifted: one's own rewards, some of them replaced: a sample path of an agent whose means are shifted.

Whatever is audited passes: counts are those of a real agent, and every reward is in [0, 1]. All receivers are told the
same.
"""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.draws import uniform
from byzmab.core.report import Floats, Report, Words


@compiled
def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Take over what every Byzantine agent has pulled since the last time, reward by reward.

    `scratch` has, for every Byzantine agent, its counts and rewards as they were, and the rewards that it tells.
    """
    liars = world.byzantine
    for liar in range(liars):
        for arm in range(world.true_means.size):
            before, count = scratch[liar, arm], world.pulls[liar, arm]
            total, harmful = count * world.means[liar, arm], 0.0 if arm == world.best else 1.0
            rewards = total - scratch[liars + liar, arm]
            for _ in range(int(count - before)):
                replaced = uniform(rng) < params[0]
                scratch[2 * liars + liar, arm] += harmful if replaced else rewards / (count - before)
            scratch[liar, arm], scratch[liars + liar, arm] = count, total


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """One's own counts, with the rewards that are left."""
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[sender, arm]
        report.means[arm] = scratch[2 * world.byzantine + sender, arm] / max(world.pulls[sender, arm], 1.0)


@dataclass(frozen=True)
class Shifted(Attack):
    """One's own tally, a tenth of its rewards replaced: by 0 on the best arm and by 1 elsewhere."""

    parameters = "shifted:0.1, the share of rewards that are replaced, in [0, 1]; 0.1 if not given"
    start_round = staticmethod(start_round)
    lie = staticmethod(lie)
    equivocates = False
    sees_edges = False
    share: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 <= self.share <= 1.0:
            raise self.misunderstood(self.share)

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 3 * max(byzantine, 1), arms
