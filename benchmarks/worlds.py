"""What it costs that agents differ and arms drift, filter by filter, beside solo on the same luck.

`python -m benchmarks.worlds FIGURE.png` plays, keeps the numbers beside the figure as JSON, draws, and prints three
tables: regret over that of solo as agents differ more and more; regret as means change, by what tallies keep; and,
where means change, how often the reports of honest neighbours and of liars are left out before and after a change.
Where the numbers are there already it only draws and prints.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from byzmab import Experiment, simulate
from byzmab.core.filters.fates import Fate
from byzmab.dashboard.lab.round_view import fates_of, play_round
from byzmab.results.figure import ALONE, STYLES
from byzmab.simulation.single_run import Run

RUNS, HORIZON, EVERY = 20, 5000, 1000
POLICY = "ucb:0.2"
SPREADS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
FILTERS = ("trimmed", "mean", "median", "pooled", "screened", "guarded")
ATTACKS = ("none", "extreme", "alie")
DRIFTS = ("none", f"steps:{EVERY}", "walk:0.005", f"periodic:{EVERY},0.2")
TALLIES = ("all", "forget:0.995", "window:400")
BASE = Experiment(policy=POLICY, horizon=HORIZON, runs=RUNS, record=10)


def regret(**settings):
    """The final regret of every run."""
    return simulate(BASE.but(**settings)).network_regret[:, -1].tolist()


def measure_spread():
    """By spread: solo, and every filter under each attack."""
    found = {}
    for spread in SPREADS:
        cells = {"solo": regret(filter="solo", attack="none", spread=spread)}
        for filter in FILTERS:
            cells |= {f"{filter}, {attack}": regret(filter=filter, attack=attack, spread=spread) for attack in ATTACKS}
        found[str(spread)] = cells
        print("spread", spread, file=sys.stderr, flush=True)
    return found


def measure_drift():
    """By drift and tally: solo, trimmed and guarded under their worse attack."""
    found = {}
    for drift in DRIFTS:
        for tally in TALLIES:
            cells = {"solo": regret(filter="solo", attack="none", drift=drift, tally=tally)}
            for filter in ("trimmed", "guarded"):
                played = [
                    regret(filter=filter, attack=attack, drift=drift, tally=tally) for attack in ("none", "extreme")
                ]
                cells |= {f"{filter}, none": played[0], f"{filter}, extreme": played[1]}
            found[f"{drift} {tally}"] = cells
        print("drift", drift, file=sys.stderr, flush=True)
    return found


def left_out(filter, attack, tally, runs=4):
    """How often reports on the arm that changes from best to worst are left out, in bins of rounds around a step."""
    experiment = BASE.but(
        filter=filter, attack=attack, tally=tally, arms=(0.8, 0.5, 0.4, 0.3), drift=f"steps:{EVERY}", horizon=2 * EVERY
    )
    bins = {"before": range(EVERY - 100, EVERY), "after": range(EVERY, EVERY + 100), "later": range(1800, 1900)}
    counts = {name: np.zeros((2, 2)) for name in bins}  # honest or liar × all or left out
    for run in range(runs):
        played = Run(experiment, run, dense=False)
        for name, rounds in bins.items():
            for when in rounds[::10]:
                played.advance(when)
                view = play_round(played)
                for agent in range(2, 10):
                    for report, fate in enumerate(fates_of(experiment, view, agent)[0]):
                        liar = int(view.senders[view.starts[agent] + report] < 2)
                        counts[name][liar] += 1, fate != Fate.KEPT
    return {name: (table[:, 1] / table[:, 0].clip(1)).tolist() for name, table in counts.items()}


def measure_fates():
    """By filter, attack and tally: shares of reports left out."""
    return {
        f"{filter}, {attack}, {tally}": left_out(filter, attack, tally)
        for filter in ("trimmed", "guarded")
        for attack in ("none", "extreme")
        for tally in ("all", "window:400")
    }


def speeds(rounds=5, horizon=4000):
    """Seconds of each kind of world over those of the plain one, played in turn; the median of the ratios."""
    worlds = {
        "spread 0.05": {"spread": 0.05},
        "walk": {"drift": "walk:0.002"},
        "steps, spread": {"drift": "steps:500", "spread": 0.05},
        "forget": {"tally": "forget:0.999"},
        "window": {"tally": "window:500"},
    }
    ratios = {name: [] for name in worlds}
    for _ in range(rounds):
        plain = seconds(BASE.but(horizon=horizon))
        for name, settings in worlds.items():
            ratios[name].append(seconds(BASE.but(horizon=horizon, **settings)) / plain)
    return {name: float(np.median(values)) for name, values in ratios.items()}


def seconds(experiment):
    """How long one run takes without compiling: the best of three."""
    Run(experiment, 0).advance(1)
    times = []
    for _ in range(3):
        played = Run(experiment, 0)
        began = time.process_time()
        played.advance(experiment.horizon)
        times.append(time.process_time() - began)
    return min(times)


def worst(cells, filter):
    """The largest mean regret of a filter over all attacks, and its runs."""
    return max((values for name, values in cells.items() if name.startswith(f"{filter}, ")), key=np.mean)


def over(values, solo):
    """A ratio of mean regrets with its standard error, runs being paired."""
    values, solo = np.array(values), np.array(solo)
    ratio = values.mean() / solo.mean()
    return ratio, (values - ratio * solo).std(ddof=1) / len(values) ** 0.5 / solo.mean()


def draw(found):
    """Regret over that of solo, under the worst attack, against spread."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for filter, (color, dashes) in zip(FILTERS, STYLES, strict=True):
        pairs = [over(worst(cells, filter), cells["solo"]) for cells in found["spread"].values()]
        ratios, errors = zip(*pairs, strict=True)
        style = {"color": color, "linestyle": dashes, "marker": "o", "markersize": 4, "capsize": 2}
        axes.errorbar(range(len(SPREADS)), ratios, errors, **style, label=filter)
    axes.axhline(1.0, color=ALONE[0], linestyle=ALONE[1], linewidth=2, label="solo")
    axes.set_xticks(range(len(SPREADS)), [f"{spread:g}" for spread in SPREADS])
    axes.set(xlabel="spread s of the agents' means", ylabel="regret over that of solo, worst attack", yscale="log")
    axes.legend(frameon=False, fontsize=8)
    return figure


