"""Provisioning a testbed on loopback: keys, certificates, a graph and the files of every node, in one directory."""

import math
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from byzmab.core import draws
from byzmab.core.errors import BadInput
from byzmab.core.tell import NO_GROWTH
from byzmab.experiment.context_settings import constant_of
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.parts import RESILIENT
from byzmab.graphs import Given, Graph
from byzmab.graphs.given import write_graph
from byzmab.node.certificates import Authority
from byzmab.node.config import MOST_SECONDS, Config, Http, Links, Neighbour, Tls, check_arms, write_config
from byzmab.node.identity import Key
from byzmab.node.wire import MOST_ARMS
from byzmab.simulation.context_world import draw_leans, draw_parameters, usual_means
from byzmab.testbed.plan import AttackPlan, ContextPlan, attack_of, write_plan

HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 8700, 65_535
MOST_AGENTS = 100  # each is a process
MOST_SEED = 2**62
REPORT_EVERY, AT_CONTEXTS_EVERY = 0.2, 1.0  # seconds; to check a report at contexts takes some ten times as long
Equivocators = Literal["expel", "keep"]
EQUIVOCATORS: tuple[str, ...] = get_args(Equivocators)
NODE, PLAN, GRAPH, KEY = "node.toml", "attack-plan.json", "graph.json", "node.key"
ONLY = {  # what nodes do, of settings that a simulation can have otherwise
    "time_varying": False,
    "memory": 0,
    "rewards": "bernoulli",
    "spread": 0.0,
    "drift": "none",
    "tally": "all",
    "subset": None,
    "epoch": 1,
    "delay": 0,
    "algorithm": RESILIENT,
}


@dataclass(frozen=True)
class Options:
    """What the nodes of a testbed need besides the experiment."""

    equivocators: str = "expel"  # what happens to proven equivocators: expel or keep
    report_every: float | None = None  # seconds; REPORT_EVERY, or AT_CONTEXTS_EVERY, if not given
    base_port: int | None = None  # HTTP of agent i at base + i, its links at base + agents + i; default: free ports


class Member(NamedTuple):
    """One agent of the testbed, and where it is."""

    number: int  # from 1
    name: str
    lies: bool
    port: int  # of HTTP
    directory: Path
    key: str  # public

    @property
    def url(self) -> str:
        """Where its application asks."""
        return f"http://{HOST}:{self.port}"

    @property
    def file(self) -> Path:
        """Its settings."""
        return self.directory / NODE


class Deployment(NamedTuple):
    """A testbed whose files are written."""

    experiment: Experiment
    options: Options
    members: tuple[Member, ...]
    plan: AttackPlan  # also holds the true means, the graph and the names
    policy: str
    directory: Path
    report_every: float  # seconds
    claim: socket.socket | None  # see claim_ports; None where the ports were chosen by the user


def provision(experiment: Experiment, directory: Path, options: Options = Options()) -> Deployment:  # noqa: B008 (a constant)
    """Write the files of a testbed into a new or empty directory.

    Horizon, runs and record do not matter: nodes run until they are stopped.
    """
    parts, settings = experiment.parts, experiment.settings()
    _check(experiment, options)
    names = tuple(f"agent-{i + 1}" for i in range(parts.agents))
    plan = AttackPlan(
        attack=settings["attack"],
        byzantine=parts.byzantine,
        agents=names,
        graph=draw_graph(parts.graph, parts.agents, parts.byzantine, experiment.seed),
        true_means=draw_means(experiment),
        arms=tuple(f"arm-{arm + 1}" for arm in range(parts.arms)),
        f=settings["f"],
        kappa=settings["kappa"],
        filter=settings["filter"],
        seed=experiment.seed,
        contexts=plan_contexts(experiment),
        policy=settings["policy"],
    )
    attack_of(plan)
    usual = REPORT_EVERY if plan.contexts is None else AT_CONTEXTS_EVERY
    every = usual if options.report_every is None else options.report_every
    check_arms(plan.arms, experiment.context or None)
    _make_empty(directory)
    base, claim = claim_ports(parts.agents) if options.base_port is None else (options.base_port, None)
    keys = [Key.generate() for _ in names]
    members = tuple(
        Member(i + 1, name, i < parts.byzantine, base + i + 1, directory / name, keys[i].public)
        for i, name in enumerate(names)
    )
    deployment = Deployment(experiment, options, members, plan, settings["policy"], directory, every, claim)
    _write(deployment, keys, base + parts.agents)
    return deployment


