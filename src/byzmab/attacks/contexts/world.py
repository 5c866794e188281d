"""What an attack sees where rewards depend on a context, and how it tells made-up parameters."""

from typing import NamedTuple

import numpy as np

from byzmab.core.compiler import compiled, compiled_borrowing_noinline, compiled_noinline
from byzmab.core.contexts.linear import dot, multiply
from byzmab.core.contexts.statistics import gram_of, moment_of, theta_of
from byzmab.core.report import Floats, Words


class ContextWorld(NamedTuple):
    """All an attack may know: everything. Agents and arms are numbered from 0; agents below `byzantine` lie."""

    time: int
    statistics: Floats  # agents × arms × numbers: see core/contexts/statistics.py
    contexts: Floats  # agents × d: what each sees in this round; no real Byzantine agent knows it before it tells
    context_means: Floats  # agents × arms: μ there
    context_totals: Floats  # agents × d: the sum of what each has seen before
    parameters: Floats  # arms × d: θ
    constant: Floats  # d: its product with every context is 1
    byzantine: int
    ridge: float  # λ


_TABLE = np.empty((0, 0))
EXAMPLE = ContextWorld(0, np.empty((0, 0, 0)), _TABLE, _TABLE, _TABLE, _TABLE, np.empty(0), 0, 1.0)


class Aim(NamedTuple):
    """Where a lie is meant to do harm."""

    x: Floats  # d: a context
    best: int  # the arm with the largest mean there


@compiled_noinline
def aim_at(world: ContextWorld, receiver: int, knows: bool) -> Aim:
    """The receiver's context and best arm, where the attack knows them; else the mean of the contexts it has seen."""
    if knows:
        means, best = world.context_means[receiver], 0
        for arm in range(means.size):
            best = arm if means[arm] > means[best] else best
        return Aim(world.contexts[receiver].copy(), best)
    pulls, best = 0.0, 0
    for arm in range(world.statistics.shape[1]):
        pulls += world.statistics[receiver, arm, 0]
    x = world.context_totals[receiver] / pulls
    for arm in range(world.parameters.shape[0]):
        best = arm if dot(world.parameters[arm], x) > dot(world.parameters[best], x) else best
    return Aim(x, best)


@compiled_borrowing_noinline
def copy_row(row: Floats, out: Floats) -> None:
    """Tell what stands in another row."""
    for index in range(row.size):
        out[index] = row[index]


@compiled_borrowing_noinline
def set_moment(row: Floats, theta: Floats, ridge: float) -> None:
    """Set b = (λI + G) θ, from which a receiver derives θ."""
    moment = moment_of(row, theta.size)
    multiply(gram_of(row, theta.size), theta, moment)
    for a in range(theta.size):
        moment[a] += ridge * theta[a]


@compiled
def tell_theta(world: ContextWorld, receiver: int, arm: int, theta: Floats, report: Floats) -> None:
    """Tell parameters θ as if they came from the receiver's own pulls: its n and G, and b = Aθ."""
    copy_row(world.statistics[receiver, arm], report[arm])
    set_moment(report[arm], theta, world.ridge)


@compiled_borrowing_noinline
def honest_mean(world: ContextWorld, arm: int, out: Floats) -> None:
    """Write the mean of the honest agents' θ on an arm."""
    normal = world.statistics.shape[0] - world.byzantine
    for a in range(out.size):
        out[a] = 0.0
    for agent in range(world.byzantine, world.statistics.shape[0]):
        theta = theta_of(world.statistics[agent, arm], out.size)
        for a in range(out.size):
            out[a] += theta[a] / normal


@compiled
def write_honest_means(world: ContextWorld, params: Floats, scratch: Floats, rng: Words) -> None:
    """A `start_round_at` for attacks that distort the honest agents' mean θ: write it down, arms × d."""
    for arm in range(scratch.shape[0]):
        honest_mean(world, arm, scratch[arm])
