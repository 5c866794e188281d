"""Rewards: what a pull is worth, given the mean of its arm."""

from typing import Any

from byzmab.core.plugins import Registry
from byzmab.rewards.base import Pull, Rewards
from byzmab.rewards.bernoulli import Bernoulli
from byzmab.rewards.beta import Beta
from byzmab.rewards.gaussian import Gaussian
from byzmab.rewards.pareto import Pareto
from byzmab.rewards.replay import NAME, Replay
from byzmab.rewards.uniform import Uniform

__all__ = ["NAME", "REWARDS", "Pull", "Replay", "Rewards", "resolve_rewards"]

REWARDS = Registry(
    Rewards,
    {"bernoulli": Bernoulli, "beta": Beta, "uniform": Uniform, "gaussian": Gaussian, "pareto": Pareto},
)


def resolve_rewards(wanted: Any) -> Rewards:
    """The rewards that are meant: a log by its file, or what the registry knows."""
    if isinstance(wanted, str) and wanted.startswith(f"{NAME}:"):
        return Replay.from_text(wanted.partition(":")[2])
    return REWARDS.resolve(wanted)  # type: ignore[no-any-return]
