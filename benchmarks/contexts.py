"""Contexts among liars: regret of every way to use reports under every attack, beside being alone and an oracle.

    python -m benchmarks.contexts --runs 20 --keep contexts.json          N = 10, B = f = 2, d = 5, 5 arms, T = 5 000
    python -m benchmarks.contexts --network large --runs 8                d = 10 and 10 arms
    python -m benchmarks.contexts --network leaning --runs 8              agents see different contexts
    python -m benchmarks.contexts --network twenty --runs 8               f = 2 of N = 20

With `--keep` every cell is written down as soon as it is there, and none is computed twice. The oracle adds up the
statistics of the honest agents alone. A mark * stands at cells above solo by more than two standard errors.
Minutes to hours of processor time; `make bench` leaves it out.
"""

import argparse
import json
import warnings
from pathlib import Path

from byzmab import Experiment, simulate
from byzmab.attacks import CONTEXT_ATTACKS
from byzmab.results.statistics import describe

NETWORKS = {
    "usual": {"context": 5, "arms": "random:5"},
    "large": {"context": 10, "arms": "random:10"},
    "leaning": {"context": 5, "arms": "random:5", "contexts": "leaning"},
    "twenty": {"context": 5, "arms": "random:5", "agents": 20},
}
ALONE = {"filter": "solo", "attack": "none"}
ORACLE = {"algorithm": "lin-sum", "attack": "none", "byzantine": 0}
RULES = {
    "lin-sum": {"algorithm": "lin-sum"},
    "lin-mean": {"algorithm": "lin-mean"},
    "lin-trimmed": {"algorithm": "lin-trimmed"},
    "lin-geometric-median": {"algorithm": "lin-geometric-median"},
    "lin-clipped": {"algorithm": "lin-clipped"},
    "lin-mixing": {"algorithm": "lin-mixing"},
    "trimmed, projection": {"filter": "trimmed", "shares": "projection", "vetting": False},
    "pooled, projection": {"filter": "pooled", "shares": "projection", "vetting": False},
    "pooled, information, vetted": {"filter": "pooled", "shares": "information"},
    "pooled, equal, vetted": {"filter": "pooled"},
    "guarded, equal, vetted": {"filter": "guarded"},
}
ATTACKS = [
    name for name in CONTEXT_ATTACKS.entries if name not in ("starve", "crafted-at")
]  # crafted-at, as it stands, is blind-alie


class Cells:
    """Means and standard errors by name, kept in a file where one is given."""

    def __init__(self, path):
        self.path = path
        self.found = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def cell(self, experiment, workers):
        """Mean and standard error of an experiment's regret."""
        name = json.dumps(experiment.settings(), sort_keys=True)
        if name not in self.found:
            final = describe(simulate(experiment, workers=workers).network_regret[:, -1])
            self.found[name] = final["mean"], final["stderr"]
            if self.path is not None:
                self.path.write_text(json.dumps(self.found))
        return self.found[name]


def shown(cell, alone):
    mean, error = cell
    above = mean - alone[0] > 2.0 * (error**2 + alone[1] ** 2) ** 0.5
    return f"{mean:.1f} ± {error:.1f}{' *' if above else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--horizon", type=int, default=5_000)
    parser.add_argument("--network", choices=NETWORKS, default="usual")
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--rule", action="append", choices=RULES)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--keep", type=Path, help="a file of cells that are there already")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    network = {"agents": 10, "byzantine": 2, "f": 2, **NETWORKS[chosen.network]}
    base = Experiment(**network, policy="tuned", runs=chosen.runs, horizon=chosen.horizon, record=1)
    cells = Cells(chosen.keep)
    alone = cells.cell(base.but(**ALONE), chosen.workers)
    honest = network["agents"] - network["byzantine"]
    oracle = cells.cell(base.but(agents=honest, **ORACLE), chosen.workers)
    print(f"{chosen.network}, {chosen.runs} runs: solo {shown(alone, alone)}, oracle {shown(oracle, alone)}\n")
    attacks = chosen.attack or ATTACKS
    print(f"| | {' | '.join(attacks)} |\n|---{'|---' * len(attacks)}|", flush=True)
    for rule in chosen.rule or RULES:
        row = [shown(cells.cell(base.but(**RULES[rule], attack=name), chosen.workers), alone) for name in attacks]
        print(f"| {rule} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
