"""Adaptive: the worst mean that surely survives the trimming. Paper: appendix, recommender systems."""

from dataclasses import dataclass

from byzmab.attacks.base import Attack, World
from byzmab.core.compiler import compiled
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
def lie(world: World, sender: int, receiver: int, knobs: Floats, notes: Floats, rng: Words, report: Report) -> None:
    """On the best arm the (f+1)-th smallest honest mean, elsewhere the (f+1)-th largest; one pull more than i.

    Where f = 0 it is the second, as the paper says. All liars tell one receiver the same, so the first of them
    notes it for the others: the means in row 1, the time and the receiver they are meant for in row 2.
    """
    honest, said = notes[0], notes[1]
    noted = notes[2, 0] == world.time + 1 and notes[2, 1] == receiver
    notes[2, 0], notes[2, 1] = world.time + 1, receiver
    for arm in range(report.pulls.size):
        report.pulls[arm] = world.pulls[receiver, arm] + 1.0
        if not noted:
            count = gather_honest(world, receiver, arm, honest)
            sort(honest[:count])
            place = min(max(world.f, 1), count - 1)
            said[arm] = NOBODY
            if count > 0:
                said[arm] = honest[place] if arm == world.best else honest[count - 1 - place]
        report.means[arm] = world.means[sender, arm] if said[arm] == NOBODY else said[arm]


@dataclass(frozen=True)
class Adaptive(Attack):
    """The (f+1)-th smallest honest mean on the best arm, the (f+1)-th largest elsewhere."""

    lie = staticmethod(lie)

    def notes_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        return 3, max(agents, arms, 2)
