"""Smart: name the poor arm that the receiver knows least of. Vial et al. 2022, against gossip of arm names."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """Mean 1 − n_ik / t on suboptimal arms, 0 on the best; only on arms not active at the receiver, if it has such.

    Where arms are named, one that is not active is told with a negative mean.
    """
    true_means = world.own_means[receiver]
    best_mean = true_means[world.bests[receiver]]
    aside = False  # whether a suboptimal arm is not active
    for arm in range(report.pulls.size):
        aside |= world.means[receiver, arm] < 0.0 and true_means[arm] < best_mean
    for arm in range(report.pulls.size):
        counts = true_means[arm] < best_mean and (world.means[receiver, arm] < 0.0 or not aside)
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = max(0.0, 1.0 - world.pulls[receiver, arm] / (world.time + 1.0)) if counts else 0.0


@dataclass(frozen=True)
class Smart(Attack):
    """High on the suboptimal arm that the receiver pulled least: an inactive one, where arms are named."""

    lie = staticmethod(lie)
    sees_edges = False
