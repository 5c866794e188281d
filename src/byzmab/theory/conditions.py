"""Conditions on the graph: who has enough neighbours, and how likely everyone has."""

import math

import numpy as np
from numpy.typing import NDArray

from byzmab.core.report import Floats, Integers


def needed(f: int) -> int:
    """3f + 1: the neighbours from which on the network is strictly better than solo."""
    return 3 * f + 1


def enough(degrees: Floats, f: int | Integers) -> NDArray[np.bool_]:
    """Which agents have at least 3f + 1 neighbours."""
    return np.asarray(np.asarray(degrees) >= 3 * np.asarray(f) + 1)


def chance_of_enough(q: float, agents: int, f: int) -> float:
    """p(q): the chance that every agent of a directed Erdős–Rényi graph has at least 3f + 1 neighbours.

    Paper: Section 5, [Σ_{i=7..9} C(9, i) qⁱ (1−q)^{9−i}]¹⁰ for ten agents and f = 2.
    """
    others = agents - 1
    each = sum(math.comb(others, i) * q**i * (1.0 - q) ** (others - i) for i in range(needed(f), others + 1))
    return float(each**agents)
