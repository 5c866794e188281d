"""Regret over that of solo where agents differ: worlds × attacks, for `guarded` as it is and with equal means declared.

`python -m benchmarks.differences [RUNS] [HORIZON]` prints a row for each world. Solo plays the same policy on the same
random numbers. In brackets is the ratio of the agent that fares worst, averaged over runs.
"""

import math
import sys
import warnings

import numpy as np

from byzmab import Experiment, simulate

ARMS = (0.5, 0.45, 0.4, 0.3)
FILTERS = "guarded:spread=0", "guarded"
SEED = 101  # on which the constants were chosen; another one as the third argument


ATTACKS = {
    "none": "none",
    "extreme": "extreme",
    "alie": "alie:careful=1",
    "beside": "beside:careful=1",
    "ends": "ends:careful=1",
}


def camps(agents, gap):
    """Two groups, of which each prefers the other one of the first two arms."""
    first = [ARMS[0], ARMS[0] - gap, *ARMS[2:]]
    return [first if agent % 2 == 0 else [first[1], first[0], *first[2:]] for agent in range(agents)]


def one_arm(spread):
    """Agents that differ in the second arm alone."""
    means = np.tile(ARMS, (10, 1))
    means[:, 1] += spread * np.random.default_rng(3).standard_normal(10)
    return means.clip(0.0, 1.0).tolist()


def worlds():
    """Settings by name."""
    spreads = {f"s = {spread}": {"spread": spread} for spread in (0.0, 0.02, 0.05, 0.1, 0.2)}
    twelve = {"agents": 12, "byzantine": 1, "f": 1}
    return {
        **spreads,
        "one arm differs by 0.1": {"arms": one_arm(0.1)},
        "one agent has the arms reversed": {"arms": [ARMS] * 9 + [ARMS[::-1]]},
        "two camps, 0.1": {"arms": camps(10, 0.1)},
        "two camps, 0.2": {"arms": camps(10, 0.2)},
        "two camps of six, f = 1, 0.1": {"arms": camps(12, 0.1), **twelve},
        "two camps of six, f = 1, 0.2": {"arms": camps(12, 0.2), **twelve},
    }


def cell(regret, alone):
    """The ratio, its standard error over runs, and the ratio of the agent that fares worst."""
    ratio = regret.mean() / alone.mean()
    error = (regret.mean(axis=1) - ratio * alone.mean(axis=1)).std(ddof=1) / math.sqrt(len(regret)) / alone.mean()
    return f"{ratio:.2f} ± {error:.2f} [{(regret.mean(axis=0) / alone.mean(axis=0)).max():.1f}]"


def main(runs=20, horizon=5000, seed=SEED):
    """Play and print."""
    warnings.simplefilter("ignore")
    base = Experiment(arms=ARMS, policy="moss", runs=runs, horizon=horizon, seed=seed)
    print("| world | solo | filter |", " | ".join(ATTACKS), "|")
    print("|---" * (3 + len(ATTACKS)) + "|")
    for name, settings in worlds().items():
        experiment = base.but(**settings)
        alone = simulate(experiment.but(filter="solo", attack="none")).regret_values[:, :, -1]
        for filter in FILTERS:
            played = (experiment.but(filter=filter, attack=attack) for attack in ATTACKS.values())
            cells = [cell(simulate(one).regret_values[:, :, -1], alone) for one in played]
            print(f"| {name} | {alone.mean():.0f} | `{filter}` |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
