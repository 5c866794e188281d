"""Stealth: the receiver's own parameters, shifted as far as its vetting lets pass; inflated, with a made-up G as well.

Vetting measures how far told parameters are from one's own, and the score is quadratic in the shift. So the largest
shift that passes follows from the score of any other. Blind, it is aimed at the mean of the receiver's contexts;
knowing the receiver's context, at that. An inflated G claims to know what the receiver does not: all directions alike,
or the receiver's context alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.world import ContextWorld, aim_at, copy_row, set_moment
from byzmab.core.compiler import compiled, compiled_borrowing_noinline
from byzmab.core.contexts.comparing import VARIANCE, allowances, information_of, score_of
from byzmab.core.contexts.linear import add_outer, between, dot, multiply, trace_of
from byzmab.core.contexts.statistics import gram_of, inverse_of, theta_of
from byzmab.core.report import Floats, Words

SCORE = 0.95  # of vetting, which leaves out what is above 1
KNOWS, INFLATES = range(2)  # where the parameters are


@compiled_borrowing_noinline
def make_up_gram(pulls: float, x: Floats, knows: bool, ridge: float, told: Floats) -> None:
    """G = (n/d) I of n pulls, or n x xᵀ where the attack knows the context, and A⁻¹."""
    d = x.size
    gram, inverse, told[0] = gram_of(told, d), inverse_of(told, d), pulls
    size = 0.0 if knows else pulls / d
    for index in range(d * d):
        gram[index] = inverse[index] = 0.0
    for a in range(d):
        gram[a * d + a], inverse[a * d + a] = size, 1.0 / (ridge + size)
    if knows:
        add_outer(gram, x, pulls)
        add_outer(inverse, x, -pulls / (ridge * (ridge + pulls * dot(x, x))))  # Sherman & Morrison 1950


@compiled_borrowing_noinline
def aim_shift(row: Floats, told: Floats, x: Floats, sign: float, shift: Floats) -> tuple[float, float]:
    """Write the shift of one standard error at x, ±A⁻¹x/√(xᵀA⁻¹x); return its D and E, as vetting has them."""
    d = x.size
    multiply(inverse_of(row, d), x, shift)
    along = math.sqrt(dot(x, shift))
    for a in range(d):
        shift[a] *= sign / along
    gram = gram_of(row, d)
    spread = VARIANCE * (information_of(row, d) + trace_of(gram, inverse_of(told, d), d))
    return between(shift, gram, shift), spread


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """The receiver's θ, shifted down on the best arm at x and up elsewhere, by what gives a score of 0.95."""
    knows, arms, own = params[KNOWS] > 0.0, report.shape[0], world.statistics[receiver]
    aim = aim_at(world, receiver, knows)
    d = aim.x.size
    shifts, distances, spreads = np.empty((arms, d)), np.empty(arms), np.empty(arms)
    for arm in range(arms):
        if params[INFLATES] > 0.0:
            make_up_gram(own[arm, 0], aim.x, knows, world.ridge, report[arm])
        else:
            copy_row(own[arm], report[arm])
        sign = -1.0 if arm == aim.best else 1.0
        distances[arm], spreads[arm] = aim_shift(own[arm], report[arm], aim.x, sign, shifts[arm])
    score = score_of(distances, spreads, allowances(world.time, d, arms))
    size = math.sqrt(SCORE / score) if score > 0.0 else 0.0
    for arm in range(arms):
        for a in range(d):
            shifts[arm, a] = theta_of(own[arm], d)[a] + size * shifts[arm, a]
        set_moment(report[arm], shifts[arm], world.ridge)


@dataclass(frozen=True)
class Stealth(ContextAttack):
    """With contexts: the largest shift that vetting passes, at the mean context."""

    lie_at = staticmethod(lie_at)
    knows: int = 0  # whether it knows the receiver's context
    inflates: int = 0  # whether it makes up what it knows

    def __post_init__(self) -> None:
        if self.knows not in (0, 1) or self.inflates not in (0, 1):
            raise self.misunderstood(f"knows={self.knows},inflates={self.inflates}")


@dataclass(frozen=True)
class StealthAt(Stealth):
    """With contexts, knowing the receiver's: the largest shift there that vetting passes."""

    knows: int = 1


@dataclass(frozen=True)
class Inflate(Stealth):
    """With contexts: stealth with a made-up Gram matrix, n/d in all directions."""

    inflates: int = 1


@dataclass(frozen=True)
class InflateAt(StealthAt):
    """With contexts, knowing the receiver's: stealth with a made-up Gram matrix, all n pulls there."""

    inflates: int = 1
