"""Gaussian: one's own means, with a fixed bias and noise for every receiver. Paper: appendix, recommender systems."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.draws import normal, uniform
from byzmab.core.report import Floats, Report, Words

SPREAD = 0.1  # the paper's N(β, 0.01) gives the variance


@compiled
def hears(world: World, receiver: int, sender: int) -> bool:
    """Whether there is an edge from sender to receiver."""
    for edge in range(world.starts[receiver], world.starts[receiver + 1]):
        if world.neighbours[edge] == sender:
            return True
    return False


@compiled
def start_run(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Draw the bias of every Byzantine agent and arm."""
    for liar in range(world.byzantine):
        for arm in range(world.true_means.size):
            scratch[liar, arm] = uniform(rng)


@compiled
def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Draw, for every Byzantine agent, an honest agent that hears it or that it hears; itself where there is none.

    The last column holds the agent drawn, the one before how many were seen. Each new one takes the place with
    chance 1 / seen.
    """
    seen, drawn = scratch.shape[1] - 2, scratch.shape[1] - 1
    for liar in range(world.byzantine):
        scratch[liar, seen], scratch[liar, drawn] = 0.0, liar
        for edge in range(world.starts[liar], world.starts[liar + 1]):
            other = world.neighbours[edge]
            if other >= world.byzantine and not hears(world, other, liar):
                scratch[liar, seen] += 1.0
                if uniform(rng) * scratch[liar, seen] < 1.0:
                    scratch[liar, drawn] = other
    for other in range(world.byzantine, world.pulls.shape[0]):
        for edge in range(world.starts[other], world.starts[other + 1]):
            liar = world.neighbours[edge]
            if liar >= world.byzantine:
                break  # neighbours ascend
            scratch[liar, seen] += 1.0
            if uniform(rng) * scratch[liar, seen] < 1.0:
                scratch[liar, drawn] = other


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """Biased and noisy means, with the counts that the drawn neighbour had one round ago."""
    copied = int(scratch[sender, scratch.shape[1] - 1])
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[copied, arm] - (world.last[copied] == arm)
        noisy = world.means[sender, arm] + scratch[sender, arm] + SPREAD * normal(rng)
        report.means[arm] = min(max(noisy, 0.0), 1.0)


@dataclass(frozen=True)
class Gaussian(Attack):
    """One's own means, with a bias fixed per run and noise for every receiver."""

    start_run = staticmethod(start_run)
    start_round = staticmethod(start_round)
    lie = staticmethod(lie)

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return max(byzantine, 1), arms + 2
