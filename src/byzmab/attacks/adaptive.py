"""Adaptive: the worst mean that surely survives the trimming. Paper: appendix, recommender systems."""

import math
from dataclasses import dataclass

from byzmab.attacks.base import Attack, World, f_of
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Report, Words
from byzmab.core.sorting import sort
from byzmab.ordering.shared_order import SharedOrder, admit_first, load_arm, mean_from_end, queue_receivers

NOBODY = -1.0  # written down where no honest mean is heard
HONEST, MEMO, MEANS = range(3)  # rows of the scratch table; from MEANS on one row for each arm
TIME, RECEIVER, KNOWN = range(3)  # columns of MEMO: when, and for which receiver, means were written; when for all


@compiled
def gather_honest(world: World, receiver: int, arm: int, out: Floats) -> int:
    """The honest means that the receiver hears on an arm and its filter finds consistent; return how many there are."""
    count = 0
    for entry in range(world.inbox_starts[receiver], world.inbox_starts[receiver + 1]):
        if world.inbox_senders[entry] >= world.byzantine:
            row = world.inbox_rows[entry]
            claimed = world.told.pulls[row, arm]
            if not world.consistency or world.kappas[receiver] * claimed >= world.pulls[receiver, arm]:
                out[count] = world.told.means[row, arm]
                count += 1
    return count


@compiled
def survivor(world: World, receiver: int, arm: int, honest: Floats) -> float:
    """The honest mean that surely survives the receiver's trimming, or NOBODY.

    On the best arm the (f+1)-th smallest, elsewhere the (f+1)-th largest. Where f = 0 it is the second, as the
    paper says.
    """
    count = gather_honest(world, receiver, arm, honest)
    if count == 0:
        return NOBODY
    sort(honest[:count])
    rank = min(max(f_of(world, receiver), 1), count - 1)
    return float(honest[rank] if arm == world.bests[receiver] else honest[count - 1 - rank])


@compiled
def start_round(world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Nothing is written down yet: among nodes a round may have the time of the one before."""
    scratch[MEMO, TIME] = 0.0


@compiled
def start_round_dense(world: World, shared: SharedOrder, params: Floats, scratch: Floats, rng: Words) -> None:
    """Write down every receiver's survivors: the extremes of the shared order hold them, and nothing is sorted."""
    for arm in range(world.true_means.size):
        load_arm(shared, world.pulls, world.means, arm)
        queue_receivers(shared, world.kappas, world.consistency)
        admitted = 0
        for receiver in shared.queue:
            admitted = admit_first(shared, admitted, shared.n_consistent[receiver])
            mean = mean_from_end(shared, receiver, max(world.f, 1), arm == world.bests[receiver])
            scratch[MEANS + arm, receiver] = NOBODY if math.isnan(mean) else mean
    scratch[MEMO, KNOWN] = world.time + 1


@compiled
def lie(world: World, sender: int, receiver: int, params: Floats, scratch: Floats, rng: Words, report: Report) -> None:
    """The mean that surely survives, with one pull more than the receiver.

    All Byzantine agents tell one receiver the same, so the first of them writes it down for the others.
    """
    known = scratch[MEMO, KNOWN] == world.time + 1
    known |= scratch[MEMO, TIME] == world.time + 1 and scratch[MEMO, RECEIVER] == receiver
    scratch[MEMO, TIME], scratch[MEMO, RECEIVER] = world.time + 1, receiver
    for arm in range(report.pulls.size):
        if not known:
            scratch[MEANS + arm, receiver] = survivor(world, receiver, arm, scratch[HONEST])
        said = scratch[MEANS + arm, receiver]
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = world.means[sender, arm] if said == NOBODY else said


@dataclass(frozen=True)
class Adaptive(Attack):
    """The (f+1)-th smallest honest mean on the best arm, the (f+1)-th largest elsewhere."""

    start_round = staticmethod(start_round)
    start_round_dense = staticmethod(start_round_dense)
    lie = staticmethod(lie)
    sees_edges = False  # on dense graphs, where it reads the shared order

    def scratch_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return MEANS + arms, max(agents, 3)
