"""The round with contexts: see, draw, deliver, tell, lie, believe, choose, pull, record; stopped at any round.

Graph, attack, filter or algorithm, policy and rewards come in as function pointers, each called once per round.
"""

from functools import cache
from typing import Any

from numba import types

from byzmab.contexts.pull import record_at
from byzmab.contexts.see import see_all
from byzmab.contexts.tell import keep_statistics, tell_statistics
from byzmab.core.compiler import compiled_as
from byzmab.engine.deliver import ENOUGH, FAULT
from byzmab.engine.round import DRAWING_LOOP, LOOP, exchange, telling
from byzmab.engine.state import State, StateType


@cache
def telling_at(keeps: bool) -> Any:
    """The loop that tells reports: what is due of them where they are kept."""
    return compiled_as(types.void(StateType))(tell_statistics) if keeps else telling(False, False)


@compiled_as(types.int64(StateType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP, LOOP, LOOP))
def advance_contexts(
    state: State, until: int, draw: Any, tell: Any, lie: Any, believe: Any, choose: Any, pull: Any
) -> int:
    """Advance to round `until`; return ENOUGH, FAULT, or the array to grow before calling again."""
    while state.time < until:
        if state.seen <= state.time:  # once a round, however often an array must grow in it
            see_all(state, state.arms + state.time)
            if state.history > 1:
                keep_statistics(state)
            state.seen = state.time + 1
        if state.hears == 1:
            shortage: int = exchange(state, draw, tell, lie)
            if shortage != ENOUGH:
                return shortage
        believe(state)
        choose(state)
        pull(state)
        if state.fault != 0:
            return FAULT
        state.time += 1
        record_at(state)
    return ENOUGH