def _check(experiment: Experiment, options: Options) -> None:
    agents, arms = experiment.parts.agents, experiment.parts.arms
    if not 2 <= agents <= MOST_AGENTS:
        raise BadInput(f"agents {agents} is not allowed; allowed: 2 to {MOST_AGENTS}, each is a process")
    if arms > MOST_ARMS:
        raise BadInput(f"arms: {arms} are not allowed; allowed: 2 to {MOST_ARMS} in a report")
    if not experiment.seed < MOST_SEED:
        raise BadInput(f"seed {experiment.seed} is not allowed; allowed: 0 to {MOST_SEED - 1}")
    if not isinstance(experiment.kappa, (int, float)):
        raise BadInput(f"kappa {experiment.kappa!r} is not allowed for nodes; allowed: one number in [1, 2) for all")
    if experiment.parts.given.agents or len(experiment.parts.given.rounds) > 1:
        raise BadInput("arms of agents or rounds are not what nodes do; allowed: means of all, or random:M")
    if not isinstance(experiment.byzantine, int):
        raise BadInput(f"byzantine {experiment.byzantine!r} is not what nodes do; allowed: a number")
    for name, allowed in ONLY.items():
        if getattr(experiment, name) != allowed:
            raise BadInput(f"{name} {getattr(experiment, name)!r} is not what nodes do; allowed: {allowed}")
    if experiment.audit is False:
        raise BadInput("audit false is not what nodes do; allowed: true, and equivocators keep, which expels nobody")
    if experiment.parts.tell.rounds > 1:
        raise BadInput(f"tell {experiment.tell!r} is not what nodes do; allowed: every, or growth:d with a share d")
    check_equivocators(options.equivocators)
    if options.report_every is not None and not 0.0 < options.report_every <= MOST_SECONDS:
        raise BadInput(
            f"report every {options.report_every} is not allowed; allowed: seconds above 0, up to {MOST_SECONDS:g}"
        )
    most = LAST_PORT - 2 * agents
    if options.base_port is not None and not 1024 <= options.base_port <= most:
        raise BadInput(f"base port {options.base_port} is not allowed; allowed: 1024 to {most} for {agents} agents")


def check_equivocators(wanted: str, *others: str) -> None:
    """BadInput unless nodes know what to do so, or it is one of the others that the caller knows."""
    if wanted not in (*EQUIVOCATORS, *others):
        raise BadInput(f"equivocators {wanted!r} is not allowed; allowed: {', '.join((*EQUIVOCATORS, *others))}")


def draw_means(experiment: Experiment) -> tuple[float, ...]:
    """μ: as given, or drawn as in the first run of the simulation; with contexts the mean over these."""
    parts = experiment.parts
    if parts.contexts is not None:
        return tuple(usual_means(experiment, 0).tolist())
    if parts.means is not None:
        return parts.means
    drawn = draws.uniforms(draws.key_of(experiment.seed, 0, draws.ARMS), parts.arms)
    return tuple(sorted(drawn.tolist(), reverse=True))


def plan_contexts(experiment: Experiment) -> ContextPlan | None:
    """What is true where rewards depend on contexts, drawn as in the first run of the simulation; None without."""
    contexts = experiment.parts.contexts
    if contexts is None:
        return None
    return ContextPlan(
        d=contexts.d,
        ridge=contexts.ridge,
        shares=experiment.shares,
        vetting=contexts.vetting,
        parameters=tuple(map(tuple, draw_parameters(experiment, 0).tolist())),
        constant=tuple(constant_of(contexts).tolist()),
        leans=tuple(map(tuple, draw_leans(experiment, 0).tolist())),
        data=None if contexts.data is None else contexts.data.source,
    )


