"""The round of an algorithm, which decides from what it heard and tells something else than its tally.

It is compiled where it is imported, so only those who play an algorithm import it.
"""

from typing import Any

from byzmab.core.compiler import compiled_as
from byzmab.engine.choose import check_choices
from byzmab.engine.deliver import ENOUGH, FAULT
from byzmab.engine.pull import record
from byzmab.engine.round import ADVANCE, exchange
from byzmab.engine.state import State


@compiled_as(ADVANCE)
def advance_baseline(
    state: State, until: int, draw: Any, tell: Any, lie: Any, decide: Any, update: Any, pull: Any, move: Any
) -> int:
    """Advance to round `until`; return ENOUGH, FAULT, or the array to grow before calling again."""
    while state.time < until:
        if state.moves == 1 and state.moved <= state.time:
            move(state)
        if state.talks == 1:
            shortage = exchange(state, draw, tell, lie)
            if shortage != ENOUGH:
                return shortage
        decide(state)
        check_choices(state)
        pull(state)
        if state.fault != 0:
            return FAULT
        update(state)
        state.time += 1
        record(state)
    return ENOUGH
