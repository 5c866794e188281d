"""Everything combines with everything: no set-up that is accepted crashes, loses a pull or makes a number that is none."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from byzmab import BadInput, Experiment, simulate
from byzmab.attacks import ATTACKS
from byzmab.core.filters import FILTERS
from byzmab.core.policies import POLICIES

GRAPHS = [
    "complete",
    "erdos-renyi:0",
    "erdos-renyi:0.05",
    "erdos-renyi:0.5",
    "two-case:binomial",
    "two-case:1-2",
    "ring:2",
    "star",
    "star:1",
]
SET_UPS = st.fixed_dictionaries(
    {
        "agents": st.sampled_from([1, 2, 3, 5, 9, 17]),
        "byzantine": st.integers(0, 8),
        "f": st.sampled_from([None, 0, 1, 2, 50]),
        "arms": st.sampled_from([(0.5, 0.5), (0.0, 1.0), (0.2, 0.9, 0.4), "random:3", "random:70"]),
        "kappa": st.sampled_from([1.0, 1.5, 1.999, "random"]),
        "graph": st.sampled_from(GRAPHS),
        "time_varying": st.booleans(),
        "attack": st.sampled_from(list(ATTACKS.entries)),
        "filter": st.sampled_from(list(FILTERS.entries)),
        "policy": st.sampled_from(list(POLICIES.entries)),
        "memory": st.sampled_from([0, 1, 7, 1000]),
        "rewards": st.sampled_from(
            ["bernoulli", "beta:0.001", "uniform", "gaussian", ("beta", "pareto", "gaussian:3")]
        ),
        "subset": st.sampled_from([None, 1, 3, 100]),
        "epoch": st.sampled_from([1, 2, 7, 500]),
        "delay": st.sampled_from([0, 1]),
        "horizon": st.sampled_from([1, 2, 3, 60]),
        "record": st.sampled_from([1, 7, 200]),
        "seed": st.integers(0, 10**6),
    }
)


@pytest.mark.filterwarnings("ignore:f = ")
@settings(max_examples=200)
@given(set_up=SET_UPS)
def test_every_set_up_is_played_or_refused(set_up):
    try:
        experiment = Experiment(runs=2, **set_up)
    except BadInput:
        assume(False)
    result = simulate(experiment, workers=1)
    assert np.isfinite(result.regret_values).all()
    assert (result.regret_values >= -1e-9).all()
    assert (result.pull_values.sum(axis=(2, 3)) == experiment.horizon).all()
