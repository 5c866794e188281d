"""Baselines: algorithms that the paper compares with, on the same graphs and under the same attacks."""

from byzmab.baselines.base import Baseline
from byzmab.baselines.consensus import Consensus
from byzmab.baselines.coop_ucb2 import CoopUcb2
from byzmab.core.plugins import Registry

__all__ = ["BASELINES", "Baseline"]

BASELINES = Registry(Baseline, {"consensus": Consensus, "coop-ucb2": CoopUcb2})
