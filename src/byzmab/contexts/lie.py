"""Lie: what Byzantine agents tell each agent that hears them, where rewards depend on contexts."""

from functools import cache
from typing import Any

from numba import types

from byzmab.attacks.base import Attack
from byzmab.attacks.constant import lie_at  # `specialize` puts the attack's own in its place
from byzmab.attacks.contexts.world import ContextWorld
from byzmab.contexts.tell import copy_if_new, take_statistics
from byzmab.core.compiler import compiled, compiled_borrowing_noinline, specialize
from byzmab.core.contexts.statistics import hear, hear_as
from byzmab.core.draws import fold
from byzmab.core.mistakes import check_functions
from byzmab.core.report import Floats
from byzmab.engine.state import State, StateType, first_row
from byzmab.engine.tell import NOT_KEPT
from byzmab.engine.typed import unsigned

start_round_at = Attack.start_round_at  # and here


@compiled
def context_world(state: State) -> ContextWorld:
    """What the attack sees: statistics of the time of sending, and what everyone sees now."""
    agents = state.agents
    first = first_row(state, state.sent)
    sent = state.told_statistics
    return ContextWorld(
        state.sent,
        sent[first : first + agents],
        state.contexts,
        state.context_means,
        state.context_totals,
        state.parameters,
        state.constant,
        state.byzantine,
        state.ridge,
    )


@compiled_borrowing_noinline
def hear_lie(world: ContextWorld, sender: int, receiver: int, arm: int, before: Floats, report: Floats) -> None:
    """`hear` a lie; if its G is that of the last lie, of the receiver or of the Byzantine agent, invert nothing."""
    statistics, d = world.statistics, world.contexts.shape[1]
    known = (
        hear_as(report, before, d)
        or hear_as(report, statistics[receiver, arm], d)
        or hear_as(report, statistics[sender, arm], d)
    )
    if not known:
        hear(report, d, world.ridge)


def lie_all_at(state: State) -> None:
    """Let every Byzantine agent tell each agent that hears it now what the attack wants it to hear."""
    world = context_world(state)
    agents, arms, sent = state.agents, state.arms, state.sent
    params = state.attack_params
    scratch = state.attack_scratch
    told, versions = (
        state.told_statistics,
        state.told_versions,
    )
    starts, senders = state.inbox_starts, state.inbox_senders
    times, inbox_rows = state.inbox_times, unsigned(state.inbox_rows)
    report, rng = state.lie_statistics, state.rng
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