def tables(found):
    """Print the tables of the documentation."""
    print("| spread | solo | " + " | ".join(FILTERS) + " |\n|" + "---|" * (len(FILTERS) + 2))
    for spread, cells in found["spread"].items():
        ratios = ["{:.2f} ± {:.2f}".format(*over(worst(cells, filter), cells["solo"])) for filter in FILTERS]
        print(f"| {spread} | {np.mean(cells['solo']):.0f} | " + " | ".join(ratios) + " |")
    names = list(next(iter(found["drift"].values())))
    print("\n| drift | tally | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 2))
    for row, cells in found["drift"].items():
        drift, tally = row.split()
        means = [
            f"{np.mean(values):.0f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.0f}" for values in cells.values()
        ]
        print(f"| `{drift}` | `{tally}` | " + " | ".join(means) + " |")
    print("\n| filter, attack, tally | before: honest, liars | after | later |\n|---|---|---|---|")
    for row, bins in found["fates"].items():
        print(f"| {row} | " + " | ".join("{:.0%}, {:.0%}".format(*shares) for shares in bins.values()) + " |")
    print("\nseconds over those of the plain world:", ", ".join(f"{k} {v:.2f}" for k, v in found["speed"].items()))


def main():
    warnings.simplefilter("ignore")
    picture = Path(sys.argv[1])
    numbers = picture.with_suffix(".json")
    if not numbers.exists():
        found = {"speed": speeds(), "spread": measure_spread(), "drift": measure_drift(), "fates": measure_fates()}
        numbers.write_text(json.dumps(found), encoding="utf-8")
    found = json.loads(numbers.read_text(encoding="utf-8"))
    draw(found).savefig(picture, dpi=110)
    tables(found)


if __name__ == "__main__":
    main()
