"""Believe where little is told: the reports on an arm are digested when one of them changes, and believed from then on.

Some filters look at the means alone, and at whether a report passes step A. Such a filter makes the same of the others'
reports until a new one arrives, or the receiver's own pulls leave one behind. What it makes of them is kept. So a round
in which nothing is received costs no look at any report.
"""

import math

import numpy as np

from byzmab.core.believe import is_sound
from byzmab.core.compiler import compiled
from byzmab.core.filters.trimmed import average as believe_digest  # `specialize` puts the filter's own in its place
from byzmab.core.filters.trimmed import digest  # and here
from byzmab.core.report import Floats, Heard, Words
from byzmab.engine.audit import believes_anyone, expelled_by, f_of_agent
from byzmab.engine.dirty import NO_BITS, WORD, bit_of
from byzmab.engine.state import BAD_BELIEF, State, first_row
from byzmab.engine.typed import unsigned


@compiled
def gather_consistent(
    own: float, kappa: float, told_pulls: Floats, told_means: Floats, rows: Words, arm: int, work: tuple[Floats, Floats]
) -> tuple[int, float]:
    """Gather the reports that pass step A; return how many, and up to how many own pulls they all do."""
    pulls, means = work
    count, limit = 0, math.inf
    for row in rows:
        passes = kappa * told_pulls[row, arm] >= own
        pulls[count], means[count] = told_pulls[row, arm], told_means[row, arm]
        limit = min(limit, kappa * told_pulls[row, arm] if passes else math.inf)
        count += passes
    return count, limit


def believe_all_digested(state: State) -> None:
    """Let every agent believe anew of every arm that it pulled or was told of, from its digest if that still holds."""
    agents, arms = state.agents, state.arms
    own_pulls, own_means = state.pulls, state.means
    told_pulls, told_means = state.told_pulls, state.told_means
    dirty_rows, last = state.dirty, state.last
    starts, inbox_rows = unsigned(state.inbox_starts), unsigned(state.inbox_rows)
    kappas, params = state.kappas, state.filter_params
    work = state.work_pulls, state.work_means
    limits, totals = state.digest_limits, state.digest_totals
    sizes = state.digest_sizes
    estimates, weights = state.estimates, state.weights
    doubts = state.doubts
    now = first_row(state, state.time)
    for agent in range(np.uint64(agents)):  # unsigned: numba then leaves out the test for below 0
        expelled, kappa = expelled_by(state, agent), kappas[agent]
        first, f = starts[agent], f_of_agent(state, agent, expelled)
        end = starts[agent + np.uint64(1)] if believes_anyone(state, agent, expelled) else first
        pulled = last[now + agent]
        for word in range(state.dirty_words):
            told = NO_BITS
            # an expulsion may end all trust, so reports that are ignored are looked at, too
            for entry in range(first, starts[agent + np.uint64(1)] if state.told_now > 0 else first):
                told |= dirty_rows[inbox_rows[entry], word]
            dirty = told | dirty_rows[agent, word]
            if dirty == NO_BITS:
                continue
            alone = told == NO_BITS and pulled >= 0  # only the arm that the agent pulled can be dirty
            low, high = (pulled, pulled + 1) if alone else (WORD * word, min(arms, WORD * (word + 1)))
            for arm in range(np.uint64(low), np.uint64(high)):
                if not dirty & bit_of(arm):
                    continue
                own, mean = own_pulls[agent, arm], own_means[agent, arm]
                if told & bit_of(arm) or own > limits[agent, arm]:
                    count, limit = gather_consistent(
                        own, kappa, told_pulls, told_means, inbox_rows[first:end], arm, work
                    )
                    heard = Heard(work[0][:count], work[1][:count], own, mean, f, kappa, state.time, 0, params, None)
                    totals[agent, arm], sizes[agent, arm] = digest(heard)
                    limits[agent, arm] = limit
                heard = Heard(work[0][:0], work[1][:0], own, mean, f, kappa, state.time, 0, params, None)
                size = sizes[agent, arm]
                estimate, weight, doubt = believe_digest(heard, totals[agent, arm], size)
                estimates[agent, arm], weights[agent, arm], doubts[agent, arm] = estimate, weight, doubt
                if not is_sound(estimate, weight, doubt):
                    state.fault = BAD_BELIEF
