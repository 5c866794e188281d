"""Digits as a bandit: ten agents, two of them liars, name handwritten digits, and learn only whether they were right.

    python -m benchmarks.digits --runs 5 --figure digits.png       of 2 × 2 pixels each, d = 17
    python -m benchmarks.digits --side 8 --attack none --attack stealth-at      all 64 pixels, d = 65

The data are the ones inside scikit-learn (pip install scikit-learn). The context is (1, pixels of length 1)/√2, the
arms are the ten names, and the reward is 1 for the right one. Printed is the share of right answers of a
normal agent ± its standard error over runs, and in brackets what it is above being alone, run by run.
"""

import argparse
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from byzmab import Experiment, simulate
from byzmab.results.figure import ALONE, STYLES, new_figure
from byzmab.results.statistics import describe

RULES = {
    "alone: LinUCB": {"filter": "solo"},
    "sum of statistics": {"algorithm": "lin-sum"},
    "coordinate-wise trimmed mean": {"algorithm": "lin-trimmed"},
    "geometric median": {"algorithm": "lin-geometric-median"},
    "pooled, equal shares, vetted": {"filter": "pooled"},
}
ATTACKS = ("none", "flip", "large", "extreme-at", "alie-at", "stealth-at")


def write_digits(path, side):
    """Write contexts and means to a file for `--arms`."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    block = 8 // side
    pixels = images.reshape(-1, side, block, side, block).mean(axis=(2, 4)).reshape(len(images), -1)
    pixels /= np.linalg.norm(pixels, axis=1, keepdims=True)
    contexts = np.hstack([np.ones((len(pixels), 1)), pixels]) / np.sqrt(2.0)
    np.savez(path, contexts=contexts, means=np.eye(10)[labels])


def draw(results, rules, attacks, path):
    """The share of right answers over time, one panel for each attack."""
    figure = new_figure(2.6 * len(attacks), 3.4)
    panels = figure.subplots(1, len(attacks), sharey=True, squeeze=False)[0]
    for panel, attack in zip(panels, attacks, strict=True):
        for rule, (color, dashes) in zip(rules, (ALONE, *STYLES), strict=False):
            result = results[rule, attack]
            wrong = np.diff(result.network_regret.mean(axis=0), prepend=0.0) / np.diff(result.rounds, prepend=0)
            panel.plot(result.rounds, 1.0 - wrong, color=color, linestyle=dashes, label=rule)
        panel.set(title=attack, xlabel="round", ylim=(0, 1))
    panels[0].set_ylabel("share of right answers")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(rules), frameon=False)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--horizon", type=int, default=1_000)
    parser.add_argument("--side", type=int, choices=(4, 8), default=4)
    parser.add_argument("--data", type=Path, help="a file that was written before; else it is made from scikit-learn")
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--rule", action="append", choices=RULES, help="besides being alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--figure", type=Path)
    chosen = parser.parse_args()
    attacks, alone = chosen.attack or ATTACKS, next(iter(RULES))
    rules = {name: RULES[name] for name in RULES if name == alone or name in (chosen.rule or RULES)}
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        data = chosen.data or Path(folder) / "digits.npz"
        if chosen.data is None:
            write_digits(data, chosen.side)
        size = {"runs": chosen.runs, "horizon": chosen.horizon, "record": 20, "seed": chosen.seed}
        base = Experiment(context=chosen.side**2 + 1, arms=str(data), policy="tuned", ridge=0.1, **size)
        results = {}
        print(f"| | {' | '.join(attacks)} |\n|---{'|---' * len(attacks)}|", flush=True)
        for rule, settings in rules.items():
            cells = []
            for attack in attacks:
                same = (
                    results.get((alone, attacks[0])) if rule == alone else None
                )  # whoever hears nobody is not lied to
                result = same or simulate(base.but(**settings, attack=attack), workers=chosen.workers)
                results[rule, attack] = result
                final = describe(result.network_regret[:, -1] / chosen.horizon)
                saved = describe(
                    (results[alone, attack].network_regret[:, -1] - result.network_regret[:, -1]) / chosen.horizon
                )
                cells.append(f"{1.0 - final['mean']:.3f} ± {final['stderr'] or 0.0:.3f}")
                if rule != alone:
                    cells[-1] += f" ({saved['mean']:+.3f} ± {saved['stderr'] or 0.0:.3f})"
            print(f"| {rule} | {' | '.join(cells)} |", flush=True)
    if chosen.figure is not None:
        draw(results, rules, attacks, chosen.figure)


if __name__ == "__main__":
    main()
