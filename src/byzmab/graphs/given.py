"""Given graphs: the paper's ten firms, a networkx graph, or a file of one."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import networkx as nx

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph

# Firms 1 and 2 lie; every honest firm has exactly one of them as a neighbour. Paper: recommender systems.
FIRMS = "1-3 1-4 1-5 1-6 2-7 2-8 2-9 2-10 3-4 3-5 3-6 4-5 4-6 5-6 7-8 7-9 7-10 8-9 8-10 9-10 3-7 4-8 5-9 6-10"


@compiled
def as_listed(receiver: int, agents: int, byzantine: int, knobs: Floats, rng: Words, out: Integers) -> int:
    """Read the neighbours off the knobs: where each agent's begin, then all of them."""
    first, end = int(knobs[receiver]), int(knobs[receiver + 1])
    for place in range(first, end):
        out[place - first] = int(knobs[agents + 1 + place])
    return end - first


@dataclass(frozen=True)
class Given(Graph):
    """A graph edge by edge: in-neighbours of every agent, numbered from 0, and where it came from."""

    neighbours = staticmethod(as_listed)
    listed: tuple[tuple[int, ...], ...] = ()
    source: str = ""

    @property
    def knobs(self) -> tuple[float, ...]:
        starts = [0]
        for names in self.listed:
            starts.append(starts[-1] + len(names))
        return tuple(float(number) for number in (*starts, *(name for names in self.listed for name in names)))

    def to_text(self) -> str:
        return ""

    def size(self) -> int:
        return len(self.listed)

    def check(self, agents: int, byzantine: int) -> None:
        if agents != len(self.listed):
            raise BadInput(f"agents {agents} does not fit graph {self.source!r}, which has {len(self.listed)} agents")

    @classmethod
    def from_edges(cls, agents: int, edges: Iterable[tuple[int, int]], source: str) -> Self:
        """From directed edges (teller, hearer) between agents numbered from 1."""
        heard: list[set[int]] = [set() for _ in range(agents)]
        for teller, hearer in edges:
            if teller != hearer:
                heard[hearer - 1].add(teller - 1)
        return cls(tuple(tuple(sorted(names)) for names in heard), source)

    @classmethod
    def from_networkx(cls, graph: Any, source: str = "networkx") -> Self:
        """From a networkx graph on agents 1..N; an edge of a directed one goes from teller to hearer."""
        agents = graph.number_of_nodes()
        wanted = set(range(1, agents + 1))
        strange = [name for name in graph.nodes if isinstance(name, bool) or name not in wanted]
        if strange:
            raise BadInput(f"graph {source!r} names agent {strange[0]!r}, but its {agents} agents are 1 to {agents}")
        return cls.from_edges(agents, graph.to_directed().edges(), source)


@dataclass(frozen=True)
class Firms(Given):
    """The paper's ten firms; 1 and 2 lie, and each of the others has one of them as a neighbour."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        if text:
            raise cls.misunderstood(text)
        pairs = [tuple(map(int, pair.split("-"))) for pair in FIRMS.split()]
        return cls.from_edges(10, [edge for a, b in pairs for edge in ((a, b), (b, a))], "firms")


def read_graph(path: str) -> Given:
    """Read a graph from a JSON file in networkx's node-link format, agents numbered from 1."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise BadInput(
            f"graph file {path!r} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"graph file {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise BadInput(f"graph file {path!r} has no list under the key 'nodes'; allowed: networkx's node-link format")
    edges = next((key for key in ("edges", "links") if isinstance(data.get(key), list)), None)
    if edges is None:
        raise BadInput(f"graph file {path!r} has no list under the key 'edges' or 'links'; allowed: node-link format")
    names = {_entry(path, "nodes", node, "id") for node in data["nodes"]}
    for edge in data[edges]:
        for end in ("source", "target"):
            if _entry(path, edges, edge, end) not in names:
                raise BadInput(
                    f"graph file {path!r}: an edge under {edges!r} names agent {edge[end]!r}, which does not exist"
                )
    return Given.from_networkx(
        nx.node_link_graph({"multigraph": False, "directed": False, "graph": {}, **data}, edges=edges), path
    )


def _entry(path: str, section: str, item: Any, key: str) -> int:
    value = item.get(key) if isinstance(item, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f"graph file {path!r}: {item!r} under {section!r} has no whole number under the key {key!r}")
    return value


def write_graph(graph: Given, path: Path) -> None:
    """Write a graph as `read_graph` reads it."""
    edges = [
        {"source": teller + 1, "target": hearer + 1}
        for hearer, tellers in enumerate(graph.listed)
        for teller in tellers
    ]
    nodes = [{"id": agent + 1} for agent in range(graph.size())]
    path.write_text(json.dumps({"directed": True, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}))
