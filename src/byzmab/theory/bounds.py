"""Regret bounds: UCB1's, the paper's upper bound from a recorded g, and the rate of its lower bound."""

import math

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Integers

CONSTANT = 1.0 + math.pi**2 / 3.0  # of the pulls that concentration does not rule out, per gap


def gaps_of(means: Floats) -> Floats:
    """Δ: how much worse than the best every arm is."""
    return np.asarray(np.max(means) - means)


def ucb1_bound(means: Floats, horizon: int) -> float:
    """The regret bound of UCB1 (Auer, Cesa-Bianchi & Fischer 2002): Σ 8 ln T / Δ + (1 + π²/3) Δ."""
    gaps = gaps_of(means)
    gaps = gaps[gaps > 0.0]
    return float((8.0 * math.log(horizon) / gaps + CONSTANT * gaps).sum())


@compiled
def bound_of(largest: Floats, gaps: Floats) -> float:
    """The paper's bound of one agent at τ = T, from its largest g(t) ln t by arm."""
    total = 0.0
    for arm in range(gaps.size):
        if gaps[arm] > 0.0:
            total += 8.0 * largest[arm] / gaps[arm] + CONSTANT * gaps[arm]
    return total


@compiled
def record_width(g: Floats, time: int, gaps: Floats, largest: Floats, tightest: Floats, agent: int) -> None:
    """Record g of one agent's arms at a time, t = 1, 2, …, in two arrays of a `WidthRecord`."""
    log_time = math.log(time)
    for arm in range(gaps.size):
        largest[agent, arm] = max(largest[agent, arm], g[arm] * log_time)
    tightest[agent] = min(tightest[agent], bound_of(largest[agent], gaps) - time * gaps.max())


class WidthRecord:
    """The trajectory of g, kept as the paper's bound needs it; the one recorder, of live runs and of plain numbers."""

    def __init__(self, agents: int, means: Floats) -> None:
        self.gaps = gaps_of(means)  # Δ
        self.largest = np.zeros((agents, len(means)))  # max over t of g(t) ln t
        self.tightest = np.full(agents, math.inf)  # min over τ of the bound's first two terms − τ Δ_M
        self.time = 0

    def add(self, g: Floats) -> None:
        """Record g (agents × arms) of the next round, t = 1, 2, …"""
        self.time += 1
        for agent, widths in enumerate(g):
            record_width(widths, self.time, self.gaps, self.largest, self.tightest, agent)

    def plain(self) -> Floats:
        """The bound of every agent at τ = T."""
        return np.array([bound_of(largest, self.gaps) for largest in self.largest])

    def tight(self) -> Floats:
        """The bound with the minimum over τ: explore by the bound up to τ, then pay the largest gap."""
        return np.asarray(self.tightest + self.time * self.gaps.max())


def lower_rate(degrees: Floats, f: int | Integers) -> Floats:
    """The rate of the lower bound, 1 / max(|N| − 2f + 1, 1), as a share of what an agent alone must pay.

    The paper prints a spurious log T, and its argument covers its own filter only.
    """
    return np.asarray(1.0 / np.maximum(degrees - 2 * f + 1, 1.0))
