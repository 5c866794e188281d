"""A filter on many instances under many attacks, beside being alone: same policy, same random numbers.

    python -m benchmarks.instances                                    16 instances of the tuning set, minutes
    python -m benchmarks.instances --set test --full --out instances  all 120 instances, 40 runs, hours
    python -m benchmarks.instances --filter guarded:2,2.5,40 --policy moss --attack extreme:careful=1

Every result is kept in the store `--out`, so that an interrupted run resumes, and a second filter plays only what is
new. It writes a table and `instances.png`. A cell is an instance under an attack; its ratio is regret over that of
`solo`. A cell is *above* where its runs exceed solo's by more than two standard errors of the paired differences. Even
if every cell were equal to solo, a few would be above by chance: their number to be expected is printed, and so is how
many are left when Holm's correction holds the chance of a single wrong one at 5 % over the whole table.
"""

import argparse
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from byzmab.core.recommended import FILTER, POLICY
from byzmab.results.figure import ALONE, STYLES, frame, new_figure
from byzmab.results.statistics import ratio_of_means
from byzmab.search.instances import SETS, draw_instances, kinds_of
from byzmab.sweep.run import run_sweep
from byzmab.sweep.store import ResultStore

SMALL, FULL = (16, 10), (120, 40)  # instances and runs
ATTACKS = ("none", "extreme", "extreme:careful=1", "alie:careful=1", "starve:careful=1")
ERRORS = 2.0  # standard errors above which a cell is said to be above
TOO_MUCH = 1.1  # of solo's regret: no honest agent should have more
LEVEL = 0.05  # the chance of one wrong cell in the whole table
NOTHING = 1e-9  # a difference that is rounding


class Cell(NamedTuple):
    """An instance under an attack."""

    instance: object
    attack: str
    ratio: float
    error: float
    excess: float  # in standard errors
    chance: float  # of so large an excess where there is none
    agent_ratio: float  # of the agent that does worst
    agent_chances: np.ndarray  # by agent: of so much above TOO_MUCH where it has just that


def excess_of(differences):
    """By how many standard errors the mean of paired differences is above 0, and the chance of that (Student's t)."""
    runs = len(differences)
    mean, error = differences.mean(axis=0), differences.std(axis=0, ddof=1) / runs**0.5
    steady = error < NOTHING
    excess = np.where(steady, np.where(mean > NOTHING, np.inf, 0.0), mean / np.where(steady, 1.0, error))
    return excess, student.sf(excess, runs - 1)


def cell_of(instance, attack, regret, alone):
    """A cell from regret by run and agent."""
    ratio, error = ratio_of_means(regret.mean(axis=1), alone.mean(axis=1))
    excess, chance = excess_of(regret.mean(axis=1) - alone.mean(axis=1))
    agents = regret.mean(axis=0) / np.maximum(alone.mean(axis=0), NOTHING)
    _, chances = excess_of(regret - TOO_MUCH * alone)
    return Cell(instance, attack, ratio, error, float(excess), float(chance), float(agents.max()), chances)


def surely(chances):
    """How many of some chances are left with Holm's correction (Holm 1979)."""
    ordered = np.sort(np.asarray(chances))
    passed = ordered <= LEVEL / np.arange(ordered.size, 0, -1)
    return int(passed.size if passed.all() else np.argmin(passed))


def summary(cells, runs):
    """The numbers of some cells."""
    ratios = np.array([cell.ratio for cell in cells])
    agents = np.concatenate([cell.agent_chances for cell in cells])
    worst, victim = max(cells, key=lambda cell: cell.ratio), max(cells, key=lambda cell: cell.agent_ratio)
    return {
        "cells": len(cells),
        "median": np.median(ratios),
        "95 %": np.quantile(ratios, 0.95),
        "worst": f"{worst.ratio:.2f} ± {worst.error:.2f} (instance {worst.instance.number})",
        "worst agent": f"{victim.agent_ratio:.2f} (instance {victim.instance.number})",
        "above": sum(cell.excess > ERRORS for cell in cells),
        "by chance": len(cells) * student.sf(ERRORS, runs - 1),
        "surely": surely([cell.chance for cell in cells]),
        "agents above 1.1, surely": f"{surely(agents)} of {agents.size}",
    }


