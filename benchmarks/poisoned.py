"""One honest agent whose rewards are altered: what that costs the attacker, the agent and the others.

    python -m benchmarks.poisoned --runs 20

Nobody lies. Of ten agents the first has `poisoned:4,0.2`: on all arms but the worst some rewards of 1 are altered to 0.
The cost is how many are, on average over runs.
"""

import argparse
import warnings

import numpy as np

from byzmab import Experiment, simulate

TARGET, LEVEL = 4, 0.2
CONTESTANTS = {
    "solo, moss": {"filter": "solo", "policy": "moss"},
    "mean, tuned: everyone is believed": {"filter": "mean", "policy": "tuned"},
    "pooled, moss, f = 0: everyone is believed": {"filter": "pooled", "policy": "moss", "f": 0},
    "trimmed, tuned, f = 1": {"filter": "trimmed", "policy": "tuned"},
    "pooled, moss, f = 1": {"filter": "pooled", "policy": "moss"},
    "guarded, moss, f = 1": {"filter": "guarded", "policy": "moss"},
}


def cost(result):
    """The mean number of altered rewards: pulls of the poisoned agent times what is taken off their mean."""
    means = result.means.mean(axis=0)
    taken = np.clip(means - LEVEL, 0.0, None)
    taken[TARGET - 1] = 0.0
    return float((result.pull_values[:, 0, -1] * taken).sum(axis=1).mean())


def shown(values):
    return f"{values.mean():.1f} ± {values.std(ddof=1) / len(values) ** 0.5:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--workers", type=int)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    base = Experiment(byzantine=0, f=1, runs=chosen.runs, horizon=chosen.horizon, seed=chosen.seed, record=1)
    poisoned = [f"poisoned:{TARGET},{LEVEL}", *["bernoulli"] * 9]
    print("| | others, nothing altered | others | the poisoned agent | rewards altered |\n|---|---|---|---|---|")
    for name, settings in CONTESTANTS.items():
        before = simulate(base.but(**settings), workers=chosen.workers)
        after = simulate(base.but(rewards=poisoned, **settings), workers=chosen.workers)
        others = [result.regret_values[:, 1:, -1].mean(axis=1) for result in (before, after)]
        row = [*map(shown, others), shown(after.regret_values[:, 0, -1]), f"{cost(after):.0f}"]
        print(f"| {name} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
