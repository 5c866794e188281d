"""An experiment: every setting of a simulation, checked and with its names resolved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from byzmab.attacks import ATTACKS, Attack
from byzmab.baselines import BASELINES, Baseline, Network
from byzmab.core.errors import BadInput, unknown
from byzmab.core.filters import FILTERS, Filter
from byzmab.core.html import table
from byzmab.core.liars import checked_f, f_as_given
from byzmab.core.plugins import Plugin, Registry
from byzmab.core.policies import POLICIES, Policy
from byzmab.core.tell import EVERY, Tell, parse_tell
from byzmab.graphs import GRAPHS, Given, Graph, resolve_graph
from byzmab.rewards import REWARDS, Rewards

PAPER_ARMS = (0.5, 0.45, 0.4, 0.3)
DEFAULT_AGENTS = 10
RESILIENT = "resilient"  # the paper's own algorithm: filter and policy
UNUSED_BY_BASELINES = ("memory", "epoch", "delay", "tell")
MOST = 2_000_000_000  # of any whole number but the seed
LEAST = {"horizon": 1, "runs": 1, "record": 1, "epoch": 1, "memory": 0, "byzantine": 0, "seed": 0}


@dataclass(frozen=True)
class Absent:
    """Stands for a plug-in whose source is not here: see `byzmab.simulation.absent`."""

    source: str  # the name under which it was saved
    reason: str  # why it cannot be had


class Parts(NamedTuple):
    """An experiment with names resolved and defaults filled in."""

    means: tuple[float, ...] | None  # μ; None where it is drawn in every run
    arms: int
    agents: int
    f: int  # FROM_NEIGHBOURS where it follows from their number
    kappas: tuple[float, ...] | None  # of normal agents; None where they are drawn in every run
    graph: Graph
    attack: Attack
    filter: Filter
    policy: Policy
    tell: Tell
    baseline: Baseline | None  # None: the paper's own algorithm
    rewards: tuple[Rewards, ...]  # agent by agent in turn

    def plugins(self, setting: str) -> tuple[Plugin, ...]:
        """The plug-ins that a setting stands for: one, several rewards, or none where there is no baseline."""
        if setting == "rewards":
            return self.rewards
        if setting == "algorithm":
            return () if self.baseline is None else (self.baseline,)
        return (getattr(self, setting),)


@dataclass(frozen=True)
class Experiment:
    """What is simulated. Every field is also a flag of `byzmab simulate` and a key of an experiment file.

    `byzmab.simulation.settings.ABOUT` says what each of them means.
    """

    arms: str | Sequence[float] = PAPER_ARMS
    agents: int | None = None
    byzantine: int = 2
    f: int | str | None = None
    kappa: float | str | Sequence[float] = 1.5
    graph: Any = "complete"
    time_varying: bool = False
    attack: Any = "constant"
    filter: Any = "trimmed"
    memory: int = 0
    policy: Any = "ucb"
    rewards: Any = "bernoulli"
    subset: int | None = None
    epoch: int = 1
    delay: int = 0
    tell: str = EVERY
    algorithm: Any = RESILIENT
    horizon: int = 10_000
    runs: int = 50
    seed: int = 0
    record: int = 200

    def __post_init__(self) -> None:
        for item in fields(self):  # numpy's numbers and arrays are taken as Python's
            value = getattr(self, item.name)
            if isinstance(value, (np.generic, np.ndarray)):
                object.__setattr__(self, item.name, value.tolist())
        for name, least in LEAST.items():
            _check_whole(name, getattr(self, name), least, math.inf if name == "seed" else MOST)
        for name, least in {"agents": 1, "subset": 1}.items():
            if getattr(self, name) is not None:
                _check_whole(name, getattr(self, name), least, MOST)
        _check_whole("delay", self.delay, 0, 1)
        if not isinstance(self.time_varying, bool):
            raise BadInput(f"time_varying {self.time_varying!r} is not allowed; allowed: true or false")
        object.__setattr__(self, "_parts", _resolve(self))

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        changed = (item for item in fields(self) if getattr(self, item.name) != item.default)
        return f"Experiment({', '.join(f'{item.name}={getattr(self, item.name)!r}' for item in changed)})"

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), value) for name, value in self.settings().items() if value is not None]
        return table("experiment", ("setting", "value"), rows)

    @property
    def parts(self) -> Parts:
        """The experiment with names resolved and defaults filled in."""
        return self._parts  # type: ignore[attr-defined,no-any-return]

    def but(self, **changes: Any) -> "Experiment":
        """The same experiment with some settings changed."""
        return replace(self, **changes)

    def algorithm_in_words(self) -> tuple[str, str]:
        """Filter and policy, or the baseline that stands for both."""
        settings = self.settings()
        if self.parts.baseline is not None:
            return str(settings["algorithm"]), "-"
        return str(settings["filter"]), str(settings["policy"])

    def settings(self) -> dict[str, Any]:
        """Every setting, resolved, as plain data that can be written to JSON or TOML."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["agents"], values["f"] = self.parts.agents, f_as_given(self.parts.f)
        for name, registry in {**PLUGINS, "algorithm": BASELINES}.items():
            given = values[name] if isinstance(values[name], (list, tuple)) else [values[name]]
            names = [_name(*pair, registry) for pair in zip(given, self.parts.plugins(name), strict=False)]
            if names:
                values[name] = names if isinstance(values[name], (list, tuple)) else names[0]
        return {
            name: value if isinstance(value, (str, bool, int, float, type(None))) else list(value)
            for name, value in values.items()
        }


