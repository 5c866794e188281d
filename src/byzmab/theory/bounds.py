"""Regret bounds: UCB1's, the paper's upper bound from a recorded g, and the rate of its lower bound."""

import math

import numpy as np

from byzmab.core.report import Floats

CONSTANT = 1.0 + math.pi**2 / 3.0  # of the pulls that concentration does not rule out, per gap


def gaps_of(means: Floats) -> Floats:
    """Δ: how much worse than the best every arm is."""
    return np.asarray(np.max(means) - means)


def ucb1_bound(means: Floats, horizon: int) -> float:
    """The regret bound of UCB1 (Auer, Cesa-Bianchi & Fischer 2002): Σ 8 ln T / Δ + (1 + π²/3) Δ."""
    gaps = gaps_of(means)
    gaps = gaps[gaps > 0.0]
    return float((8.0 * math.log(horizon) / gaps + CONSTANT * gaps).sum())


def upper_bound(largest: Floats, gaps: Floats) -> Floats:
    """The paper's bound at τ = T of every agent, from its largest g(t) ln t (agents × arms)."""
    inferior = gaps > 0.0
    per_arm = 8.0 * largest[:, inferior] / gaps[inferior] + CONSTANT * gaps[inferior]
    return np.asarray(per_arm.sum(axis=1))


class WidthRecord:
    """The trajectory of g: per agent and arm the largest g(t) ln t so far, kept as the paper's bound needs it."""

    def __init__(self, agents: int, means: Floats) -> None:
        self.gaps = gaps_of(means)
        self.largest = np.zeros((agents, len(means)))  # max over t of g(t) ln t
        self.best_so_far = np.full(agents, math.inf)  # min over τ of the bound's first two terms − τ Δ_M
        self.time = 0

    def add(self, g: Floats) -> None:
        """Record g (agents × arms) of the next round, t = 1, 2, …"""
        self.time += 1
        self.largest = np.maximum(self.largest, g * math.log(self.time))
        self.best_so_far = np.minimum(self.best_so_far, self._of_arms() - self.time * self.gaps.max())

    def _of_arms(self) -> Floats:
        return upper_bound(self.largest, self.gaps)

    def tight(self) -> Floats:
        """The bound with the minimum over τ: explore by the bound up to τ, then pay the largest gap."""
        return np.asarray(self.best_so_far + self.time * self.gaps.max())

    def plain(self) -> Floats:
        """The bound at τ = T."""
        return self._of_arms()


def lower_rate(degrees: Floats, f: int) -> Floats:
    """The rate of the lower bound, 1 / max(|N| − 2f + 1, 1), as a share of what an agent alone must pay.

    The paper prints a spurious log T, and its argument covers its own filter only.
    """
    return np.asarray(1.0 / np.maximum(degrees - 2 * f + 1, 1.0))
