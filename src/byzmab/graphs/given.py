"""Given graphs: the paper's ten firms, a networkx graph, or a file of one."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from byzmab.core.compiler import compiled
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats, Integers, Words
from byzmab.graphs.base import Graph

# Firms 1 and 2 lie; every honest firm has exactly one of them as a neighbour. Paper: recommender systems.
FIRMS = "1-3 1-4 1-5 1-6 2-7 2-8 2-9 2-10 3-4 3-5 3-6 4-5 4-6 5-6 7-8 7-9 7-10 8-9 8-10 9-10 3-7 4-8 5-9 6-10"


@compiled
def as_listed(receiver: int, agents: int, byzantine: int, params: Floats, rng: Words, out: Integers) -> int:
    """Read the neighbours off the parameters: where each agent's begin, then all of them."""
    first, end = int(params[receiver]), int(params[receiver + 1])
    for edge in range(first, end):
        out[edge - first] = int(params[agents + 1 + edge])
    return end - first


@dataclass(frozen=True)
class Given(Graph):
    """A graph edge by edge: in-neighbours of every agent, numbered from 0, and where it came from."""

    neighbours = staticmethod(as_listed)
    listed: tuple[tuple[int, ...], ...] = ()
    source: str = ""
    labels: tuple[str, ...] = ()  # the agents' names, where these are not their numbers

    @property
    def params(self) -> tuple[float, ...]:
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
    def from_matrix(cls, matrix: NDArray[Any]) -> Self:
        """From an adjacency matrix of zeros and ones: entry [i, j] is 1 where agent i + 1 tells agent j + 1."""
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise BadInput(f"graph has an adjacency matrix of shape {matrix.shape}; allowed: as many rows as columns")
        if not np.isin(matrix, (0, 1)).all():
            raise BadInput("graph has an adjacency matrix with other entries than 0 and 1; allowed: 0 and 1")
        edges = ((int(teller) + 1, int(hearer) + 1) for teller, hearer in zip(*np.nonzero(matrix), strict=True))
        return cls.from_edges(len(matrix), edges, "matrix")

    @classmethod
    def from_networkx(cls, graph: Any, source: str = "networkx") -> Self:
        """From a networkx graph on nodes of any name; an edge of a directed one goes from teller to hearer."""
        return cls.from_nodes(list(graph.nodes), graph.to_directed().edges(), source)

    @classmethod
    def from_nodes(cls, nodes: Sequence[Any], edges: Iterable[tuple[Any, Any]], source: str) -> Self:
        """From nodes of any name, and directed edges (teller, hearer) between them.

        Where the names are 1..N they are the agents' numbers; else agents are numbered in their order, and labelled.
        """
        wholes = [_whole(node) for node in nodes]
        labels = () if sorted(wholes) == list(range(1, len(nodes) + 1)) else tuple(map(str, nodes))
        if len(set(labels)) < len(labels):
            raise BadInput(f"graph {source!r} names an agent twice; allowed: a name of its own for each")
        numbers = dict(zip(nodes, range(1, len(nodes) + 1) if labels else wholes, strict=True))
        found = cls.from_edges(len(nodes), ((numbers[a], numbers[b]) for a, b in edges), source)
        return replace(found, labels=labels)


def _whole(name: Any) -> int:
    """A name that is a whole number; 0 for any other."""
    try:
        return 0 if isinstance(name, bool) else index(name)
    except TypeError:
        return 0


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
    """Read a graph from a JSON file in networkx's node-link format; its nodes are as `Given.from_nodes` takes them."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadInput(f"graph file {path!r} is not JSON: {error.msg} at {where}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"graph file {path!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        raise BadInput(f"graph file {path!r} has no list under the key 'nodes'; allowed: networkx's node-link format")
    section = next((key for key in ("edges", "links") if isinstance(data.get(key), list)), None)
    if section is None:
        raise BadInput(f"graph file {path!r} has no list under the key 'edges' or 'links'; allowed: node-link format")
    directed = data.get("directed", False)
    if not isinstance(directed, bool):
        raise BadInput(f"graph file {path!r}: directed {directed!r} is not allowed; allowed: true or false")
    names = [_entry(path, "nodes", node, "id") for node in data["nodes"]]
    known = set(names)
    if len(known) < len(names):
        raise BadInput(f"graph file {path!r} names an agent twice; allowed: a name of its own for each")
    edges = []
    for edge in data[section]:
        ends = tuple(_entry(path, section, edge, end) for end in ("source", "target"))
        for name in ends:
            if name not in known:
                raise BadInput(
                    f"graph file {path!r}: an edge under {section!r} names agent {name}, which does not exist"
                )
        edges += [ends] if directed else [ends, ends[::-1]]
    return Given.from_nodes(names, edges, path)  # type: ignore[arg-type]


def _entry(path: str, section: str, item: Any, key: str) -> int | str:
    value = item.get(key) if isinstance(item, dict) else None
    if not isinstance(value, (int, str)) or isinstance(value, bool):
        raise BadInput(f"graph file {path!r}: {item!r} under {section!r} has no number or name under the key {key!r}")
    return value


def write_graph(graph: Given, path: Path) -> None:
    """Write a graph as `read_graph` reads it."""
    names = graph.labels or range(1, graph.size() + 1)
    edges = [
        {"source": names[teller], "target": names[hearer]}
        for hearer, tellers in enumerate(graph.listed)
        for teller in tellers
    ]
    nodes = [{"id": name} for name in names]
    path.write_text(json.dumps({"directed": True, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}))
