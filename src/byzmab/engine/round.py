"""The round: move, draw, deliver, tell, lie, believe, choose, pull, record; stopped and resumed at any round.

Graph, attack, filter, policy, rewards and drift come in as function pointers, each called once per round: the copies of
`draw_all`, `lie_all`, `believe_all`, `choose_all`, `pull_all` and `move_all` that `specialize` made with their own
functions. So does how reports are told: few experiments need more than the shortest, and what is not needed is not
compiled.
"""

from functools import cache
from typing import Any

from numba import types

from byzmab.core.compiler import compiled_as, compiled_noinline, specialize
from byzmab.core.forgetting import ALL
from byzmab.engine.deliver import EDGES, ENOUGH, FAULT, deliver, keep_history
from byzmab.engine.dense import tell_and_order
from byzmab.engine.pull import record
from byzmab.engine.state import State, StateType
from byzmab.engine.tell import tell_all, tell_tallies

LOOP = types.FunctionType(types.void(StateType))
DRAWING_LOOP = types.FunctionType(types.boolean(StateType))


@compiled_noinline
def exchange(state: State, draw: Any, tell: Any, lie: Any) -> int:
    """Draw the graph, deliver, tell what is due and lie; return ENOUGH, FAULT, or the array that must grow first."""
    state.sent = state.time - state.delay
    if state.sent < 0:
        return ENOUGH
    if (state.begun == 0 or state.time_varying == 1) and not draw(state):
        return EDGES
    if state.fault != 0:
        return FAULT
    shortage = deliver(state)
    if shortage != ENOUGH:
        return shortage
    tell(state)
    if state.byzantine > 0:
        lie(state)
    state.begun = 1
    return ENOUGH


@cache
def telling(keeps: bool, dense: bool) -> Any:
    """The loop that tells reports: what is due of them where they are kept, and in order where that is shared."""
    tell, loop = tell_all if keeps else tell_tallies, types.void(StateType)
    return specialize(tell_and_order, loop, tell=compiled_noinline(tell)) if dense else compiled_as(loop)(tell)


ADVANCE = types.int64(StateType, types.int64, DRAWING_LOOP, LOOP, LOOP, LOOP, LOOP, LOOP, LOOP)


@compiled_as(ADVANCE)
def advance(
    state: State, until: int, draw: Any, tell: Any, lie: Any, believe: Any, choose: Any, pull: Any, move: Any
) -> int:
    """Advance to round `until`; return ENOUGH, FAULT, or the array to grow before calling again."""
    while state.time < until:
        if state.moves == 1 and state.moved <= state.time:
            move(state)
        if state.forgets == ALL:
            state.clock = state.time
        if state.history > 1:
            keep_history(state)
        if state.epoch == 1 or state.time % state.epoch == 0:
            if state.hears == 1:
                shortage = exchange(state, draw, tell, lie)
                if shortage != ENOUGH:
                    return shortage
            believe(state)
            choose(state)
        pull(state)
        if state.fault != 0:
            return FAULT
        state.time += 1
        record(state)
    return ENOUGH
