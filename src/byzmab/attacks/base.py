"""What an attack is, what it sees, and the loop in which the Byzantine agents of a board lie."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import types

from byzmab.core.board import CONSISTENT_MEANS, BoardType, first_row, floats, integers, table, words
from byzmab.core.compiler import compiled, weave
from byzmab.core.crowd import Room, room_of
from byzmab.core.draws import below, fold
from byzmab.core.plugins import Plugin
from byzmab.core.report import Floats, Integers, Report, Words


class World(NamedTuple):
    """All an attack may know: everything. Agents and arms are numbered from 0; agents below `byzantine` lie."""

    time: int
    pulls: Floats  # agents × arms: n
    means: Floats  # agents × arms: x̄
    last: Integers  # agents: the arm each pulled last, -1 before the first round
    truths: Floats  # arms: μ
    best: int  # the arm with the largest μ
    byzantine: int
    f: int
    kappas: Floats  # agents
    consistency: bool  # whether the filter drops reports with κ n_j < n_i
    starts: Integers  # agents + 1: agent i's neighbours are neighbours[starts[i]:starts[i + 1]]
    neighbours: Integers  # ascending, so that liars come first
    heard_starts: Integers  # agents + 1: the same for the inboxes, in which reports may be remembered
    heard: Integers  # senders
    heard_rows: Integers  # rows of `told`
    told: Report  # rows × arms
    dense: bool  # whether reports are ordered once for all; the lists above may then hold liars alone: see `sees_edges`
    room: Room  # if so, `byzmab.core.crowd.open_crowd` finds them there


@dataclass(frozen=True)
class Attack(Plugin):
    """Says, for each liar and each of those who hear it, any count and mean of every arm.

    An attack provides up to three compiled functions. `knobs` are the numbers of its own `knobs`, and
    `notes` is a table of floats, `notes_shape` large, that it may write on; `rng` is a random stream.

        prepare(world, knobs, notes, rng)      once per run, before the first lie: draw constants
        meet(world, knobs, notes, rng)         once per round: draw what all lies of the round share
        lie(world, sender, receiver, knobs, notes, rng, report)     fill report.pulls and report.means

    A mean that is no finite number, like a count that is not positive, is silence on that arm.
    """

    kind: ClassVar[str] = "attack"
    function: ClassVar[str] = "lie"
    lie: ClassVar[Any]
    sees_edges: ClassVar[bool] = True  # whether it looks at who hears whom; if not, a dense graph is not listed for it

    def __init_subclass__(cls) -> None:
        """An attack derived from one that does not look at edges may do so, unless it says that it does not."""
        if vars(cls).keys() & {"prepare", "meet", "lie"} and "sees_edges" not in vars(cls):
            cls.sees_edges = True

    def notes_shape(self, agents: int, arms: int, byzantine: int) -> tuple[int, int]:
        """How large a table the attack needs to take notes."""
        return 1, 1

    def loop(self) -> Any:
        """The compiled loop over all lies of a round."""
        kind = type(self)
        return _loop(kind.prepare, kind.meet, kind.lie)

    @staticmethod
    @compiled
    def prepare(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
        """Nothing to draw for the run."""

    @staticmethod
    @compiled
    def meet(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
        """Nothing to draw for the round."""


@compiled
def pick_normal_agent(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
    """A `meet` for attacks that copy: note the one normal agent whom all lies of this round copy."""
    notes[0, 0] = world.byzantine + below(rng, world.pulls.shape[0] - world.byzantine)


@cache
def _loop(prepare: Any, meet: Any, lie: Any) -> Any:
    return weave(lie_all, types.void(BoardType), prepare=prepare, meet=meet, lie=lie)


def prepare(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
    """Stands for the attack's own function in the loop below."""
    raise NotImplementedError


def meet(world: World, knobs: Floats, notes: Floats, rng: Words) -> None:
    """Stands for the attack's own function in the loop below."""
    raise NotImplementedError


