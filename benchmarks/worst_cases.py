"""What `guarded` is worth under every named attack: regret beside solo's, and how many runs lock in.

    python -m benchmarks.worst_cases --runs 2000 --network n10 --attack alie --attack found.py:Found

Minutes to hours of processor time; `make bench` leaves it out.
"""

import argparse

import numpy as np

from byzmab import Experiment, simulate
from byzmab.attacks import ATTACKS
from byzmab.core.recommended import FILTER, POLICY

LOCKED = 100.0  # regret: four times what is usual, half of what an agent has alone
CHANGING = {"agents": 10, "byzantine": 2, "time_varying": True, "memory": 50}
NETWORKS = {
    "n10": {"agents": 10, "byzantine": 2},
    "n5": {"agents": 5, "byzantine": 1},
    "n40": {"agents": 40, "byzantine": 4},
    "q0.6": {**CHANGING, "graph": "erdos-renyi:0.6"},
    "q0.2": {**CHANGING, "graph": "erdos-renyi:0.2"},
    "arms20": {"agents": 10, "byzantine": 2, "arms": "random:20"},
    "long": {"agents": 10, "byzantine": 2, "horizon": 100_000},
}


def finals(experiment, workers):
    """Regret of every run and normal agent at the horizon."""
    return simulate(experiment, workers=workers).regret_values[..., -1]


def row(attack, regret, alone):
    """One line of the table."""
    runs = regret.mean(axis=1)
    locked, above = (regret > LOCKED).any(axis=1).sum(), (runs > alone).sum()
    error = runs.std(ddof=1) / np.sqrt(runs.size)
    mean = f"{runs.mean():7.2f} ± {error:5.2f}"
    return f"  {attack:<28} {mean}   largest {regret.max():7.1f}   locked {locked:4}   above solo's mean {above:4}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--network", action="append", choices=NETWORKS)
    parser.add_argument("--attack", action="append")
    parser.add_argument("--filter", default=FILTER)
    parser.add_argument("--policy", default=POLICY)
    parser.add_argument("--workers", type=int)
    chosen = parser.parse_args()
    for network in chosen.network or NETWORKS:
        settings = {"runs": chosen.runs, "seed": chosen.seed, "policy": chosen.policy, "record": 1, **NETWORKS[network]}
        alone = finals(Experiment(**settings, filter="solo"), chosen.workers).mean()
        print(f"{network}, {chosen.filter}, {chosen.policy}, {chosen.runs} runs: alone {alone:.1f}", flush=True)
        for attack in chosen.attack or ATTACKS.entries:
            experiment = Experiment(**settings, filter=chosen.filter, attack=attack)
            print(row(attack, finals(experiment, chosen.workers), alone), flush=True)


if __name__ == "__main__":
    main()
