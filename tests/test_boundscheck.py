"""With NUMBA_BOUNDSCHECK=1 every index is checked: `make boundscheck` runs this, the contracts and part of the parity tests."""

import os

import pytest

from byzmab import BadInput, Experiment, Graph, compiled, simulate

pytestmark = pytest.mark.skipif("NUMBA_BOUNDSCHECK" not in os.environ, reason="indices are not checked")


@compiled
def neighbours(receiver, agents, byzantine, params, rng, out):
    out[out.size] = 0
    return 0


class Careless(Graph):
    """Writes behind the end of its array."""

    neighbours = staticmethod(neighbours)


def test_a_plugin_that_writes_outside_its_arrays_is_caught():
    with pytest.raises((BadInput, IndexError), match="out of bounds"):
        simulate(Experiment(graph=Careless(), filter="mean", agents=5, byzantine=1, horizon=3, runs=1))
