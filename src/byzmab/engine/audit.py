"""Audit: who tells what cannot follow what it told before is heard no more, by whom it was told so.

Besides the rule of core/audit.py, which goes arm by arm, counts are added up over arms: an agent pulls one arm a round.
So its counts sum up to at most M + t, and those that were told last at one time have grown together by at most the
rounds since then. Nodes cannot audit that: they have no rounds in common. Careful liars of a testbed keep to it all the
same, by their own rounds.

Where links are reliable an audit expels whoever leaves out an arm, too. Only lies are audited, as honest tallies pass
by themselves. An expelled liar is one of the f, and the filter goes on with f − 1 for the rest, as a node does that
holds proof of a lie. A *careful* liar tells what is nearest to its lie and passes.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.audit import ROUNDING, follows, nearest
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.liars import are_enough, f_left
from byzmab.core.report import Floats, Integers, Report
from byzmab.engine.state import State

ALL_TOLD = np.uint64(2**64 - 1)  # bit k % 64: whether arm k was told just now


class Past(NamedTuple):
    """What liars told before, a row for each liar and receiver: see `edge_of`."""

    pulls: Floats
    totals: Floats
    times: Integers  # when
    expelled: Integers


@compiled
def past_of(state: State) -> Past:
    """The past of a state; of no use where nothing is audited and nobody careful."""
    return Past(state.past_pulls, state.past_totals, state.past_times, state.expelled)


@compiled
def edge_of(state: State, sender: int, receiver: int) -> int:
    """The row of a liar and a receiver; the same for all receivers where they are told the same."""
    return int(sender * state.agents + (0 if state.common_lies == 1 else receiver))


@compiled
def latest_of(past: Past, edge: int) -> int:
    """The time at which anything was told last on an edge; −1 if nothing ever was."""
    latest = -1
    for arm in range(past.times.shape[1]):
        if past.pulls[edge, arm] > 0.0:
            latest = max(latest, past.times[edge, arm])
    return latest


@compiled
def grown_since(past: Past, edge: int, latest: int, pulls: Floats, told: np.uint64) -> tuple[float, float, float]:
    """By how much the counts grow on arms that were told last at the latest time, and on the others; their sum before.

    Arms that are silent, or not told now, do not grow.
    """
    recent, others, before = 0.0, 0.0, 0.0
    for arm in range(pulls.size):
        known = past.pulls[edge, arm]
        before += known
        if pulls[arm] > 0.0 and (told >> np.uint64(arm & 63)) & np.uint64(1):
            if known > 0.0 and past.times[edge, arm] == latest:
                recent += pulls[arm] - known
            else:
                others += pulls[arm] - known
    return recent, others, before


@compiled
def be_careful(past: Past, edge: int, lie: Report, expected: bool, time: int) -> None:
    """Change a lie so that it can follow what was told before, and is not silent where something is expected."""
    pulls, means = lie.pulls, lie.means
    for arm in range(pulls.size):
        pulls[arm], means[arm] = nearest(
            pulls[arm], means[arm], past.pulls[edge, arm], past.totals[edge, arm], expected
        )
    latest = latest_of(past, edge)
    recent, others, before = grown_since(past, edge, latest, pulls, ALL_TOLD)
    room, room_in_all = float(time - latest), pulls.size + time - before
    if recent > room or recent + others > room_in_all:
        grow_less(past, edge, lie, latest, room, room_in_all, expected)


@compiled_noinline
def grow_less(past: Past, edge: int, lie: Report, latest: int, room: float, room_in_all: float, expected: bool) -> None:
    """Let counts grow by whole pulls, and by no more than there is room for: those told last, and all of them.

    Pull by pull, the arm grows that lacks most of what the liar wants to claim.
    """
    pulls, means = lie.pulls, lie.means
    wanted = pulls.copy()
    for arm in range(pulls.size):
        known = past.pulls[edge, arm]
        pulls[arm] = known if known > 0.0 or room_in_all < 1.0 else min(wanted[arm], 1.0)  # a pull of every arm first
        room_in_all -= pulls[arm] - known
        pulls[arm] = pulls[arm] if wanted[arm] > 0.0 else 0.0
    while room_in_all >= 1.0:
        most, lacking = -1, 0.0
        for arm in range(pulls.size):
            is_recent = past.pulls[edge, arm] > 0.0 and past.times[edge, arm] == latest
            if wanted[arm] - pulls[arm] > lacking and (room >= 1.0 or not is_recent):
                most, lacking = arm, wanted[arm] - pulls[arm]
        if most < 0:
            break
        step = min(lacking, 1.0)
        pulls[most] += step
        room_in_all -= step
        if past.pulls[edge, most] > 0.0 and past.times[edge, most] == latest:
            room -= step
    for arm in range(pulls.size):
        pulls[arm], means[arm] = nearest(
            pulls[arm], means[arm], past.pulls[edge, arm], past.totals[edge, arm], expected
        )


@compiled
def audit(past: Past, edge: int, pulls: Floats, means: Floats, told: np.uint64, expected: bool, time: int) -> bool:
    """Whether a report, sent at a time, can follow the one before, and if so write it down.

    Silence on an arm can, unless something is expected. `told` says which arms were told just now: the others are as
    they were.
    """
    for arm in range(pulls.size):
        if pulls[arm] > 0.0:
            if not follows(pulls[arm], pulls[arm] * means[arm], past.pulls[edge, arm], past.totals[edge, arm]):
                return False
        elif expected:
            return False
    latest = latest_of(past, edge)
    recent, others, before = grown_since(past, edge, latest, pulls, told)
    slack = ROUNDING * (before + recent + others)
    if recent > time - latest + slack or before + recent + others > pulls.size + time + slack:
        return False
    for arm in range(pulls.size):
        if pulls[arm] > 0.0 and (told >> np.uint64(arm & 63)) & np.uint64(1):
            past.pulls[edge, arm], past.totals[edge, arm] = pulls[arm], pulls[arm] * means[arm]
            past.times[edge, arm] = time
    return True


@compiled
def expelled_by(state: State, receiver: int) -> int:
    """Return how many of its neighbours an agent has expelled."""
    if state.audits == 0:
        return 0
    expelled, count = past_of(state).expelled, 0
    if state.common_lies == 0:
        for sender in range(state.byzantine):
            count += expelled[edge_of(state, sender, receiver)]
        return count
    # a common lie is expelled for all receivers at once: count the senders that this receiver hears
    starts = state.inbox_starts
    senders = state.inbox_senders
    for entry in range(starts[receiver], starts[receiver + 1]):
        if senders[entry] >= state.byzantine:
            break  # senders ascend
        count += expelled[edge_of(state, senders[entry], receiver)]
    return count


@compiled
def believes_anyone(state: State, agent: int, expelled: int) -> bool:
    """Return whether an agent uses reports at all: with f = auto it needs enough neighbours."""
    return state.ignores_few == 0 or are_enough(state.f, state.may_hear[agent], expelled)


@compiled
def f_of_agent(state: State, agent: int, expelled: int) -> int:
    """Return the fault budget that an agent has left."""
    return f_left(state.f, state.may_hear[agent], expelled)