PLUGINS: dict[str, Registry] = {
    "graph": GRAPHS,
    "attack": ATTACKS,
    "filter": FILTERS,
    "policy": POLICIES,
    "rewards": REWARDS,
}


def _name(given: Any, plugin: Plugin, registry: Registry) -> str:
    if isinstance(given, str):
        return given
    return plugin.source if isinstance(plugin, (Given, Absent)) else registry.name_of(plugin)


def _check_whole(name: str, value: Any, least: int, most: float = math.inf) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        allowed = f"from {least} to {most}" if most < math.inf else f"of at least {least}"
        raise BadInput(f"{name} {value!r} is not allowed; allowed: a whole number {allowed}")


def _check_numbers(name: str, values: Sequence[Any], low: float, high: float, allowed: str) -> tuple[float, ...]:
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number and low <= value <= high):  # NaN compares false
            raise BadInput(f"{name} {value!r} is not allowed; allowed: {allowed}")
    return tuple(float(value) for value in values)


def _resolve(experiment: Experiment) -> Parts:
    means, arms = _resolve_arms(experiment.arms)
    graph = resolve_graph(experiment.graph)
    agents = experiment.agents or graph.size() or DEFAULT_AGENTS
    byzantine = experiment.byzantine
    if byzantine >= agents:
        raise BadInput(f"byzantine {byzantine} leaves no normal agent; allowed: 0 to {agents - 1} of {agents} agents")
    graph.check(agents, byzantine)
    parts = Parts(
        means,
        arms,
        agents,
        byzantine if experiment.f is None else checked_f(experiment.f, MOST),
        _resolve_kappas(experiment.kappa, agents - byzantine),
        graph,
        ATTACKS.resolve(experiment.attack),
        FILTERS.resolve(experiment.filter),
        POLICIES.resolve(experiment.policy),
        parse_tell(experiment.tell),
        _resolve_algorithm(experiment),
        _resolve_rewards(experiment.rewards),
    )
    _check_baseline(experiment, parts)
    return parts


def _check_baseline(experiment: Experiment, parts: Parts) -> None:
    if parts.baseline is not None and not isinstance(parts.baseline, Absent):
        name = experiment.graph if isinstance(experiment.graph, str) else type(parts.graph).__name__
        redrawn = experiment.time_varying and parts.graph.random
        size = parts.agents, experiment.byzantine, parts.arms, parts.f
        parts.baseline.check(Network(parts.graph, name, redrawn, *size))


def _resolve_algorithm(experiment: Experiment) -> Baseline | None:
    name = experiment.algorithm
    if name == RESILIENT:
        return None
    if isinstance(name, str) and ":" not in name and name not in BASELINES.entries:
        raise unknown("algorithm", name, [RESILIENT, *BASELINES.entries])
    for setting in UNUSED_BY_BASELINES:
        value, allowed = getattr(experiment, setting), getattr(Experiment, setting)
        if value != allowed:
            raise BadInput(f"{setting} {value} does not go with algorithm {name!r}; allowed: {allowed}")
    return BASELINES.resolve(name)  # type: ignore[no-any-return]


def _resolve_rewards(rewards: Any) -> tuple[Rewards, ...]:
    if isinstance(rewards, (list, tuple)) and not rewards:
        raise BadInput(f"rewards {rewards!r} is not allowed; allowed: a name, or a list of them")
    return tuple(map(REWARDS.resolve, rewards if isinstance(rewards, (list, tuple)) else [rewards]))


def _resolve_arms(arms: Any) -> tuple[tuple[float, ...] | None, int]:
    allowed = "two or more means in [0, 1], or random:M with M of at least 2"
    if isinstance(arms, str):
        name, _, count = arms.partition(":")
        if name != "random" or not count.isdecimal() or not 2 <= int(count) <= MOST:
            raise BadInput(f"arms {arms!r} is not allowed; allowed: {allowed}")
        return None, int(count)
    if not isinstance(arms, Sequence) or len(arms) < 2:
        raise BadInput(f"arms {arms!r} is not allowed; allowed: {allowed}")
    means = _check_numbers("arms", arms, 0.0, 1.0, allowed)
    return means, len(means)


def _resolve_kappas(kappa: Any, normal: int) -> tuple[float, ...] | None:
    allowed = f"a number in [1, 2), a list of {normal}, one per normal agent, or random"
    below_two = math.nextafter(2.0, 1.0)
    if kappa == "random":
        return None
    if isinstance(kappa, str) or not isinstance(kappa, (int, float, Sequence)):
        raise BadInput(f"kappa {kappa!r} is not allowed; allowed: {allowed}")
    if isinstance(kappa, Sequence):
        if len(kappa) != normal:
            raise BadInput(f"kappa {list(kappa)!r} has {len(kappa)} values; allowed: {allowed}")
        return _check_numbers("kappa", kappa, 1.0, below_two, allowed)
    return _check_numbers("kappa", [kappa], 1.0, below_two, allowed) * normal
