"""Algorithms: algorithms to compare with, those that the paper names among them, on the same graphs and attacks."""

from byzmab.baselines.base import Baseline, Network
from byzmab.baselines.consensus import Consensus
from byzmab.baselines.coop_ucb import CoopUcb
from byzmab.baselines.coop_ucb2 import CoopUcb2
from byzmab.baselines.dducb import Dducb
from byzmab.baselines.demabar import Demabar
from byzmab.baselines.gossip import Gosine, Vial2021, Vial2022
from byzmab.baselines.median_elimination import MedianElimination
from byzmab.baselines.mp_ucb import MpUcb
from byzmab.core.plugins import Registry

__all__ = ["BASELINES", "Baseline", "Network"]

BASELINES = Registry(
    Baseline,
    {
        "consensus": Consensus,
        "coop-ucb": CoopUcb,
        "coop-ucb2": CoopUcb2,
        "gosine": Gosine,
        "vial-2021": Vial2021,
        "vial-2022": Vial2022,
        "dducb": Dducb,
        "demabar": Demabar,
        "median-elimination": MedianElimination,
        "mp-ucb": MpUcb,
    },
)
