"""The parts of an experiment: names resolved, defaults filled in, and checked that they go together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from byzmab.attacks import ALL_ATTACKS, ATTACKS, CONTEXT_ATTACKS, Attack
from byzmab.baselines import BASELINES, Baseline, Network
from byzmab.baselines.contexts import CONTEXT_BASELINES, ContextBaseline
from byzmab.core.errors import BadInput, unknown
from byzmab.core.filters import FILTERS, Filter
from byzmab.core.forgetting import ALL, Forgetting, parse_tally
from byzmab.core.liars import checked_f
from byzmab.core.plugins import Plugin, Registry
from byzmab.core.policies import POLICIES, Policy
from byzmab.core.tell import EVERY, Tell, parse_tell
from byzmab.experiment.context_settings import ContextParts, resolve_contexts
from byzmab.experiment.given_means import GivenMeans, resolve_arms
from byzmab.graphs import GRAPHS, Given, Graph, resolve_graph
from byzmab.graphs.renumbered import renumbered
from byzmab.worlds import DRIFTS, NAME, REWARDS, Drift, Replay, Rewards, resolve_rewards

if TYPE_CHECKING:
    from byzmab.experiment.experiment import Experiment

PAPER_ARMS = (0.5, 0.45, 0.4, 0.3)
DEFAULT_AGENTS = 10
RESILIENT = "resilient"  # the paper's own algorithm: filter and policy
UNUSED_BY_BASELINES = ("memory", "epoch", "delay", "tell", "tally")
MOST = 2_000_000_000  # of any whole number but the seed
MOST_AGENTS = 10_000_000  # a number of each is kept before it is known how much memory a run takes
PLUGINS: dict[str, Registry] = {
    "graph": GRAPHS,
    "attack": ALL_ATTACKS,
    "filter": FILTERS,
    "policy": POLICIES,
    "rewards": REWARDS,
    "drift": DRIFTS,
}
ALGORITHMS = Registry(Baseline, {**BASELINES.entries, **CONTEXT_BASELINES.entries})


@dataclass(frozen=True)
class Absent:
    """Stands for a plug-in whose source is not here: see `byzmab.experiment.absent`."""

    source: str  # the name under which it was saved
    reason: str  # why it cannot be had


class Parts(NamedTuple):
    """An experiment with names resolved and defaults filled in."""

    given: GivenMeans  # μ as given
    arms: int
    agents: int
    byzantine: int  # B, how many lie
    order: Sequence[int]  # the agents' numbers, from 0, as the engine has them in its rows: Byzantine agents first
    f: int  # FROM_NEIGHBOURS where it follows from their number
    kappas: tuple[float, ...] | None  # of honest agents; None where they are drawn in every run
    graph: Graph
    placed: Graph  # the same between the rows of the engine
    attack: Attack
    filter: Filter
    policy: Policy
    tell: Tell
    baseline: Baseline | None  # None: the paper's own algorithm
    rewards: tuple[Rewards, ...]  # agent by agent in turn
    drift: Drift
    forgetting: Forgetting
    audits: bool  # whether Byzantine agents that give themselves away are expelled
    contexts: ContextParts | None  # None: the same means whatever the context

    @property
    def means(self) -> tuple[float, ...] | None:
        """μ at first, or what agents have in common of it; None where it is drawn in every run."""
        return self.given.common

    @property
    def moves(self) -> bool:
        """Whether means change from round to round."""
        return self.drift.moves or len(self.given.rounds) > 1

    @property
    def forgets(self) -> bool:
        """Whether tallies forget."""
        return self.forgetting.kind != ALL

    @property
    def normal(self) -> Sequence[int]:
        """The numbers, from 0, of the honest agents."""
        return self.order[self.byzantine :]

    def plugins(self, setting: str) -> tuple[Plugin, ...]:
        """The plug-ins that a setting stands for: one, several rewards, or none where there is no algorithm."""
        if setting == "rewards":
            return self.rewards
        if setting == "algorithm":
            return () if self.baseline is None else (self.baseline,)
        return (getattr(self, setting),)


def resolve_parts(experiment: "Experiment") -> Parts:
    """The parts of an experiment, or BadInput."""
    contexts = resolve_contexts(experiment)
    rewards = _resolve_rewards(experiment)
    given = _resolve_given(experiment, rewards) if contexts is None else GivenMeans(contexts.arms)
    graph = resolve_graph(experiment.graph)
    agents = experiment.agents or graph.size() or given.agents or DEFAULT_AGENTS
    byzantine, order = _resolve_liars(experiment.byzantine, agents, graph)
    graph.check(agents, byzantine)
    parts = Parts(
        given,
        given.arms,
        agents,
        byzantine,
        order,
        byzantine if experiment.f is None else checked_f(experiment.f, MOST),
        _resolve_kappas(experiment.kappa, agents - byzantine),
        graph,
        renumbered(graph, order),
        _resolve_attack(experiment),
        FILTERS.resolve(experiment.filter),
        POLICIES.resolve(experiment.policy),
        parse_tell(experiment.tell),
        _resolve_algorithm(experiment),
        rewards,
        DRIFTS.resolve(experiment.drift),
        parse_tally(experiment.tally),
        False,
        contexts,
    )
    parts = parts._replace(audits=_resolve_audit(experiment, parts))
    _check_means(experiment, parts)
    _check_tally(experiment, parts)
    _check_baseline(experiment, parts)
    return parts


def _resolve_given(experiment: "Experiment", rewards: Sequence[Rewards]) -> GivenMeans:
    """The means as given, or those of a log that rewards are drawn from."""
    logs = [item for item in rewards if isinstance(item, Replay)]
    if not logs:
        return resolve_arms(experiment.arms)
    if len(rewards) > 1 or experiment.spread != 0.0 or experiment.drift != "none":
        raise BadInput(
            "rewards of a log have their own means; allowed: one log for all agents, without spread and drift"
        )
    means = logs[0].means if logs[0].agents else logs[0].means[0]
    if plain(experiment.arms) not in (plain(PAPER_ARMS), means):
        raise BadInput("arms does not go with rewards of a log, whose means they have; allowed: no arms")
    return resolve_arms(means)


def _check_means(experiment: "Experiment", parts: Parts) -> None:
    """BadInput where agents and means do not fit, or rewards cannot follow means that change."""
    _check_numbers("spread", [experiment.spread], 0.0, 1.0, "a number from 0 to 1")
    if parts.given.agents not in (None, parts.agents):
        raise BadInput(
            f"arms has means for {parts.given.agents} agents; allowed: one list for all, or {parts.agents} lists"
        )
    if parts.moves:
        for item in parts.rewards:
            if type(item).prepare is not Rewards.prepare:
                name = name_of_part(None, item, REWARDS)
                raise BadInput(
                    f"rewards {name!r} does not go with means that change; allowed: rewards without `prepare`"
                )


def _check_tally(experiment: "Experiment", parts: Parts) -> None:
    """BadInput where tallies that forget do not go with something else."""
    parts.forgetting.check_window(parts.arms)
    if parts.forgets and parts.tell.keeps:
        raise BadInput(f"tell {experiment.tell!r} does not go with tally {experiment.tally!r}; allowed: {EVERY}")


def _resolve_audit(experiment: "Experiment", parts: Parts) -> bool:
    """Whether reports are audited; BadInput where audits make no sense, or careful Byzantine agents do not."""
    wanted, careful = experiment.audit, parts.attack.careful
    if wanted is not None and not isinstance(wanted, bool):
        raise BadInput(f"audit {wanted!r} is not allowed; allowed: true or false")
    if careful not in (0, 1):
        raise BadInput(f"attack {experiment.attack!r} has careful={careful}; allowed: 0 or 1")
    hindrances = {
        f"algorithm {experiment.algorithm!r}": parts.baseline is not None,
        f"context {experiment.context}": parts.contexts is not None,
        f"tally {experiment.tally!r}": parts.forgets,
    }
    hindrance = next((name for name, hinders in hindrances.items() if hinders), None)
    if hindrance and (wanted or careful):
        setting = "audit" if wanted else "careful=1"
        raise BadInput(f"{setting} does not go with {hindrance}; allowed: where reports are tallies that only grow")
    return hindrance is None and (parts.filter.audits if wanted is None else wanted)


def audits_with(filter: Any, audit: bool | None) -> bool:
    """Return whether agents with a filter of this name audit reports, where nothing else prevents it."""
    entry = FILTERS.entries.get(str(filter).partition(":")[0])
    return audit if audit is not None else bool(getattr(entry, "audits", False))


def _check_baseline(experiment: "Experiment", parts: Parts) -> None:
    if parts.baseline is not None and not isinstance(parts.baseline, Absent):
        name = experiment.graph if isinstance(experiment.graph, str) else type(parts.graph).__name__
        redrawn = experiment.time_varying and parts.graph.random
        size = parts.agents, parts.byzantine, parts.arms, parts.f
        parts.baseline.check(Network(parts.placed, name, redrawn, experiment.subset, *size))


def _resolve_attack(experiment: "Experiment") -> Attack:
    """The attack, which must be one for contexts where there are some, and one for means where there are none."""
    attack: Attack = ALL_ATTACKS.resolve(experiment.attack)
    if isinstance(attack, Absent):
        return attack
    named = f"attack {experiment.attack!r}"
    if experiment.context == 0 and attack.lie is None:
        raise BadInput(f"{named} needs a context; allowed without: {', '.join(ATTACKS.entries)}")
    if experiment.context > 0 and attack.lie_at is None:
        raise BadInput(f"{named} does not go with context; allowed: {', '.join(CONTEXT_ATTACKS.entries)}")
    return attack


def _resolve_algorithm(experiment: "Experiment") -> Baseline | None:
    name = experiment.algorithm
    if name == RESILIENT:
        return None
    known = BASELINES if experiment.context == 0 else CONTEXT_BASELINES
    if isinstance(name, str) and ":" not in name and name not in ALGORITHMS.entries:
        raise BadInput(f"{unknown('algorithm', name, [RESILIENT, *known.entries])}, or your own as file.py:Name")
    found: Baseline = ALGORITHMS.resolve(name)
    if not isinstance(found, Absent) and isinstance(found, ContextBaseline) != (experiment.context > 0):
        fits = "needs a context" if experiment.context == 0 else "does not go with context"
        raise BadInput(f"algorithm {name!r} {fits}; allowed: {', '.join([RESILIENT, *known.entries])}")
    if experiment.context > 0:
        return found
    for setting in UNUSED_BY_BASELINES:
        value, allowed = getattr(experiment, setting), getattr(type(experiment), setting)
        if value != allowed:
            raise BadInput(f"{setting} {value} does not go with algorithm {name!r}; allowed: {allowed}")
    return found


def _resolve_liars(byzantine: Any, agents: int, graph: Graph) -> tuple[int, Sequence[int]]:
    """How many lie, and the agents in the engine's order: as they are numbered, or those that are listed first."""
    if not isinstance(byzantine, (list, tuple)):
        check_whole("byzantine", byzantine, 0, MOST)
        if byzantine >= agents:
            allowed = f"0 to {agents - 1} of {agents} agents"
            raise BadInput(f"byzantine {byzantine} leaves no normal agent; allowed: {allowed}")
        return byzantine, range(agents)
    labels = graph.labels if isinstance(graph, Given) else ()
    allowed = f"agents from 1 to {agents}{' or their names in the graph' if labels else ''}, each once, but not all"
    numbers = [labels.index(name) if name in labels else _agent_number(name, agents) for name in byzantine]
    if None in numbers or not 0 < len(set(numbers)) == len(numbers) < agents:
        raise BadInput(f"byzantine {list(byzantine)!r} is not allowed; allowed: a number, or {allowed}")
    liars = sorted(number for number in numbers if number is not None)
    return len(liars), [*liars, *sorted({*range(agents)} - {*liars})]


