"""Graphs: which agents hear which."""

from typing import Any

import networkx as nx

from byzmab.core.plugins import Registry
from byzmab.graphs.base import Graph
from byzmab.graphs.edges import Edges
from byzmab.graphs.erdos_renyi import ErdosRenyi
from byzmab.graphs.given import Firms, Given, read_graph
from byzmab.graphs.regular import Complete, Ring, Star
from byzmab.graphs.two_case import TwoCase

__all__ = ["GRAPHS", "Given", "Graph", "resolve_graph"]

GRAPHS = Registry(
    Graph,
    {
        "complete": Complete,
        "erdos-renyi": ErdosRenyi,
        "two-case": TwoCase,
        "firms": Firms,
        "ring": Ring,
        "star": Star,
        "edges": Edges,
    },
)


def resolve_graph(wanted: Any) -> Graph:
    """The graph that is meant by a name, a JSON file, a networkx graph or a Graph."""
    if isinstance(wanted, nx.Graph):
        return Given.from_networkx(wanted)
    if isinstance(wanted, str) and wanted.endswith(".json"):
        return read_graph(wanted)
    return GRAPHS.resolve(wanted)  # type: ignore[no-any-return]
