"""Worlds: what a pull is worth, given the mean of its arm, how means change, and logs of real events."""

from typing import Any

from byzmab.core.plugins import Registry
from byzmab.worlds.bernoulli import Bernoulli
from byzmab.worlds.beta import Beta
from byzmab.worlds.drifts import Drift, Periodic, Steps, Still, Walk
from byzmab.worlds.gaussian import Gaussian
from byzmab.worlds.pareto import Pareto
from byzmab.worlds.poisoned import Poisoned
from byzmab.worlds.replay import NAME, Replay
from byzmab.worlds.rewards import Pull, Rewards
from byzmab.worlds.uniform import Uniform

__all__ = ["DRIFTS", "NAME", "REWARDS", "Drift", "Pull", "Replay", "Rewards", "resolve_rewards"]

REWARDS = Registry(
    Rewards,
    {
        "bernoulli": Bernoulli,
        "beta": Beta,
        "uniform": Uniform,
        "gaussian": Gaussian,
        "pareto": Pareto,
        "poisoned": Poisoned,
    },
)
DRIFTS = Registry(Drift, {"none": Still, "steps": Steps, "walk": Walk, "periodic": Periodic})


def resolve_rewards(wanted: Any) -> Rewards:
    """The rewards that are meant: a log by its file, or what the registry knows."""
    if isinstance(wanted, str) and wanted.startswith(f"{NAME}:"):
        return Replay.from_text(wanted.partition(":")[2])
    return REWARDS.resolve(wanted)  # type: ignore[no-any-return]
