"""Founding a network on loopback: keys, certificates, a graph and the files of every node, in one directory."""

import math
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np

from byzmab.attacks import ATTACKS
from byzmab.core import draws
from byzmab.core.agent import Agent
from byzmab.core.errors import BadInput
from byzmab.graphs import Given, Graph, resolve_graph
from byzmab.graphs.given import write_graph
from byzmab.node.certificates import Authority
from byzmab.node.config import Config, Http, Links, Neighbour, Tls, write_config
from byzmab.node.identity import Key
from byzmab.node.liar import Plot, write_plot
from byzmab.node.wire import MOST_ARMS

HOST = "127.0.0.1"
FIRST_PORT, LAST_PORT = 8700, 65_535
MOST_AGENTS = 100  # each is a process
MOST_SEED = 2**62
Equivocators = Literal["expel", "keep"]
EQUIVOCATORS: tuple[str, ...] = get_args(Equivocators)
NODE, PLOT, GRAPH, KEY = "node.toml", "plot.json", "graph.json", "node.key"


@dataclass(frozen=True)
class Settings:
    """What a network of nodes is like; the same words as in an experiment."""

    arms: str | tuple[float, ...] = (0.5, 0.45, 0.4, 0.3)  # means, also as text with commas, or random:M
    agents: int | None = None  # the graph's number, or ten
    byzantine: int = 2  # agents 1..B lie
    f: int | None = None  # as many as lie
    kappa: float = 1.5
    graph: Any = "complete"
    attack: str = "adaptive"
    filter: str = "trimmed"
    policy: str = "ucb"
    equivocators: str = "expel"  # or keep
    report_every: float = 0.2  # seconds
    seed: int = 0
    base_port: int | None = None  # HTTP of agent i at base + i, its links at base + agents + i; free ones if not given


class Member(NamedTuple):
    """One agent of the network, and where it is."""

    number: int  # from 1
    name: str
    lies: bool
    port: int  # of HTTP
    directory: Path

    @property
    def url(self) -> str:
        """Where its application asks."""
        return f"http://{HOST}:{self.port}"

    @property
    def file(self) -> Path:
        """Its settings."""
        return self.directory / NODE


class Founded(NamedTuple):
    """A network whose files are written."""

    settings: Settings
    members: tuple[Member, ...]
    plot: Plot  # holds the true means, the graph and the names, too
    directory: Path


def found(settings: Settings, directory: Path) -> Founded:
    """Write the files of a network into a new or empty directory."""
    graph = resolve_graph(settings.graph)
    agents = settings.agents if settings.agents is not None else graph.size() or 10
    if not 0 <= settings.seed < MOST_SEED:
        raise BadInput(f"seed {settings.seed} is not allowed; allowed: 0 to {MOST_SEED - 1}")
    truths = _draw_truths(settings.arms, settings.seed)
    _check(settings, agents, len(truths), graph)
    neighbours = draw_graph(graph, agents, settings.byzantine, settings.seed)
    base = free_base(agents) if settings.base_port is None else settings.base_port
    _make_empty(directory)
    members = tuple(
        Member(i + 1, f"agent-{i + 1}", i < settings.byzantine, base + i + 1, directory / f"agent-{i + 1}")
        for i in range(agents)
    )
    plot = Plot(
        attack=settings.attack,
        byzantine=settings.byzantine,
        agents=tuple(member.name for member in members),
        graph=neighbours,
        truths=truths,
        arms=tuple(f"arm-{place + 1}" for place in range(len(truths))),
        f=settings.byzantine if settings.f is None else settings.f,
        kappa=settings.kappa,
        filter=settings.filter,
        seed=settings.seed,
    )
    founded = Founded(settings, members, plot, directory)
    _write(founded, base + agents)
    return founded


def _check(settings: Settings, agents: int, arms: int, graph: Graph) -> None:
    if not 2 <= agents <= MOST_AGENTS:
        raise BadInput(f"agents {agents} is not allowed; allowed: 2 to {MOST_AGENTS}, each is a process")
    if not 0 <= settings.byzantine < agents:
        raise BadInput(f"byzantine {settings.byzantine} is not allowed; allowed: 0 to {agents - 1} of {agents} agents")
    graph.check(agents, settings.byzantine)
    Agent(arms, settings.f or 0, settings.kappa, settings.filter, settings.policy, settings.seed)
    ATTACKS.resolve(settings.attack)
    if settings.equivocators not in EQUIVOCATORS:
        raise BadInput(f"equivocators {settings.equivocators!r} is not allowed; allowed: {' or '.join(EQUIVOCATORS)}")
    most = LAST_PORT - 2 * agents
    if settings.base_port is not None and not 1024 <= settings.base_port <= most:
        raise BadInput(f"base port {settings.base_port} is not allowed; allowed: 1024 to {most} for {agents} agents")


