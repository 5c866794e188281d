"""Lie: what Byzantine agents tell each agent that hears them."""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import types

from byzmab.attacks.adaptive import start_round_dense  # `specialize` puts the attack's own in its place
from byzmab.attacks.base import Attack, World
from byzmab.attacks.base import pick_normal_agent as start_round  # and here
from byzmab.attacks.constant import lie  # and here
from byzmab.core.compiler import compiled, specialize
from byzmab.core.draws import fold
from byzmab.core.filters.base import CAPPED_COUNTS, CONSISTENT_MEANS, Filter
from byzmab.core.mistakes import check_functions
from byzmab.core.policies.base import Policy
from byzmab.core.report import Floats, Report, Words
from byzmab.core.tell import NO_GROWTH
from byzmab.engine.audit import Past, audit, audit_growth, audit_word, be_careful, edge_of, past_of
from byzmab.engine.dense import shared_order_of
from byzmab.engine.dirty import ALL_BITS, NO_BITS, WORD, fill
from byzmab.engine.state import State, StateType, first_row
from byzmab.engine.tell import NOT_KEPT, kept_row, take

start_run = Attack.start_run  # and here


@compiled
def world_of(state: State) -> World:
    """What the attack sees: the world at the time of sending."""
    agents, arms = state.agents, state.arms
    told = Report(state.told_pulls, state.told_means, ())
    first = first_row(state, state.sent)
    true_means = state.true_means
    best = 0
    for arm in range(arms):
        if true_means[arm] > true_means[best]:
            best = arm
    return World(
        state.sent,
        told.pulls[first : first + agents],
        told.means[first : first + agents],
        state.last[first : first + agents],
        true_means,
        best,
        state.own_means,
        state.bests,
        state.byzantine,
        state.f,
        state.may_hear,
        state.kappas,
        state.consistency == 1,
        state.in_edge_starts,
        state.in_edges,
        state.inbox_starts,
        state.inbox_senders,
        state.inbox_rows,
        told,
        state.filter_params,
        state.policy_params,
        state.agent_spread,
        state.differences,
        state.neighbour_differences,
        state.careful == 1,
        state.past_pulls,
        state.past_totals,
    )