def draw_graph(graph: Graph, agents: int, byzantine: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """The senders each agent hears, drawn as in the first run of a simulation; only random graphs are compiled."""
    key = draws.key_of(seed, 0, draws.GRAPH)
    params, out = np.array(graph.params, np.float64), np.zeros(agents, np.int64)
    neighbours = type(graph).neighbours
    if not graph.random:  # what draws is for compiled code: plain Python has no 64-bit words
        neighbours = neighbours.py_func
    listed = []
    for receiver in range(agents):
        rng = np.array([draws.key_within(key, 0, receiver) if graph.random else 0], np.uint64)
        count = neighbours(receiver, agents, byzantine, params, rng, out)
        listed.append(tuple(out[:count].tolist()))
    return tuple(listed)


def claim_ports(agents: int) -> tuple[int, socket.socket]:
    """The first base after which all ports of a testbed are free, and a socket that listens on the base itself.

    While it does, no testbed that starts meanwhile takes the same ports, though no node listens on them yet.
    """
    step = 50 * math.ceil((2 * agents + 1) / 50)
    for base in range(FIRST_PORT, LAST_PORT - step, step):
        with suppress(OSError):
            claim = socket.create_server((HOST, base))
            if all(_is_free(base + offset) for offset in range(1, 2 * agents + 1)):
                return base, claim
            claim.close()
    raise BadInput(f"there are no {2 * agents} free ports from {FIRST_PORT} on; allowed: a base port of your own")


def _is_free(port: int) -> bool:
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return False
    return True


def _make_empty(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise BadInput(f"directory {str(directory)!r} cannot be used: {error.strerror or error}") from None
    if taken:
        raise BadInput(f"directory {str(directory)!r} is not empty; allowed: a new or an empty one")


def _write(deployment: Deployment, keys: list[Key], base_of_links: int) -> None:
    plan, members = deployment.plan, deployment.members
    authority = Authority()
    for member, key in zip(members, keys, strict=True):
        member.directory.mkdir()
        key.save(member.directory / KEY)
        files = authority.issue(member.name, (HOST,), member.directory)
        tls = Tls(authority=files.authority.name, certificate=files.certificate.name, private_key=files.key.name)
        links = Links(listen=(f"tls/{HOST}:{base_of_links + member.number}",), tls=tls)
        neighbours = _neighbours(member, plan, keys, base_of_links)
        write_config(_config(member, deployment, links, neighbours), member.file)
    write_plan(plan, deployment.directory / PLAN)
    write_graph(Given(plan.graph, GRAPH), deployment.directory / GRAPH)


def _neighbours(member: Member, plan: AttackPlan, keys: list[Key], base_of_links: int) -> tuple[Neighbour, ...]:
    """Those that an agent hears or sends to; of two, the one with the larger number connects."""
    i = member.number - 1
    return tuple(
        Neighbour(
            name=plan.agents[j],
            key=keys[j].public,
            endpoint=f"tls/{HOST}:{base_of_links + j + 1}" if j < i else None,
            hears=j in plan.graph[i],
            tells=i in plan.graph[j],
        )
        for j in range(len(keys))
        if j in plan.graph[i] or i in plan.graph[j]
    )


def _config(member: Member, deployment: Deployment, links: Links, neighbours: tuple[Neighbour, ...]) -> Config:
    plan, options, growth = deployment.plan, deployment.options, deployment.experiment.parts.tell.growth
    contexts = plan.contexts
    at_contexts = {} if contexts is None else {name: getattr(contexts, name) for name in ("ridge", "shares", "vetting")}
    return Config(
        name=member.name,
        network=f"loopback-{plan.seed}",
        key=KEY,
        data="data",
        arms=plan.arms,
        f=plan.f,
        kappa=plan.kappa,
        filter=plan.filter,
        policy=deployment.policy,
        seed=int(draws.key_within(draws.key_of(plan.seed, 0, draws.POLICY), member.number - 1)) >> 1,  # 63 bits
        report_every=deployment.report_every,
        report_growth=None if growth == NO_GROWTH else growth,
        equivocators="keep" if member.lies else cast(Equivocators, options.equivocators),  # Byzantine agents collude
        http=Http(host=HOST, port=member.port),
        links=links,
        neighbours=neighbours,
        context=None if contexts is None else contexts.d,
        **at_contexts,
    )