def _draw_truths(arms: str | tuple[float, ...], seed: int) -> tuple[float, ...]:
    """μ: as given, or drawn as in the first run of a simulation with this seed."""
    name, _, number = arms.partition(":") if isinstance(arms, str) else ("", "", "")
    if name == "random" and number.isdecimal() and 2 <= int(number) <= MOST_ARMS:
        drawn = draws.uniforms(draws.key_of(seed, 0, draws.ARMS), int(number))
        return tuple(sorted(drawn.tolist(), reverse=True))
    try:
        means = tuple(float(mean) for mean in (arms.split(",") if isinstance(arms, str) else arms))
    except ValueError:
        means = ()
    if not 2 <= len(means) <= MOST_ARMS or not all(0.0 <= mean <= 1.0 for mean in means):
        raise BadInput(f"arms {arms!r} is not allowed; allowed: 2 to {MOST_ARMS} means in [0, 1], or random:M")
    return means


def draw_graph(graph: Graph, agents: int, byzantine: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Whom each agent hears, drawn as in the first run of a simulation with this seed."""
    key = draws.key_of(seed, 0, draws.GRAPH)
    params, out = np.array(graph.params, np.float64), np.zeros(agents, np.int64)
    neighbours = type(graph).neighbours
    listed = []
    for receiver in range(agents):
        rng = np.array([draws.key_within(key, 0, receiver)])
        count = neighbours(receiver, agents, byzantine, params, rng, out)
        listed.append(tuple(out[:count].tolist()))
    return tuple(listed)


def free_base(agents: int) -> int:
    """The first base from which on all ports of a network are free."""
    step = 50 * math.ceil((2 * agents + 1) / 50)
    for base in range(FIRST_PORT, LAST_PORT - step, step):
        if all(_is_free(base + place) for place in range(1, 2 * agents + 1)):
            return base
    raise BadInput(f"there are no {2 * agents} free ports from {FIRST_PORT} on; allowed: a base port of your own")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
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


def _write(founded: Founded, base_of_links: int) -> None:
    plot, members = founded.plot, founded.members
    authority, keys = Authority(), [Key.generate() for _ in members]
    for member, key in zip(members, keys, strict=True):
        member.directory.mkdir()
        key.save(member.directory / KEY)
        files = authority.issue(member.name, (HOST,), member.directory)
        tls = Tls(authority=files.authority.name, certificate=files.certificate.name, private_key=files.key.name)
        links = Links(listen=(f"tls/{HOST}:{base_of_links + member.number}",), tls=tls)
        neighbours = _neighbours(member, plot, keys, base_of_links)
        write_config(_config(member, founded, links, neighbours), member.file)
    write_plot(plot, founded.directory / PLOT)
    write_graph(Given(plot.graph, GRAPH), founded.directory / GRAPH)


def _neighbours(member: Member, plot: Plot, keys: list[Key], base_of_links: int) -> tuple[Neighbour, ...]:
    """Those whom an agent hears or tells; of two, the one with the larger number connects."""
    i = member.number - 1
    return tuple(
        Neighbour(
            name=plot.agents[j],
            key=keys[j].public,
            endpoint=f"tls/{HOST}:{base_of_links + j + 1}" if j < i else None,
            hears=j in plot.graph[i],
            tells=i in plot.graph[j],
        )
        for j in range(len(keys))
        if j in plot.graph[i] or i in plot.graph[j]
    )


def _config(member: Member, founded: Founded, links: Links, neighbours: tuple[Neighbour, ...]) -> Config:
    settings, plot = founded.settings, founded.plot
    return Config(
        name=member.name,
        network=f"loopback-{settings.seed}",
        key=KEY,
        data="data",
        arms=plot.arms,
        f=plot.f,
        kappa=settings.kappa,
        filter=settings.filter,
        policy=settings.policy,
        seed=int(draws.key_within(draws.key_of(settings.seed, 0, draws.POLICY), member.number - 1)) >> 1,  # 63 bits
        report_every=settings.report_every,
        equivocators="keep" if member.lies else cast(Equivocators, settings.equivocators),  # liars stay together
        http=Http(host=HOST, port=member.port),
        links=links,
        neighbours=neighbours,
    )
