"""What plug-ins keep where rewards depend on contexts; AssertionError with one sentence where one does not."""

import numpy as np

from byzmab.attacks.contexts.world import ContextWorld
from byzmab.core.contexts.reports import LARGEST_REWARD, parts_of
from byzmab.core.contexts.statistics import hear
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.context_world import draw_parameters
from byzmab.simulation.single_run import Run


def check_at_contexts(given: Experiment) -> None:
    """It plays with the same digits twice, and leaves the world as it is: statistics are those of one's own pulls."""
    for time_varying in (False, True):
        experiment = given.but(time_varying=time_varying, memory=2 * time_varying)
        first, second = (Run(experiment, 0) for _ in range(2))
        for time in range(1, experiment.horizon + 1):
            _check_round(first, time)
        second.advance(experiment.horizon)
        state = first.state
        assert np.array_equal(state.parameters, draw_parameters(experiment, 0)), "it changed the arms' parameters"
        assert np.array_equal(state.regret, second.state.regret), "two runs with the same seed differ"


def _check_round(run: Run, time: int) -> None:
    """Advance by one round: contexts are as they were drawn, and statistics grow by those of the pulls alone."""
    state, before = run.state, run.state.statistics.copy()
    run.advance(time)
    seen, chosen, agents = state.contexts, state.choices, np.arange(len(before))
    assert np.allclose(np.linalg.norm(seen, axis=1), 1.0), "it changed contexts, which are drawn"
    d = seen.shape[1]
    (moments, grams), (old_moments, old_grams) = (
        parts_of(rows.reshape(-1, rows.shape[2]), d) for rows in (state.statistics, before)
    )
    added, pulled = (moments - old_moments).reshape(*before.shape[:2], d), np.zeros(before.shape[:2])
    pulled[agents, chosen] = 1.0
    values = np.einsum("ia,ia->i", added[agents, chosen], seen)  # r − z₀, as contexts are 1 long
    outer = np.einsum("ik,ia,ib->ikab", pulled, seen, seen)
    assert (
        np.array_equal(state.statistics[:, :, 0], state.pulls)
        and np.allclose((grams - old_grams).reshape(outer.shape), outer)
        and np.allclose(added, np.einsum("ik,i,ia->ika", pulled, values, seen))
        and (np.abs(values) <= LARGEST_REWARD + 1e-9).all()
    ), "it changed statistics, which are not its own"


def check_tells_statistics(experiment: Experiment) -> None:
    """What an attack tells of an arm is heard: what is no Gram matrix, or not finite, would be silence by mistake."""
    run, attack = Run(experiment, 0), experiment.parts.attack
    run.advance(experiment.horizon)
    state, (agents, arms, numbers) = run.state, run.state.statistics.shape
    ridge, byzantine, d = state.ridge, state.byzantine, state.contexts.shape[1]
    names = ("statistics", "contexts", "context_means", "context_totals", "parameters", "constant")
    world = ContextWorld._make((experiment.horizon, *(getattr(state, name) for name in names), byzantine, ridge))
    own = np.array(attack.params, np.float64), np.zeros(attack.scratch_shape_at(arms, d)), np.ones(1, np.uint64)
    type(attack).start_round_at(world, *own)
    for sender in range(byzantine):
        for receiver in range(byzantine, agents):
            report = np.zeros((arms, numbers))
            type(attack).lie_at(world, sender, receiver, *own, report)
            for arm, row in enumerate(report, 1):
                assert row[0] <= 0.0 or hear(row.copy(), d, ridge), (
                    f"of arm {arm} it tells numbers that are not finite, or no Gram matrix: that is silence"
                )
