"""Typed states: shapes declared once, from which allocation, growth and aliasing follow."""

import numpy as np
import pytest

from byzmab import Experiment
from byzmab.core.compiler import compiled
from byzmab.core.report import Floats, Integers
from byzmab.engine.state import State
from byzmab.engine.typed import ANY, Array, TypedState, array, progress, setting, size
from byzmab.simulation.single_run import Run


def shares_first(state):
    return state.copies == 0


class Small(TypedState):
    """A state for these tests."""

    rows: int = size("rows")
    columns: int = size("columns")
    cells: int = size("all cells", of=lambda state: state.rows * state.columns)
    copies: int = setting("1 if `second` has memory of its own")
    total: float = progress("the sum")
    first: Floats = array("rows", "columns", about="a table")
    second: Floats = array("rows", "columns", about="its copy", unless=shares_first, shares="first")
    numbers: Integers = array("cells", about="a number for each cell")
    unused: Floats = array("rows", about="not allocated here", unless=lambda state: state.copies < 2)
    given: Floats = array(ANY, about="parameters")


class Wider(Small):
    """A state with a field more."""

    extra: Floats = array("columns", about="of its own")


@compiled
def add_up(state):
    for row in range(state.rows):
        for column in range(state.columns):
            state.total += state.first[row, column]
            state.numbers[row * state.columns + column] = row
    return state.first.shape


def small(kind=Small):
    state = kind(rows=2, columns=3)
    state.first = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    return state


def test_compiled_loops_read_and_write_what_python_reads():
    state = small()
    assert add_up(state) == (2, 3)
    assert (state.total, state.numbers.tolist()) == (21.0, [0, 0, 0, 1, 1, 1])


def test_a_state_that_grows_keeps_what_is_in_it_and_loops_see_the_new_shape():
    state = small().resize(rows=3, columns=4)
    assert state.first.tolist() == [[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.0], [0.0] * 4]
    assert state.numbers.shape == (12,)
    assert add_up(state) == (3, 4)
    assert state.total == 21.0


def test_an_array_that_shares_memory_follows_when_the_other_one_moves():
    state = small()
    assert np.shares_memory(state.first, state.second)
    state.resize(rows=5)
    state.second[4, 2] = 7.0
    assert state.first[4, 2] == 7.0
    state.resize(copies=1)
    assert not np.shares_memory(state.first, state.second)


def test_a_loop_of_the_base_is_not_compiled_again_for_a_state_with_more_fields():
    add_up(small())
    before = len(add_up.overloads)
    assert add_up(small(Wider)) == (2, 3)
    assert len(add_up.overloads) == before


@pytest.mark.parametrize(
    ("misuse", "error", "words"),
    [
        (lambda state: setattr(state, "rows", 3), AttributeError, "rows is a size; use resize"),
        (lambda state: setattr(state, "row", 3), AttributeError, "has no 'row'"),
        (lambda state: setattr(state, "first", np.ones((3, 2))), ValueError, r"first has shape \(2, 3\)"),
        (lambda state: setattr(state, "given", 1.0), ValueError, "given has shape"),
        (lambda state: setattr(state, "unused", np.ones(2)), ValueError, "unused is not allocated"),
        (lambda state: state.resize(first=3), TypeError, "has no number 'first'"),
        (lambda state: Small(lines=2), TypeError, "has no number 'lines'"),
    ],
)
def test_misuse_is_told_in_one_sentence(misuse, error, words):
    with pytest.raises(error, match=words):
        misuse(small())


def test_declarations_that_contradict_others_are_refused():
    with pytest.raises(TypeError, match="shapes of unknown sizes: lines"):

        class Unknown(TypedState):
            table: Floats = array("lines", about="of a size that nobody declares")

    with pytest.raises(TypeError, match="declares rows again"):

        class Again(Small):
            rows: int = size("a second one")

    class Longer(Small):
        more: Floats = array("cells", "columns", about="longer", unless=shares_first, shares="first")

    with pytest.raises(ValueError, match="cannot share first"):
        Longer(rows=2, columns=3)


@compiled
def set_size(state):
    state.rows = 3


@compiled
def read_unknown(state):
    return state.lines


@pytest.mark.parametrize(("loop", "words"), [(set_size, "cannot set rows"), (read_unknown, "lines")])
def test_a_loop_that_sets_a_size_or_reads_what_is_not_declared_is_not_compiled(loop, words):
    with pytest.raises(Exception, match=words):
        loop(small())


def test_a_state_allocates_only_what_its_experiment_needs():
    """A complete graph of ten agents who send everything: no memory, no cache, no shared order, no contexts."""
    state = Run(Experiment(horizon=5, runs=1), 0).state
    empty = {name for name, field in State.fields.items() if isinstance(field, Array) and not getattr(state, name).size}
    assert {"inbox_times", "digest_totals", "by_pulls", "statistics", "past_pulls", "past_arms"} <= empty
    assert sum(values.nbytes for values in state.arrays.values()) < 20_000
