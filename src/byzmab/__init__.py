"""byzmab: Byzantine-resilient decentralized multi-armed bandits.

Agents pull the same arms, tell each other what they saw, and some of them lie. Names are imported when
they are first used, so that importing the package is instant.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from byzmab.attacks import Attack, World
    from byzmab.baselines import Baseline
    from byzmab.core.agent import Agent
    from byzmab.core.compiler import compiled
    from byzmab.core.contexts.reports import ContextReport, scale_contexts
    from byzmab.core.errors import BadInput
    from byzmab.core.filters import Filter
    from byzmab.core.policies import Policy
    from byzmab.core.policies.base import with_doubt
    from byzmab.core.report import Belief, Heard, Report
    from byzmab.core.tally import Tally
    from byzmab.experiment.experiment import Experiment
    from byzmab.experiment.files import read_experiment
    from byzmab.graphs import Graph
    from byzmab.node.client import AsyncClient, Client, NodeError
    from byzmab.results.result import Result
    from byzmab.search import search_attack
    from byzmab.simulation.compare import Comparison, compare
    from byzmab.simulation.run import simulate
    from byzmab.sweep.data import open_sweep
    from byzmab.sweep.points import Sweep, grid
    from byzmab.sweep.run import run_sweep
    from byzmab.sweep.store import ResultStore
    from byzmab.worlds import Drift, Pull, Rewards
    from byzmab.worlds.offline import inverse_propensity, replay_policy

__version__ = version("byzmab")

_HOMES = {
    "Agent": "core.agent",
    "AsyncClient": "node.client",
    "Attack": "attacks",
    "BadInput": "core.errors",
    "Baseline": "baselines",
    "Belief": "core.report",
    "Client": "node.client",
    "Comparison": "simulation.compare",
    "ContextReport": "core.contexts.reports",
    "Drift": "worlds",
    "Experiment": "experiment.experiment",
    "Filter": "core.filters",
    "Graph": "graphs",
    "Heard": "core.report",
    "NodeError": "node.client",
    "Policy": "core.policies",
    "Pull": "worlds",
    "Report": "core.report",
    "Result": "results.result",
    "ResultStore": "sweep.store",
    "Rewards": "worlds",
    "Sweep": "sweep.points",
    "Tally": "core.tally",
    "World": "attacks",
    "compare": "simulation.compare",
    "compiled": "core.compiler",
    "grid": "sweep.points",
    "inverse_propensity": "worlds.offline",
    "open_sweep": "sweep.data",
    "read_experiment": "experiment.files",
    "replay_policy": "worlds.offline",
    "run_sweep": "sweep.run",
    "scale_contexts": "core.contexts.reports",
    "search_attack": "search",
    "simulate": "simulation.run",
    "with_doubt": "core.policies.base",
}

__all__ = [
    "Agent",
    "AsyncClient",
    "Attack",
    "BadInput",
    "Baseline",
    "Belief",
    "Client",
    "Comparison",
    "ContextReport",
    "Drift",
    "Experiment",
    "Filter",
    "Graph",
    "Heard",
    "NodeError",
    "Policy",
    "Pull",
    "Report",
    "Result",
    "ResultStore",
    "Rewards",
    "Sweep",
    "Tally",
    "World",
    "__version__",
    "compare",
    "compiled",
    "grid",
    "inverse_propensity",
    "open_sweep",
    "read_experiment",
    "replay_policy",
    "run_sweep",
    "scale_contexts",
    "search_attack",
    "simulate",
    "with_doubt",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'byzmab' has no attribute {name!r}")
    try:
        return getattr(import_module(f"byzmab.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("byzmab"):
            raise
        extra = "node" if _HOMES[name].startswith("node.") else "study"
        raise ImportError(f"byzmab.{name} needs the package {error.name}: pip install 'byzmab[{extra}]'") from None


def __dir__() -> list[str]:
    return __all__
