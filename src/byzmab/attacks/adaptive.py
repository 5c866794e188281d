"""Adaptive: the worst mean that surely survives the trimming. Paper: appendix, recommender systems."""

import math
from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
from byzmab.core.crowd import admit_within, gather, line_up, mean_from_end, open_crowd
from byzmab.core.report import Floats, Report, Words
from byzmab.core.sorting import sort

NOBODY = -1.0  # noted where no honest mean is heard


@compiled
def gather_honest(world: World, receiver: int, arm: int, out: Floats) -> int:
    """The honest means that the receiver hears on an arm and its filter finds consistent; how many there are."""
    count = 0
    for entry in range(world.heard_starts[receiver], world.heard_starts[receiver + 1]):
        if world.heard[entry] >= world.byzantine:
            row = world.heard_rows[entry]
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
    place = min(max(world.f, 1), count - 1)
    return float(honest[place] if arm == world.best else honest[count - 1 - place])


@compiled
def meet(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
    """On a dense graph, note every receiver's survivors: the ends of the crowd hold them, and nothing is sorted."""
    if not world.dense:
        return
    crowd = open_crowd(world.room)
    for arm in range(world.truths.size):
        gather(crowd, world.pulls, world.means, arm)
        line_up(crowd, world.kappas, world.consistency)
        admitted = 0
        for receiver in crowd.queue:
            admitted = admit_within(crowd, admitted, crowd.reaches[receiver])
            mean = mean_from_end(crowd, receiver, max(world.f, 1), arm == world.best)
            notes[2 + arm, receiver] = NOBODY if math.isnan(mean) else mean


@compiled
def lie(world: World, sender: int, receiver: int, knobs: Floats, notes: Floats, rng: Words, report: Report) -> None:
    """The mean that surely survives, with one pull more than the receiver.

    All liars tell one receiver the same, so the first of them notes it for the others: the means in column
    `receiver` from row 2 on, the time and the receiver they are meant for in row 1.
    """
    noted = world.dense or (notes[1, 0] == world.time + 1 and notes[1, 1] == receiver)
    notes[1, 0], notes[1, 1] = world.time + 1, receiver
    for arm in range(report.pulls.size):
        if not noted:
            notes[2 + arm, receiver] = survivor(world, receiver, arm, notes[0])
        said = notes[2 + arm, receiver]
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        report.means[arm] = world.means[sender, arm] if said == NOBODY else said


@dataclass(frozen=True)
class Adaptive(Attack):
    """The (f+1)-th smallest honest mean on the best arm, the (f+1)-th largest elsewhere."""

    meet = staticmethod(meet)
    lie = staticmethod(lie)
    sees_edges = False  # on dense graphs, where it reads the crowd

    def notes_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 2 + arms, max(agents, 2)