def begin_round(state: State, world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """Let the attack draw what all lies of a round share."""
    start_round(world, params, scratch, rng)


def begin_round_dense(state: State, world: World, params: Floats, scratch: Floats, rng: Words) -> None:
    """`begin_round` where reports are ordered once for all."""
    start_round_dense(world, shared_order_of(state), params, scratch, rng)


@compiled
def repeats(report: Report, told: Report, word: int) -> bool:
    """Return whether a lie is what was told before on the arms of a word."""
    differs = False
    for arm in range(np.uint64(WORD * word), np.uint64(min(report.pulls.size, WORD * (word + 1)))):
        differs |= (report.pulls[arm] != told.pulls[arm]) | (report.means[arm] != told.means[arm])
    return not differs


@compiled
def tell(
    report: Report, told: Report, own_pulls: Floats, kappa: float, depends_on: int, word: int
) -> tuple[np.uint64, np.uint64]:
    """Put a lie in its row on the arms of a word; return the bits of those that changed, and of those that matter."""
    first, end = WORD * word, min(report.pulls.size, WORD * (word + 1))
    changed, dirty = NO_BITS, NO_BITS
    for arm in range(np.uint64(first), np.uint64(end)):  # no sign, no test for negative indices
        count, mean = report.pulls[arm], report.means[arm]
        if not (count > 0.0 and -math.inf < mean < math.inf):
            count, mean = 0.0, 0.0  # no number at all is silence
        own, before = own_pulls[arm], told.pulls[arm]
        if depends_on == CONSISTENT_MEANS:  # of a count it only matters whether it passes step A
            differs = (kappa * count >= own) != (kappa * before >= own)
        elif depends_on == CAPPED_COUNTS:
            differs = min(count, own) != min(before, own)
        else:
            differs = count != before
        moved = mean != told.means[arm]
        changed |= np.uint64((count != before) | moved) << (arm & np.uint64(63))
        dirty |= np.uint64(differs | moved) << (arm & np.uint64(63))
        told.pulls[arm], told.means[arm] = count, mean
    return changed, dirty


@compiled
def be_silent(told_pulls: Floats, dirty: Words, bits: np.uint64) -> None:
    """Let a row tell nothing; `bits` say whether that is a change."""
    for arm in range(told_pulls.size):
        told_pulls[arm] = 0.0
    fill(dirty, bits)


@compiled
def keeps_rows(state: State) -> bool:
    """Return whether lies stand where they stood in the round before, so that one that is repeated needs no work."""
    return state.stable_inbox == 1 and state.kept == NOT_KEPT and state.begun == 1


@compiled
def is_silenced(state: State, past: Past, edge: int, row: int, told_pulls: Floats) -> bool:
    """Whether a Byzantine agent was expelled by a receiver, and if so let it tell nothing."""
    if state.audits == 0 or past.expelled[edge] == 0:
        return False
    if not keeps_rows(state) or state.dirty[row, 0] != NO_BITS:  # else it tells nothing already
        be_silent(told_pulls, state.dirty[row], NO_BITS)
    if state.kept == NOT_KEPT:  # it was counted among those heard
        state.messages -= 1
        state.arms_told -= state.arms
    return True


@compiled
def tell_and_audit(state: State, world: World, past: Past, receiver: int, row: int, edge: int, report: Report) -> bool:
    """Put a lie in its row and mark what changed; return whether it passes the audit, where there is one.

    What was told before has passed: so a lie that is repeated needs no more than a comparison.
    """
    told, dirty = Report(world.told.pulls[row], world.told.means[row], ()), state.dirty[row]
    own_pulls, kappa = world.pulls[receiver], world.kappas[receiver]
    compares, comparable, passes, grown = state.audits + state.careful > 0, keeps_rows(state), True, 0.0
    for word in range(state.dirty_words):
        if comparable and repeats(report, told, word):
            dirty[word] = NO_BITS
            continue
        changed, dirty[word] = tell(report, told, own_pulls, kappa, state.depends_on, word)
        if compares and passes:
            changed = changed if comparable else ALL_BITS
            more = audit_word(past, edge, told.pulls, told.means, state.expects == 1, changed, word)
            passes, grown = more >= 0.0, grown + more
    if compares and passes:
        passes = audit_growth(past, edge, grown, state.arms, state.sent, True)
    return passes


@compiled
def deliver(state: State, world: World, past: Past, sender: int, receiver: int, row: int, report: Report) -> None:
    """Send a lie, made nearest to what passes where Byzantine agents are careful; audit it where that is asked for."""
    told, edge = Report(world.told.pulls[row], world.told.means[row], ()), edge_of(state, sender, receiver)
    dirty, expected, compares = state.dirty[row], state.expects == 1, state.audits + state.careful > 0
    if state.careful == 1:
        be_careful(past, edge, report, expected, state.sent)
    if state.kept != NOT_KEPT:
        hearers = state.out_degrees[sender] if state.common_lies == 1 else 1
        take(state, row, report.pulls, report.means, 0, state.arms, hearers)
        whole = state.growth == NO_GROWTH and dirty[0] == ALL_BITS
        passes = not compares or audit(past, edge, told.pulls, told.means, expected, state.sent, whole)
    else:
        passes = tell_and_audit(state, world, past, receiver, row, edge, report)
    if not passes:
        past.expelled[edge] = 1
        be_silent(told.pulls, dirty, ALL_BITS)  # with f, beliefs of all arms change


def lie_all(state: State) -> None:
    """Let every Byzantine agent tell each agent that hears it now what the attack wants it to hear."""
    world = world_of(state)
    agents, sent, byzantine = state.agents, state.sent, state.byzantine
    params = state.attack_params
    scratch = state.attack_scratch
    times = state.inbox_times
    report = Report(state.lie_pulls, state.lie_means, ())
    rng = state.rng
    key = fold(state.attack_key, sent)
    if state.begun == 0:
        rng[0] = state.attack_key
        start_run(world, params, scratch, rng)
    rng[0] = key
    begin_round(state, world, params, scratch, rng)
    past, common = past_of(state), state.common_lies == 1
    for receiver in range(1 if common else agents):  # a common lie does not look at its receiver
        first, end = (0, byzantine) if common else (world.inbox_starts[receiver], world.inbox_starts[receiver + 1])
        for entry in range(first, end):
            sender = entry if common else world.inbox_senders[entry]
            if sender >= byzantine:
                break  # senders ascend
            if state.memory > 0 and times[entry] != sent:
                continue  # a remembered lie stays as it was sent
            row = kept_row(state, receiver, sender) if common else world.inbox_rows[entry]
            if is_silenced(state, past, edge_of(state, sender, receiver), row, world.told.pulls[row]):
                continue
            rng[0] = fold(key, 1 + sender * agents + receiver)
            lie(world, sender, receiver, params, scratch, rng, report)
            deliver(state, world, past, sender, receiver, row, report)


def lying(attack: Attack, filter: Filter, policy: Policy, dense: bool) -> Any:
    """`lie_all` with an attack's own functions in it, for receivers with a filter and a policy.

    Raises BadInput where one of the functions has a mistake.
    """
    check_functions(attack.kind, attack.functions())
    kind = type(attack)
    lie = kind.lie_against(filter.played("believe"), type(policy).choose)
    if dense and kind.start_round_dense is not None:
        return _lying_dense(kind.start_run, kind.start_round_dense, lie)
    return _lying(kind.start_run, kind.start_round, lie)


@cache
def _lying(start_run: Any, start_round: Any, lie: Any) -> Any:
    begin = specialize(begin_round, start_round=start_round)
    return specialize(lie_all, types.void(StateType), start_run=start_run, begin_round=begin, lie=lie)


@cache
def _lying_dense(start_run: Any, start_round_dense: Any, lie: Any) -> Any:
    begin = specialize(begin_round_dense, start_round_dense=start_round_dense)
    return specialize(lie_all, types.void(StateType), start_run=start_run, begin_round=begin, lie=lie)
