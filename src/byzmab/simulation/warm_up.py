"""Machine code of everything that is built in, compiled before it is wanted: on all cores, with a bar.

A plug-in is compiled when it is first played (see `core/compiler.py`), one after the other in one process. Here the
same is done for all of ours, in several processes. What is kept already is only loaded.
"""

import multiprocessing
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any

from byzmab.attacks import ATTACKS
from byzmab.baselines import BASELINES
from byzmab.core.recommended import CONTEXT_FILTER, CONTEXT_POLICY, FILTER, POLICY
from byzmab.simulation.parts import PLUGINS
from byzmab.simulation.progress import Show, wanted_bar

Settings = Mapping[str, Any]

SMALL = {"byzantine": 1, "f": 1, "horizon": 20, "runs": 1}  # of every experiment that is played
FIRST: Settings = {}  # what all others need, too
WITH = {  # parameters of what has no default for them
    "erdos-renyi": "erdos-renyi:0.5",
    "two-case": "two-case:4-5",
    "edges": "edges:4:1-2,2-3,4>1",
    "steps": "steps:20",
    "walk": "walk:0.01",
    "periodic": "periodic:30",
}
AGENT = {"agent": FILTER}  # stands for a live agent as recommended, which no simulation compiles
CONTEXTS = {"context": 2, "filter": CONTEXT_FILTER, "policy": CONTEXT_POLICY, "attack": "stealth"}


def combinations() -> list[Settings]:
    """Settings of which each compiles something else: between them every filter, policy, attack, graph, …"""
    found: list[Settings] = [FIRST, AGENT, {"filter": FILTER, "policy": POLICY, "f": "auto", "attack": "extreme"}]
    for kind, known in {**PLUGINS, "attack": ATTACKS}.items():
        found += [{kind: WITH.get(name, name)} for name in known.entries]
    found += [{"algorithm": name} for name in BASELINES.entries]
    found += [{"filter": name, "tell": "growth:0.1"} for name in PLUGINS["filter"].entries]
    return [*found, CONTEXTS]


def warm_up(workers: int | None = None, progress: Show | bool | None = None) -> int:
    """Compile all of it in `workers` processes, as many as cores if None; return how many combinations there were.

    `progress` is called with how many are done, and their total; True shows a bar.
    """
    wanted = combinations()
    with wanted_bar(progress, "compiling") as show:
        for done, _ in enumerate(_compiled(wanted, workers), 1):
            if show is not None:
                show(done, len(wanted))
    return len(wanted)


def compile_for(settings: Settings) -> None:
    """Play the smallest experiment with some settings, so that what it needs is compiled and kept."""
    from byzmab.core.agent import Agent
    from byzmab.simulation.experiment import Experiment
    from byzmab.simulation.run import play_run

    if settings == AGENT:
        agent = Agent(2, 0, filter=FILTER, policy=POLICY)
        for _ in range(3):
            agent.reward(agent.select(), 0.0)
        return
    play_run(Experiment(**{**SMALL, **settings}), 0)


def _compiled(wanted: list[Settings], workers: int | None) -> Iterator[Future[None]]:
    """Futures as they are done: what all others need is compiled before they begin, the live agent beside it."""
    fresh = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    with ProcessPoolExecutor(workers, fresh) as pool:
        try:
            for part in ([FIRST, AGENT], [item for item in wanted if item not in (FIRST, AGENT)]):
                for future in as_completed([pool.submit(compile_for, item) for item in part]):
                    future.result()
                    yield future
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
