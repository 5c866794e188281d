"""Crafted at contexts: a family of attacks with parameters, in which `byzmab attack search` looks for the worst.

A lie on an arm is a centre, moved along A⁻¹x by a number of the receiver's standard errors at x: down on the arm that
is best there, up on the others. The centre is the receiver's own θ, the mean of the honest agents', the true one, or
that of all honest agents together. Near the last is the point that receivers measure reports from
(core/contexts/centre.py). And x is the mean of the receiver's contexts, or its context in this round, which no real
Byzantine agent knows. `blind-alie` is a member.
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.attacks.contexts.base import ContextAttack
from byzmab.attacks.contexts.stealth import make_up_gram
from byzmab.attacks.contexts.world import ContextWorld, aim_at, honest_mean, set_moment, tell_theta
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.contexts.linear import dot, factorize, multiply, solve
from byzmab.core.contexts.statistics import gram_of, inverse_of, moment_of, theta_of
from byzmab.core.report import Floats, Words

SIGMA = 0.5  # the largest standard deviation of rewards in [0, 1]
ROUNDING = 1e-9  # so that a share of 1/3 meets every third receiver in spite of rounding
OWN, MEAN, TRUE, JOINT = range(4)  # centres
BEST, OTHERS, SIZE, SHARE, SPARED, SWITCH, KNOWS, CENTRE, INFLATES = range(9)  # where the parameters are


@compiled
def is_struck(time: int, receiver: int, params: Floats) -> bool:
    """Whether a receiver is told the harmful lie: a share of them, evenly spread, until the switch, then all."""
    share, before = params[SHARE], receiver * params[SHARE] + ROUNDING
    return bool(time >= params[SWITCH] or math.floor(before + share) > math.floor(before))


@compiled_noinline
def joint_estimate(world: ContextWorld, arm: int, out: Floats) -> None:
    """Write θ of an arm as all honest agents together would have it: by ridge regression on all that they saw."""
    d = out.size
    matrix, right = np.zeros(d * d), np.zeros(d)
    for a in range(d):
        matrix[a * d + a] = world.ridge
    for agent in range(world.byzantine, world.statistics.shape[0]):
        row = world.statistics[agent, arm]
        matrix += gram_of(row, d)
        right += moment_of(row, d)
    factorize(matrix, d)
    solve(matrix, right, out)


@compiled
def start_round_at(world: ContextWorld, params: Floats, scratch: Floats, rng: Words) -> None:
    """Write down what the honest agents hold of every arm, arms × d: their mean θ, or that of all together."""
    for arm in range(scratch.shape[0]):
        if params[CENTRE] == JOINT:
            joint_estimate(world, arm, scratch[arm])
        else:
            honest_mean(world, arm, scratch[arm])


@compiled_noinline
def write_centre(world: ContextWorld, receiver: int, arm: int, centre: float, normal: Floats, out: Floats) -> None:
    """Write the θ from which a lie is measured; `normal` is that of the honest agents."""
    own = theta_of(world.statistics[receiver, arm], out.size)
    for a in range(out.size):
        out[a] = world.parameters[arm, a] if centre == TRUE else own[a] if centre == OWN else normal[a]


@compiled_noinline
def resize(row: Floats, d: int, size: float) -> None:
    """Claim so many times the pulls, with the same mean at every context but for the ridge; none are silence."""
    row[0] *= size
    gram, moment = gram_of(row, d), moment_of(row, d)
    for index in range(gram.size):
        gram[index] *= size
    for a in range(d):
        moment[a] *= size


@compiled
def lie_at(
    world: ContextWorld, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Floats
) -> None:
    """The centre, moved by so many standard errors along A⁻¹x; the contrary to those who are spared."""
    aim, struck = aim_at(world, receiver, params[KNOWS] > 0.0), is_struck(world.time, receiver, params)
    d = aim.x.size
    direction, theta = np.empty(d), np.empty(d)
    for arm in range(report.shape[0]):
        multiply(inverse_of(world.statistics[receiver, arm], d), aim.x, direction)
        along = math.sqrt(dot(aim.x, direction))
        errors = -params[BEST] if arm == aim.best else params[OTHERS]
        if not struck:
            errors = params[SPARED] if arm == aim.best else -params[SPARED]
        write_centre(world, receiver, arm, params[CENTRE], scratch[arm], theta)
        theta += direction * (errors * SIGMA / along)
        if params[INFLATES] > 0.0:
            make_up_gram(world.statistics[receiver, arm, 0], aim.x, params[KNOWS] > 0.0, world.ridge, report[arm])
            set_moment(report[arm], theta, world.ridge)
        else:
            tell_theta(world, receiver, arm, theta, report)
        resize(report[arm], d, params[SIZE])


@dataclass(frozen=True)
class CraftedAt(ContextAttack):
    """With contexts: so many standard errors off a centre, as parameters say; the family of attack search."""

    parameters = (
        "crafted-at:best,others,size,share,spared,switch,knows,centre,inflates, as many of them as wanted; "
        "1.5,1.5,1,1,0,0,0,1,0, which is blind-alie, if not given. The receiver's standard errors on its best arm and "
        "on the others; pulls as a multiple of its own, 0 or more; the share struck, in [0, 1], and standard errors "
        "the other way for the rest, until the round of the switch; knows 1 if the receiver's context is known; centre "
        "0 for its own parameters, 1 for the mean of normal agents, 2 for the true ones, 3 for those of all normal "
        "agents together; inflates 1 for a made-up Gram matrix"
    )
    start_round_at = staticmethod(start_round_at)
    lie_at = staticmethod(lie_at)
    best: float = 1.5  # standard errors down on the arm that is best at x
    others: float = 1.5  # up on the others
    size: float = 1.0  # what is claimed, as a multiple of the receiver's pulls; 0 is silence
    share: float = 1.0  # of the receivers who are struck before the switch
    spared: float = 0.0  # standard errors the other way, for the rest
    switch: int = 0  # the round from which on everyone is struck
    knows: int = 0  # whether it knows the receiver's context
    centre: int = MEAN
    inflates: int = 0  # whether it makes up what it knows, as `inflate` does

    def __post_init__(self) -> None:
        errors = all(-math.inf < number < math.inf for number in (self.best, self.others, self.spared))
        numbers = 0.0 <= self.size < math.inf and 0.0 <= self.share <= 1.0 and self.switch >= 0
        switches = self.knows in (0, 1) and self.inflates in (0, 1) and self.centre in (OWN, MEAN, TRUE, JOINT)
        if not (errors and numbers and switches):
            raise self.misunderstood(self.to_text())

    def scratch_shape_at(self, arms: int, d: int) -> tuple[int, int]:
        return arms, d
