"""coop-UCB, with trimming (Landgren, Srivastava & Leonard, ECC 2016): as coop-UCB2, with a constant of the graph.

The slack in the index is ε_c of the agent: how far, at most, what it has mixed lags behind what all agents together
know. It follows from the eigenvalues and eigenvectors of P, so that every agent must know the whole graph. On a
complete graph it is 0, and the index is that of one agent who sees all pulls.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from byzmab.baselines.base import Network, adjacency, check_undirected, mixing_matrix
from byzmab.baselines.coop_ucb2 import CoopState, CoopUcb2
from byzmab.core.report import Floats
from byzmab.engine.state import State

ROUNDING = 1e-9  # eigenvalues, and products of entries of eigenvectors, that are zero but for rounding


def graph_constants(mixing: Floats) -> Floats:
    """ε_c of every agent: N Σ_p Σ_{j ≥ 2} |λ_p λ_j| / (1 − |λ_p λ_j|) a_pj; eigenvalues from large to small."""
    return _constants(mixing.tobytes(), len(mixing))


@lru_cache(maxsize=16)
def _constants(content: bytes, agents: int) -> Floats:
    """The constants of a matrix, given by its content, as all runs on a graph have it in common."""
    values, vectors = np.linalg.eigh(np.frombuffer(content).reshape(agents, agents))
    values, vectors = values[::-1], vectors[:, ::-1]
    values = np.where(np.abs(values) < ROUNDING, 0.0, values)
    constants = np.zeros(len(values))
    for p in range(len(values)):
        for j in range(1, len(values)):
            both = values[p] * values[j]
            if both != 0.0:
                constants += abs(both) / (1.0 - abs(both)) * _shares(vectors[:, p] * vectors[:, j], both)
    return len(values) * constants


def _shares(products: Floats, both: float) -> Floats:
    """a_pj of every agent, from the products of the two eigenvectors' entries and of the two eigenvalues."""
    products = np.where(np.abs(products) < ROUNDING, 0.0, products)
    above, below = products[products > 0].sum(), products[products < 0].sum()  # ν⁺ and ν⁻
    if both < 0.0:
        return np.asarray(max(-below, above) * np.abs(products))
    return np.asarray(np.where(products >= 0.0, above, below) * products)


@dataclass(frozen=True)
class CoopUcb(CoopUcb2):
    """coop-UCB, with trimming (Landgren et al. 2016): coop-UCB2 with a constant of the graph in the index."""

    knows = "N, the whole graph, f"

    def check(self, network: Network) -> None:
        check_undirected("coop-ucb", network)

    def begin(self, state: State) -> None:
        super().begin(state)
        assert isinstance(state, CoopState)
        state.slacks = graph_constants(mixing_matrix(adjacency(state)))
