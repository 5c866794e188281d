"""Machine code of what is built in, compiled before it is wanted: on all cores, with a bar.

Plug-ins are compiled when they are first played (see `core/compiler.py`), one after the other in one process. Here all
of ours are compiled in several processes. What is kept already is only loaded. Left out, and compiled when first
played, is what few need: the loops of large networks and of tallies that forget, and several kinds of rewards in one
network. Left out, too, are live agents with another setting than the recommended one, and other filters than the
recommended one at contexts of other than two dimensions.
"""

import multiprocessing
import signal
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from typing import Any

from byzmab.attacks import ATTACKS, CONTEXT_ATTACKS
from byzmab.baselines import BASELINES
from byzmab.baselines.contexts import CONTEXT_BASELINES
from byzmab.contexts.believe import MOST_KNOWN
from byzmab.core.errors import BadInput
from byzmab.core.recommended import CONTEXT_FILTER, CONTEXT_POLICY, FILTER, POLICY
from byzmab.experiment.parts import PLUGINS
from byzmab.simulation.progress import Show, wanted_bar
from byzmab.worlds import REWARDS, Rewards

Settings = Mapping[str, Any]
Task = Callable[[], None]

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
DIMENSIONS = 2  # of contexts; but for what believes, machine code is the same for any number of them
AT_CONTEXTS: Settings = {  # what all others at contexts need, too
    "context": DIMENSIONS,
    "arms": "random:2",
    "filter": CONTEXT_FILTER,
    "policy": CONTEXT_POLICY,
    "attack": "flip",
}


def combinations() -> list[Settings]:
    """Settings of which each compiles something else: between them every filter, policy, attack, graph, …"""
    found: list[Settings] = [FIRST, {"filter": FILTER, "policy": POLICY, "f": "auto", "attack": "extreme"}]
    for kind, known in {**PLUGINS, "attack": ATTACKS}.items():
        found += [{kind: WITH.get(name, name)} for name in known.entries]
    found += [{"algorithm": name} for name in BASELINES.entries]
    return [*found, *({"filter": name, "tell": "growth:0.1"} for name in PLUGINS["filter"].entries)]


def context_combinations() -> list[Settings]:
    """Settings at contexts: every attack, filter, algorithm, kind of rewards and dimension that go with them."""
    families = {name: entry for name, entry in REWARDS.entries.items() if issubclass(entry, Rewards)}
    kinds = {
        "attack": CONTEXT_ATTACKS.entries,
        "filter": PLUGINS["filter"].entries,
        "algorithm": CONTEXT_BASELINES.entries,
        "rewards": [name for name, family in families.items() if family.prepare is Rewards.prepare],
    }
    found = [AT_CONTEXTS, *({**AT_CONTEXTS, kind: name} for kind, names in kinds.items() for name in names)]
    return [*found, *({**AT_CONTEXTS, "context": d} for d in range(1, MOST_KNOWN + 2) if d != DIMENSIONS)]


def warm_up(workers: int | None = None, progress: Show | bool | None = None) -> int:
    """Compile all of it in `workers` processes, as many as cores if None; return how many combinations there were.

    `progress` is called with how many are done, and their total; True shows a bar.
    """
    wanted = stages()
    total = sum(map(len, wanted))
    with wanted_bar(progress, "compiling") as show, closing(_completed(wanted, workers)) as completed:
        show = show or _nobody_looks
        show(0, total)
        for done in completed:
            show(done, total)
    return total


def _nobody_looks(done: int, total: int) -> None:
    """Show nothing."""


def stages() -> list[list[Task]]:
    """All there is to compile; a stage needs what the one before it has compiled, and its longest task is first."""
    first, *others = [partial(compile_for, settings) for settings in combinations()]
    first_at_contexts, *others_at_contexts = [partial(compile_for, settings) for settings in context_combinations()]
    return [
        [first, partial(compile_agent)],
        [first_at_contexts, *others],
        [partial(compile_agent, DIMENSIONS), *others_at_contexts],
    ]


def compile_for(settings: Settings) -> None:
    """Play the smallest experiment with some settings, so that what it needs is compiled and kept."""
    from byzmab.experiment.experiment import Experiment
    from byzmab.simulation.run import play_run

    play_run(Experiment(**{**SMALL, **settings}), 0)


def compile_agent(context: int | None = None) -> None:
    """Let a live agent as recommended, at contexts of so many dimensions or without, hear a report and choose."""
    from byzmab.core.agent import Agent

    filter, policy = (FILTER, POLICY) if context is None else (CONTEXT_FILTER, CONTEXT_POLICY)
    agent, neighbour = (Agent(2, 0, filter=filter, policy=policy, context=context) for _ in range(2))
    x = None if context is None else (1.0,) + (0.0,) * (context - 1)
    for _ in range(3):
        for one in (neighbour, agent):
            one.reward(one.select(x), 0.0, x)
        agent.hear("neighbour", neighbour.report())
    agent.select(x)


def _completed(wanted: list[list[Task]], workers: int | None) -> Generator[int, None, None]:
    """Run tasks stage by stage; yield how many are completed whenever one is. Closed early, it cancels the others."""
    fresh = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    at_ctrl_c = (signal.SIGINT, signal.SIG_DFL)  # workers end at once; Python would print where each of them was
    done = 0
    with ProcessPoolExecutor(workers, fresh, signal.signal, at_ctrl_c) as pool:
        try:
            for tasks in wanted:
                for future in as_completed([pool.submit(task) for task in tasks]):
                    future.result()
                    done += 1
                    yield done
        except BrokenProcessPool:
            raise BadInput(
                f"workers {workers or 'as many as cores'}: a process was ended from outside, perhaps for its memory; "
                "allowed: fewer workers; what was compiled is kept"
            ) from None
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
