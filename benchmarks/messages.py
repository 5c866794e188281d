"""Regret against messages: every filter under no attack and the worst ones, for δ from 0 to 1.

`python -m benchmarks.messages FIGURE.png` plays, keeps the numbers beside the figure as JSON, draws, and prints the
table at δ = 0.1. Where the numbers are there already it only draws.
"""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from byzmab import Experiment, simulate
from byzmab.core.recommended import POLICY
from byzmab.results.result import REPORT_BYTES_PER_ARM

RUNS = 60
TELLS = ("every", *(f"growth:{delta}" for delta in (0, 0.02, 0.05, 0.1, 0.2, 0.5, 1)))
FILTERS = {"trimmed": "ucb", "pooled": "ucb", "screened": "tuned", "guarded": POLICY}
NAMED = ("none", "constant", "extreme", "alie", "starve")
FOUND = {  # the worst that attack search found at `tell every`: docs/concepts/attack-search.md
    "trimmed": "crafted:-0.414,0.473,3.131,6.961,0.217,0.0,0.592,-0.692,16.244,4,8711",
    "pooled": "crafted:-0.809,0.184,2.093,19.323,0.0,0.0,0.195,-0.449,7.962,5,8678",
    "guarded": "crafted:best=4.15,second=4.521,others=3.046,best_count=0.996,second_count=0.802,other_counts=6.781,"
    "share=0.971,spared=2.415,spared_count=0.52,isolate=1,switch=5414,errors=1,best_share=0.628",
}


def measure(filter, attack, tell):
    """The final regret of every run, arm reports per edge, and messages per edge."""
    result = simulate(Experiment(filter=filter, policy=FILTERS[filter], attack=attack, tell=tell, runs=RUNS))
    edges = RUNS * result.experiment.parts.agents * (result.experiment.parts.agents - 1)
    summary = result.summary()
    return {
        "regret": result.network_regret[:, -1].tolist(),
        "arms": summary["bytes"] / REPORT_BYTES_PER_ARM / edges,
        "messages": summary["messages"] / edges,
    }


def measure_all():
    """The measurements by filter, attack and way of telling."""
    found = {}
    for filter in FILTERS:
        attacks = {name: name for name in NAMED} | ({"found by search": FOUND[filter]} if filter in FOUND else {})
        for name, attack in attacks.items():
            found[f"{filter}, {name}"] = {tell: measure(filter, attack, tell) for tell in TELLS}
            print(filter, name, file=sys.stderr, flush=True)
    return found


def draw(found):
    """Regret over arm reports per edge, a panel for every filter and a line for every attack."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    for axes, filter in zip(figure.subplots(2, 2).flat, FILTERS, strict=True):
        for row, cells in found.items():
            name, _, attack = row.partition(", ")
            if name == filter:
                arms, regret = ([np.mean(cell[key]) for cell in cells.values()] for key in ("arms", "regret"))
                axes.plot(arms, regret, marker="o", markersize=4, label=attack)
                axes.plot(*[[values[TELLS.index("growth:0.1")]] for values in (arms, regret)], "s", color="black", ms=5)
        axes.set(xscale="log", title=f"{filter}, {FILTERS[filter]}", ylim=(0, None))
        axes.set(xlabel="arm reports per edge in 10 000 rounds", ylabel="regret per normal agent")
        axes.legend(frameon=False, fontsize=8)
    return figure


def table(found):
    """Print, at δ = 0.1, what is told and the regret, both beside those of `tell every`."""
    print("| filter, attack | arm reports per edge | 1 of | messages per edge | regret | at `every` | more |")
    print("|---|---|---|---|---|---|---|")
    for row, cells in found.items():
        all_told, less = cells["every"], cells["growth:0.1"]
        before, after = np.array(all_told["regret"]), np.array(less["regret"])
        error = (after - before).std(ddof=1) / len(before) ** 0.5 / before.mean()
        told = f"{less['arms']:.0f} | {all_told['arms'] / max(less['arms'], 1):.0f} | {less['messages']:.0f}"
        more = f"{after.mean() / before.mean() - 1:+.0%} ± {error:.0%}"
        print(f"| {row} | {told} | {after.mean():.1f} | {before.mean():.1f} | {more} |")


def main():
    picture = Path(sys.argv[1])
    numbers = picture.with_suffix(".json")
    if not numbers.exists():
        numbers.write_text(json.dumps(measure_all()), encoding="utf-8")
    found = json.loads(numbers.read_text(encoding="utf-8"))
    draw(found).savefig(picture, dpi=110)
    table(found)


if __name__ == "__main__":
    main()