def lie(world: World, sender: int, receiver: int, knobs: Floats, notes: Floats, rng: Words, report: Report) -> None:
    """Stands for the attack's own function in the loop below."""
    raise NotImplementedError


@compiled
def open_world(board: Any) -> World:
    """What the attack sees: the world at the time of sending."""
    agents, arms = board.agents, board.arms
    room = board.history * agents + board.lie_room
    told = Report(table(board.told_pulls, room, arms), table(board.told_means, room, arms), ())
    first = first_row(board, board.sent)
    truths = floats(board.truths, arms)
    best = 0
    for arm in range(arms):
        if truths[arm] > truths[best]:
            best = arm
    return World(
        board.sent,
        told.pulls[first : first + agents],
        told.means[first : first + agents],
        integers(board.last, board.history * agents)[first : first + agents],
        truths,
        best,
        board.byzantine,
        board.f,
        floats(board.kappas, agents),
        board.consistency == 1,
        integers(board.fresh_starts, agents + 1),
        integers(board.fresh, board.edge_room),
        integers(board.heard_starts, agents + 1),
        integers(board.heard, board.heard_room),
        integers(board.heard_rows, board.heard_room),
        told,
        board.dense == 1,
        room_of(board),
    )


@compiled
def tell(
    pulls: Floats, means: Floats, told_pulls: Floats, told_means: Floats, own_pulls: Floats, kappa: float, step_a: bool
) -> np.uint64:
    """Put a lie in its row; a word with the bits of those arms on which it differs in a way that matters."""
    news = np.uint64(0)
    for arm in range(np.uint64(pulls.size)):  # no sign, no test for negative indices
        count, mean = pulls[arm], means[arm]
        if not (count > 0.0 and -math.inf < mean < math.inf):
            count, mean = 0.0, 0.0  # no number at all is silence
        if step_a:  # of a count it only matters whether it passes
            own = own_pulls[arm]
            differs = (kappa * count >= own) != (kappa * told_pulls[arm] >= own)
        else:
            differs = count != told_pulls[arm]
        differs |= mean != told_means[arm]
        told_pulls[arm], told_means[arm] = count, mean
        news |= np.uint64(differs) << (arm & np.uint64(63))
    return news


def lie_all(board: Any) -> None:
    """Every Byzantine agent tells each agent that hears it now what the attack wants it to hear."""
    world = open_world(board)
    agents, arms, sent, byzantine = board.agents, board.arms, board.sent, board.byzantine
    knobs = floats(board.attack_knobs, board.attack_knobs_size)
    notes = table(board.attack_notes, board.notes_rows, board.notes_columns)
    news = words(board.news, board.history * agents + board.lie_room)
    heard_at = integers(board.heard_at, board.heard_room)
    pulls = floats(board.lie_pulls, arms)
    means = floats(board.lie_means, arms)
    rng = words(board.rng, 1)
    key = fold(board.attack_key, sent)
    if board.begun == 0:
        rng[0] = board.attack_key
        prepare(world, knobs, notes, rng)
    rng[0] = key
    meet(world, knobs, notes, rng)
    for receiver in range(agents):
        for entry in range(world.heard_starts[receiver], world.heard_starts[receiver + 1]):
            sender = world.heard[entry]
            if sender >= byzantine:
                break  # senders ascend
            if board.memory > 0 and heard_at[entry] != sent:
                continue  # a remembered lie stays as it was sent
            row = world.heard_rows[entry]
            rng[0] = fold(key, 1 + sender * agents + receiver)
            lie(world, sender, receiver, knobs, notes, rng, Report(pulls, means, ()))
            news[row] = tell(
                pulls,
                means,
                world.told.pulls[row],
                world.told.means[row],
                world.pulls[receiver],
                world.kappas[receiver],
                board.stale_when == CONSISTENT_MEANS,
            )
