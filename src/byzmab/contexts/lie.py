"""Lie: what Byzantine agents tell each agent that hears them, where rewards depend on contexts."""

from functools import cache
from typing import Any

from numba import types

from byzmab.attacks.base import Attack
from byzmab.attacks.constant import lie_at  # `specialize` puts the attack's own in its place
from byzmab.attacks.contexts.world import ContextWorld
from byzmab.contexts.tell import copy_if_new, take_statistics, told_rows
from byzmab.core.compiler import compiled, compiled_borrowing_noinline, specialize
from byzmab.core.contexts.statistics import hear, hear_as
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Floats
from byzmab.engine.state import StateType, cube, first_row, floats, integers, table, word_table, words
from byzmab.engine.tell import NOT_KEPT

start_round_at = Attack.start_round_at  # and here


@compiled
def context_world(state: Any) -> ContextWorld:
    """What the attack sees: statistics of the time of sending, and what everyone sees now."""
    agents, arms, d = state.agents, state.arms, state.context
    first = first_row(state, state.sent)
    sent = cube(state.told_statistics, state.history * agents, arms, state.row_size)
    return ContextWorld(
        state.sent,
        sent[first : first + agents],
        table(state.contexts, agents, d),
        table(state.context_means, agents, arms),
        table(state.context_totals, agents, d),
        table(state.parameters, arms, d),
        floats(state.constant, d),
        state.byzantine,
        floats(state.ridge, 1)[0],
    )


@compiled_borrowing_noinline
def hear_lie(world: ContextWorld, sender: int, receiver: int, arm: int, before: Floats, report: Floats) -> None:
    """`hear` a lie; where its G is that of the lie before, of the receiver or of the liar, nothing is inverted."""
    statistics, d = world.statistics, world.contexts.shape[1]
    known = (
        hear_as(report, before, d)
        or hear_as(report, statistics[receiver, arm], d)
        or hear_as(report, statistics[sender, arm], d)
    )
    if not known:
        hear(report, d, world.ridge)


def lie_all_at(state: Any) -> None:
    """Let every Byzantine agent tell each agent that hears it now what the attack wants it to hear."""
    world = context_world(state)
    agents, arms, sent, rows = state.agents, state.arms, state.sent, told_rows(state)
    params = floats(state.attack_params, state.attack_params_size)
    scratch = table(state.attack_scratch, state.scratch_rows, state.scratch_columns)
    told, versions = (
        cube(state.told_statistics, rows, arms, state.row_size),
        word_table(state.told_versions, rows, arms),
    )
    starts, senders = integers(state.inbox_starts, agents + 1), integers(state.inbox_senders, state.inbox_capacity)
    times, inbox_rows = integers(state.inbox_times, state.inbox_capacity), words(state.inbox_rows, state.inbox_capacity)
    report, rng = table(state.lie_statistics, arms, state.row_size), words(state.rng, 1)
    rng[0] = key = fold(state.attack_key, sent)
    start_round_at(world, params, scratch, rng)
    for receiver in range(agents):
        for entry in range(starts[receiver], starts[receiver + 1]):
            sender = senders[entry]
            if sender >= state.byzantine:
                break  # senders ascend
            if state.memory > 0 and times[entry] != sent:
                continue  # a remembered lie stays as it was sent
            rng[0] = fold(key, 1 + sender * agents + receiver)
            for arm in range(arms):
                for index in range(state.row_size):
                    report[arm, index] = 0.0  # what is not filled in is silence, not what another was told
            lie_at(world, sender, receiver, params, scratch, rng, report)
            row = inbox_rows[entry]
            for arm in range(arms):
                hear_lie(world, sender, receiver, arm, told[row, arm], report[arm])
            if state.kept != NOT_KEPT:
                take_statistics(state, row, report, 1)
                continue
            for arm in range(arms):
                copy_if_new(state, report[arm], told[row, arm], versions[row], arm)


def lying_at(attack: Attack) -> Any:
    """`lie_all_at` with an attack's own functions in it; BadInput where one has a mistake."""
    check_functions(attack.kind, attack.functions())
    return _lying(type(attack).start_round_at, type(attack).lie_at)


@cache
def _lying(start_round_at: Any, lie_at: Any) -> Any:
    return specialize(lie_all_at, types.void(StateType), start_round_at=start_round_at, lie_at=lie_at)
