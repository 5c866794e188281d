"""One agent believes: the loop over its arms that a live agent and the simulator share.

`believe` below is the paper's filter; `specialize` puts the chosen filter's own function in its place.
"""

from typing import NamedTuple

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.differences import own_variance, worth_of
from byzmab.core.filters.trimmed import believe  # `specialize` puts the filter's own in its place
from byzmab.core.report import LEAST_PULLS, Belief, Floats, Heard, Words

ALL_ARMS = np.uint64(2**64 - 1)  # all bits of a word: bit k % 64 stands for arm k


class Own(NamedTuple):
    """The agent's own tallies."""

    pulls: Floats  # arms: n_i
    means: Floats  # arms: x̄_i


class Inbox(NamedTuple):
    """The reports that the agent hears, as rows of a table of reports."""

    pulls: Floats  # rows × arms: n_j as told
    means: Floats  # rows × arms: x̄_j as told
    rows: Words  # the agent hears rows[first:end]
    first: np.uint64
    end: np.uint64
    senders: Words  # whose they are
    differences: Floats  # τ² of each sender; empty where neighbours are taken for alike


class Reading(NamedTuple):
    """Settings by which the filter reads the reports."""

    consistency: bool  # whether the filter has step A
    f: int
    kappa: float
    time: int
    expected: int  # the number of neighbours that should tell something


@compiled
def take_consistent(
    inbox: Inbox,
    arm: int,
    own: float,  # n_i
    reading: Reading,
    work: tuple[Floats, Floats],
) -> tuple[np.uint64, int]:
    """Copy the reports that pass step A into `work`; return how many, and how many tell anything at all."""
    pulls, means = work
    # step A, κ n_j ≥ n_i, or without it just n_j > 0: a report of zero pulls is silence
    factor, least = (reading.kappa, own) if reading.consistency else (1.0, LEAST_PULLS)
    count, telling = np.uint64(0), 0
    for entry in range(inbox.first, inbox.end):
        row = inbox.rows[entry]
        pulls[count] = inbox.pulls[row, arm]
        means[count] = inbox.means[row, arm]
        count += np.uint64(factor * inbox.pulls[row, arm] >= least)
        telling += inbox.pulls[row, arm] > 0.0
    return count, telling


@compiled
def take_alike(inbox: Inbox, arm: int, own: Own, work: tuple[Floats, Floats]) -> tuple[np.uint64, int]:
    """Copy what reports are worth; return how many there are, and how many tell anything at all.

    A neighbour unlike oneself is one of them, with next to no pulls and one's own mean: it moves nothing.
    """
    pulls, means = work
    count, telling = np.uint64(0), 0
    own_pulls, variance = own.pulls[arm], own_variance(own.pulls[arm], own.means[arm])
    for entry in range(inbox.first, inbox.end):
        row = inbox.rows[entry]
        told = inbox.pulls[row, arm]
        worth = worth_of(told, own_pulls, inbox.differences[inbox.senders[entry]], variance)
        pulls[count] = max(worth, LEAST_PULLS)
        means[count] = inbox.means[row, arm] if worth > 0.0 else own.means[arm]
        count += np.uint64(told > 0.0)
        telling += told > 0.0
    return count, telling


@compiled
def is_sound(estimate: float, weight: float, doubt: float) -> bool:
    """Whether a belief is numbers, with a positive weight."""
    return bool(weight > 0.0 and abs(estimate + doubt) < np.inf)


def believe_agent(
    own: Own,
    inbox: Inbox,
    dirty: np.uint64,  # bit k % 64: whether to believe anew of arm k
    span: tuple[int, int],  # the arms to look at: from one to before another
    reading: Reading,
    params: Floats,  # the filter's
    work: tuple[Floats, Floats],  # two arrays, as long as the inbox
    belief: Belief,  # filled in
) -> bool:
    """Believe anew of every dirty arm; return whether these beliefs are numbers with positive weights."""
    sound = True
    pulls, means = work
    for arm in range(
        np.uint64(span[0]), np.uint64(span[1])
    ):  # unsigned, like rows: numba then leaves out the test for below 0
        if not (dirty >> (arm & np.uint64(63))) & np.uint64(1):
            continue
        own_pulls, own_mean = own.pulls[arm], own.means[arm]
        if inbox.differences.size > 0:
            count, telling = take_alike(inbox, arm, own, work)
        else:
            count, telling = take_consistent(inbox, arm, own_pulls, reading, work)
        silent, f, kappa, time = max(0, reading.expected - telling), reading.f, reading.kappa, reading.time
        heard = Heard(pulls[:count], means[:count], own_pulls, own_mean, f, kappa, time, silent, params, None)
        estimate, weight, doubt = believe(heard)
        belief.estimates[arm], belief.weights[arm], belief.doubts[arm] = estimate, weight, doubt
        sound &= is_sound(estimate, weight, doubt)
    return sound
