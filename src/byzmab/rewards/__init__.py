"""Rewards: what a pull is worth, given the mean of its arm."""

from byzmab.core.plugins import Registry
from byzmab.rewards.base import Pull, Rewards
from byzmab.rewards.bernoulli import Bernoulli
from byzmab.rewards.beta import Beta
from byzmab.rewards.gaussian import Gaussian
from byzmab.rewards.pareto import Pareto
from byzmab.rewards.uniform import Uniform

__all__ = ["REWARDS", "Pull", "Rewards"]

REWARDS = Registry(
    Rewards,
    {"bernoulli": Bernoulli, "beta": Beta, "uniform": Uniform, "gaussian": Gaussian, "pareto": Pareto},
)
