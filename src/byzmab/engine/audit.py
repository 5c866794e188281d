"""Audit: who tells what cannot follow what it told before is heard no more, by whom it was told so.

On graphs that stay as they are that includes whoever leaves out an arm. Only lies are audited, as honest tallies pass
by themselves. An expelled liar is one of the f, and the filter goes on with f − 1 for the rest, as a node does that
holds proof of a lie. A *careful* liar tells what is nearest to its lie and passes.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.audit import follows, nearest
from byzmab.core.compiler import compiled
from byzmab.core.liars import are_enough, f_left
from byzmab.core.report import Floats, Integers, Report
from byzmab.engine.dirty import ALL_BITS, WORD, bit_of
from byzmab.engine.state import State


class Past(NamedTuple):
    """What liars told before, a row for each liar and receiver: see `edge_of`."""

    pulls: Floats
    totals: Floats
    expelled: Integers


@compiled
def past_of(state: State) -> Past:
    """The past of a state; of no use where nothing is audited and nobody careful."""
    return Past(state.past_pulls, state.past_totals, state.expelled)


@compiled
def edge_of(state: State, sender: int, receiver: int) -> int:
    """Return the row of a liar and a receiver, receiver by receiver; one for all receivers where lies are common."""
    return int((0 if state.common_lies == 1 else receiver * state.byzantine) + sender)


@compiled
def be_careful(past: Past, edge: int, lie: Report, expected: bool) -> None:
    """Change a lie so that it can follow what was told before, and is not silent where something is expected."""
    for arm in range(lie.pulls.size):
        lie.pulls[arm], lie.means[arm] = nearest(
            lie.pulls[arm], lie.means[arm], past.pulls[edge, arm], past.totals[edge, arm], expected
        )


@compiled
def audit_word(
    past: Past, edge: int, pulls: Floats, means: Floats, expected: bool, changed: np.uint64, word: int
) -> bool:
    """Return whether a report, as it was sent, can follow the one before on the changed arms of a word; write it down.

    Silence on an arm can, unless something is expected.
    """
    for arm in range(WORD * word, min(pulls.size, WORD * (word + 1))):
        if not changed & bit_of(arm):
            continue
        if pulls[arm] > 0.0:
            total = pulls[arm] * means[arm]
            if not follows(pulls[arm], total, past.pulls[edge, arm], past.totals[edge, arm]):
                return False
            past.pulls[edge, arm], past.totals[edge, arm] = pulls[arm], total
        elif expected:
            return False
    return True


@compiled
def audit(past: Past, edge: int, pulls: Floats, means: Floats, expected: bool) -> bool:
    """Return whether a whole report, as it was sent, can follow the one before; write down what passes."""
    for word in range((pulls.size + WORD - 1) // WORD):
        if not audit_word(past, edge, pulls, means, expected, ALL_BITS, word):
            return False
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
