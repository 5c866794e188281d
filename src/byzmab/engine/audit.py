"""Audit: an agent whose report cannot follow what it sent before is heard no more by the receiver of that report.

Besides the rule of core/audit.py, which goes arm by arm, counts are added up over arms, as an agent pulls one arm a
round. Between two whole reports they grow together by at most the rounds in between, and sum up to M + t at most. Nodes
cannot audit that, as they have no rounds in common. Careful Byzantine agents of a testbed keep to it by their own
rounds.

Where links are reliable, an agent that leaves out an arm is expelled, too. Only lies are audited, as honest tallies
pass by themselves. An expelled Byzantine agent is one of the f, and the filter goes on with f − 1 for the rest. A node
that holds proof of a lie does so, too. A *careful* Byzantine agent sends what is nearest to its lie and passes.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.audit import ROUNDING, follows, nearest
from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.liars import are_enough, f_left
from byzmab.core.report import Floats, Integers, Report
from byzmab.engine.dirty import ALL_BITS, WORD, bit_of
from byzmab.engine.state import State


class Past(NamedTuple):
    """What Byzantine agents told before, a row for each Byzantine agent and receiver: see `edge_of`."""

    pulls: Floats
    totals: Floats
    used: Floats  # of the M + t pulls that an agent can have made: those of which nothing more can be told
    expelled: Integers


@compiled
def past_of(state: State) -> Past:
    """The past of a state; of no use where nothing is audited and nobody careful."""
    return Past(state.past_pulls, state.past_totals, state.past_used, state.expelled)


@compiled
def edge_of(state: State, sender: int, receiver: int) -> int:
    """Return the row of a Byzantine agent and a receiver, receiver by receiver; where lies are common, one for all."""
    return int((0 if state.common_lies == 1 else receiver * state.byzantine) + sender)


@compiled
def be_careful(past: Past, edge: int, lie: Report, expected: bool, time: int) -> None:
    """Change a lie so that it can follow what was told before, and is not silent where something is expected."""
    grown = 0.0
    for arm in range(lie.pulls.size):
        lie.pulls[arm], lie.means[arm] = nearest(
            lie.pulls[arm], lie.means[arm], past.pulls[edge, arm], past.totals[edge, arm], expected
        )
        grown += max(lie.pulls[arm] - past.pulls[edge, arm], 0.0)
    room = lie.pulls.size + time - past.used[edge]
    if grown > room:
        grow_less(past, edge, lie, room, expected)


@compiled_noinline
def grow_less(past: Past, edge: int, lie: Report, room: float, expected: bool) -> None:
    """Let the counts of a lie grow by whole pulls, and by no more than there is room for.

    Each arm has a first pull. Then, pull by pull, that arm grows that lacks most of what the Byzantine agent wants to
    claim.
    """
    pulls, means = lie.pulls, lie.means
    wanted = pulls.copy()
    for arm in range(pulls.size):
        if wanted[arm] > 0.0:
            pulls[arm] = past.pulls[edge, arm]
            if pulls[arm] == 0.0 and room >= 1.0:
                pulls[arm] = min(wanted[arm], 1.0)
                room -= pulls[arm]
    while room >= 1.0:
        most, lacking = -1, 0.0
        for arm in range(pulls.size):
            if wanted[arm] - pulls[arm] > lacking:
                most, lacking = arm, wanted[arm] - pulls[arm]
        if most < 0:
            break
        pulls[most] += min(lacking, 1.0)
        room -= min(lacking, 1.0)
    for arm in range(pulls.size):
        pulls[arm], means[arm] = nearest(
            pulls[arm], means[arm], past.pulls[edge, arm], past.totals[edge, arm], expected
        )


@compiled
def audit_word(
    past: Past, edge: int, pulls: Floats, means: Floats, expected: bool, changed: np.uint64, word: int
) -> float:
    """Return by how much counts grew on the changed arms of a word, and write the report down there.

    It is −1 where a report, as it was sent, cannot follow the one before. Silence on an arm can, unless something is
    expected.
    """
    grown = 0.0
    for arm in range(WORD * word, min(pulls.size, WORD * (word + 1))):
        if not changed & bit_of(arm):
            continue
        if pulls[arm] > 0.0:
            total = pulls[arm] * means[arm]
            if not follows(pulls[arm], total, past.pulls[edge, arm], past.totals[edge, arm]):
                return -1.0
            grown += pulls[arm] - past.pulls[edge, arm]
            past.pulls[edge, arm], past.totals[edge, arm] = pulls[arm], total
        elif expected:
            return -1.0
    return grown


@compiled
def audit_growth(past: Past, edge: int, grown: float, arms: int, time: int, whole: bool) -> bool:
    """Return whether the rounds allow that counts grew by so much, and write down how many pulls are used up.

    After a whole report these are all that were made so far; of a report on some arms only those that were told.
    """
    made = float(arms + time)
    passes = bool(grown <= made - past.used[edge] + ROUNDING * made)
    past.used[edge] = made if whole else past.used[edge] + grown
    return passes


@compiled
def audit(past: Past, edge: int, pulls: Floats, means: Floats, expected: bool, time: int, whole: bool) -> bool:
    """Return whether a report, as it was sent, can follow the one before; write down what passes."""
    grown = 0.0
    for word in range((pulls.size + WORD - 1) // WORD):
        more = audit_word(past, edge, pulls, means, expected, ALL_BITS, word)
        if more < 0.0:
            return False
        grown += more
    return audit_growth(past, edge, grown, pulls.size, time, whole)


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
