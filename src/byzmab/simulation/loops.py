"""Which compiled loops play an experiment: one for each of its parts, and the one over rounds that calls them."""

from typing import Any

from byzmab.baselines.base import compiled_loop
from byzmab.engine.believe import believing
from byzmab.engine.choose import choosing
from byzmab.engine.draw import drawing
from byzmab.engine.lie import lying
from byzmab.engine.move import moving
from byzmab.engine.pull import pulling
from byzmab.engine.round import advance, telling
from byzmab.simulation.density import is_digested
from byzmab.simulation.experiment import Experiment

PULL = 5  # which of the loops is that of rewards


def loops_of(experiment: Experiment, dense: bool) -> tuple[Any, ...]:
    """The compiled loops of an experiment: graph, telling, attack, filter and policy or baseline, rewards, drift."""
    parts, baseline = experiment.parts, experiment.parts.baseline
    if baseline is None:
        own = (
            believing(parts.filter, dense, not dense and is_digested(experiment)),
            choosing(parts.policy, parts.forgets),
        )
    else:
        own = tuple(compiled_loop(name, getattr(baseline, name)) for name in ("decide", "update"))
    told = telling(parts.tell.keeps, dense), lying(parts.attack, dense)
    return drawing(parts.placed), *told, *own, pulling(parts.rewards, parts.forgets), moving(parts.drift)


def loop_over_rounds(of_baseline: bool) -> Any:
    """The compiled loop that calls the others; that of baselines is compiled where one is played."""
    if not of_baseline:
        return advance
    from byzmab.engine.baseline_round import advance_baseline

    return advance_baseline
