"""Which compiled loops play an experiment: one for each of its parts, and the one over rounds that calls them."""

from typing import Any, NamedTuple

from byzmab.baselines.base import compiled_loops
from byzmab.engine.believe import believing
from byzmab.engine.choose import choosing
from byzmab.engine.draw import drawing
from byzmab.engine.lie import lying
from byzmab.engine.move import moving
from byzmab.engine.pull import pulling
from byzmab.engine.round import advance, telling
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.density import is_digested


class Loops(NamedTuple):
    """The loops of a round, as `advance` takes them."""

    draw: Any
    tell: Any
    lie: Any
    believe: Any
    choose: Any
    pull: Any
    move: Any


class AlgorithmLoops(NamedTuple):
    """The loops of a round of an algorithm of others, as `advance_baseline` takes them."""

    draw: Any
    tell: Any
    lie: Any
    decide: Any
    update: Any
    pull: Any
    move: Any


class ContextLoops(NamedTuple):
    """The loops of a round with contexts, as `advance_contexts` takes them."""

    draw: Any
    tell: Any
    lie: Any
    believe: Any
    choose: Any
    pull: Any


def loops_of(experiment: Experiment, dense: bool) -> Loops | AlgorithmLoops:
    """The compiled loops of an experiment."""
    parts, baseline = experiment.parts, experiment.parts.baseline
    draw, tell = drawing(parts.placed), telling(parts.tell.keeps, dense)
    lie = lying(parts.attack, parts.filter, parts.policy, dense)
    pull, move = pulling(parts.rewards, parts.forgets), moving(parts.drift)
    if baseline is not None:
        return AlgorithmLoops(draw, tell, lie, *compiled_loops(baseline), pull, move)
    believe = believing(parts.filter, dense, not dense and is_digested(experiment))
    return Loops(draw, tell, lie, believe, choosing(parts.policy, parts.forgets), pull, move)


def loop_over_rounds(of_baseline: bool) -> Any:
    """The compiled loop that calls the others; that of baselines is compiled where one is played."""
    if not of_baseline:
        return advance
    from byzmab.engine.baseline_round import advance_baseline

    return advance_baseline
