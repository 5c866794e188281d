"""Which compiled loops play an experiment: one for each of its parts, and the one over rounds that calls them."""

from typing import Any, NamedTuple

from byzmab.baselines.base import compiled_loops
from byzmab.baselines.contexts import ContextBaseline
from byzmab.engine.believe import believing
from byzmab.engine.choose import choosing
from byzmab.engine.draw import drawing
from byzmab.engine.lie import lying
from byzmab.engine.move import moving
from byzmab.engine.pull import first_pulls, pulling
from byzmab.engine.round import advance, telling
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.density import is_digested


class Rounds(NamedTuple):
    """The compiled functions that play an experiment."""

    advance: Any  # the loop over rounds
    first_pulls: Any
    draw: Any  # the graph
    pull: Any
    loops: tuple[Any, ...]  # those that `advance` calls, in its order


def rounds_of(experiment: Experiment, dense: bool) -> Rounds:
    """The compiled functions of an experiment; those of baselines and of contexts are compiled where one is played."""
    parts, baseline = experiment.parts, experiment.parts.baseline
    if parts.contexts is not None:
        return _rounds_at(experiment, parts.contexts.d)
    draw, tell = drawing(parts.placed), telling(parts.tell.keeps, dense)
    lie = lying(parts.attack, parts.filter, parts.policy, dense)
    pull, move = pulling(parts.rewards, parts.forgets), moving(parts.drift)
    if baseline is not None:
        from byzmab.engine.baseline_round import advance_baseline

        loops = draw, tell, lie, *compiled_loops(baseline), pull, move
        return Rounds(advance_baseline, first_pulls, draw, pull, loops)
    believe = believing(parts.filter, dense, not dense and is_digested(experiment))
    choose = choosing(parts.policy, parts.forgets)
    return Rounds(advance, first_pulls, draw, pull, (draw, tell, lie, believe, choose, pull, move))


def _rounds_at(experiment: Experiment, d: int) -> Rounds:
    """The compiled functions of an experiment with contexts of d dimensions."""
    from byzmab.contexts.believe import believing_at
    from byzmab.contexts.lie import lying_at
    from byzmab.contexts.pull import first_pulls_at, pulling_at
    from byzmab.contexts.round import advance_contexts, telling_at

    parts = experiment.parts
    by = parts.baseline if isinstance(parts.baseline, ContextBaseline) else parts.filter
    draw, tell, lie = drawing(parts.graph), telling_at(parts.tell.keeps), lying_at(parts.attack)
    believe, choose, pull = believing_at(by, d), choosing(parts.policy, False), pulling_at(parts.rewards)
    return Rounds(advance_contexts, first_pulls_at, draw, pull, (draw, tell, lie, believe, choose, pull))