def print_table(cells, attacks, runs):
    """A row for each attack, and one for all."""
    rows = {attack: summary([cell for cell in cells if cell.attack == attack], runs) for attack in attacks}
    rows["**all**"] = summary(cells, runs)
    names = list(rows["**all**"])
    print(f"\n| attack | {' | '.join(names)} |\n|---{'|---' * len(names)}|")
    for attack, row in rows.items():
        shown = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values())
        print(f"| {attack} | {' | '.join(shown)} |")
    above = sorted((cell for cell in cells if cell.excess > ERRORS), key=lambda cell: cell.chance)
    print("\nabove solo, the surest first:" if above else "\nno cell is above solo")
    for cell in above:
        print(f"  {cell.ratio:5.2f} ± {cell.error:.2f}  {cell.attack:20}  {cell.instance.name}")


def draw(cells, attacks):
    """The ratios of all instances in increasing order, a curve for each attack; crosses are the worst agents."""
    figure = new_figure(7.0, 4.5)
    axes = figure.subplots()
    for number, attack in enumerate(attacks):
        own = [cell for cell in cells if cell.attack == attack]
        share = (np.arange(len(own)) + 0.5) / len(own)
        color, dashes = STYLES[number % len(STYLES)]
        axes.plot(share, sorted(cell.ratio for cell in own), color=color, linestyle=dashes, label=attack)
        axes.plot(share, sorted(cell.agent_ratio for cell in own), color=color, linestyle="", marker="x", markersize=3)
    axes.axhline(1.0, color=ALONE[0], linestyle=ALONE[1], linewidth=2, label="solo")
    axes.set(xlabel="share of instances", ylabel="regret over that of solo; ×: worst agent", yscale="log", xlim=(0, 1))
    axes.legend(frameon=False, fontsize=8)
    frame(axes)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="tuning")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other sets")
    parser.add_argument("--full", action="store_true", help=f"{FULL[0]} instances of {FULL[1]} runs, not {SMALL}")
    parser.add_argument("--count", type=int, help="instances")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--attack", action="append", help=f"may be given several times; {', '.join(ATTACKS)} if not")
    parser.add_argument("--filter", default=FILTER)
    parser.add_argument("--policy", default=POLICY)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=Path("instances"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    usual = FULL if chosen.full else SMALL
    count, runs, attacks = chosen.count or usual[0], chosen.runs or usual[1], chosen.attack or list(ATTACKS)
    instances = draw_instances(chosen.set, count, chosen.seed, runs)
    alone = [instance.experiment.but(policy=chosen.policy) for instance in instances]
    played = {
        attack: [
            base.but(filter=chosen.filter, attack=attack) for base in alone if base.parts.byzantine or attack == "none"
        ]
        for attack in attacks
    }
    store = ResultStore(chosen.out)
    points = [*alone, *(point for some in played.values() for point in some)]
    run_sweep(points, store, workers=chosen.workers, progress=True, announce=print)

    def finals(experiment):
        return store.read(experiment).regret_values[:, :, -1]

    cells = []
    for instance, base in zip(instances, alone, strict=True):
        solo = finals(base)
        for attack in attacks:
            point = base.but(filter=chosen.filter, attack=attack)
            if point in played[attack]:
                cells.append(cell_of(instance, attack, finals(point), solo))
    kinds = ", ".join(f"{kind} {number}" for kind, number in kinds_of(instances).items())
    print(
        f"{chosen.set} set, seed {chosen.seed}, {count} instances of {runs} runs, {chosen.filter}, {chosen.policy}: "
        f"{kinds}"
    )
    print_table(cells, attacks, runs)
    draw(cells, attacks).savefig(chosen.out / "instances.png")
    print(f"\n{chosen.out / 'instances.png'}")


if __name__ == "__main__":
    main()