def _agent_number(name: Any, agents: int) -> int | None:
    """The number from 0 of an agent that is named by its number from 1; None where there is none."""
    known = isinstance(name, int) and not isinstance(name, bool) and 1 <= name <= agents
    return name - 1 if known else None


def _resolve_rewards(experiment: "Experiment") -> tuple[Rewards, ...]:
    rewards = experiment.rewards
    if isinstance(rewards, (list, tuple)) and not rewards:
        raise BadInput(f"rewards {rewards!r} is not allowed; allowed: a name, or a list of them")
    found = tuple(map(resolve_rewards, rewards if isinstance(rewards, (list, tuple)) else [rewards]))
    if experiment.context > 0:
        for item in found:  # there is no mean to prepare for, as it is another one in every round
            if type(item).prepare is not Rewards.prepare and not isinstance(item, Absent):
                raise BadInput(f"rewards {rewards!r} do not go with context; allowed: bernoulli, beta, uniform")
    return found


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


def plain(value: Any) -> Any:
    """A value as JSON and TOML have it."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return list(map(plain, value)) if isinstance(value, (list, tuple)) else value


def name_of_part(given: Any, plugin: Plugin, registry: Registry) -> str:
    """The name of a plug-in: as it was given, or as its registry has it."""
    if isinstance(given, str):
        return given
    if isinstance(plugin, Replay):
        return f"{NAME}:{plugin.to_text()}"
    return plugin.source if isinstance(plugin, (Given, Absent)) else registry.name_of(plugin)


def check_whole(name: str, value: Any, least: int, most: float = math.inf) -> None:
    """BadInput unless a setting is a whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        allowed = f"from {least} to {most}" if most < math.inf else f"of at least {least}"
        raise BadInput(f"{name} {value!r} is not allowed; allowed: a whole number {allowed}")


def _check_numbers(name: str, values: Sequence[Any], low: float, high: float, allowed: str) -> tuple[float, ...]:
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (number and low <= value <= high):  # NaN compares false
            raise BadInput(f"{name} {value!r} is not allowed; allowed: {allowed}")
    return tuple(float(value) for value in values)
