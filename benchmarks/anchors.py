"""Every anchor figure of the baselines: what independent prototypes measured, and what we do, with the difference.

    python -m benchmarks.anchors [--runs 200]

Ten agents, two liars, the paper's arms, T = 10⁴, complete graph, 50 runs of the prototypes. A difference is told in
standard errors; where a prototype told none, as many as ours of 50 runs are taken. Minutes of processor time.
"""

import argparse
import warnings

from byzmab import Experiment, simulate

THEIR_RUNS = 50
FIRST_PULLS = 0.35  # regret of pulling every arm once, which prototypes count: no error is taken to be smaller
FORTY = {"agents": 40, "byzantine": 4}
RING = {"f": 0, "graph": "ring", "byzantine": 0}
ANCHORS = [  # algorithm, attack, other settings, regret, its standard error
    ("gosine", "none", {}, 240.2, 1.4),
    ("gosine", "constant", {}, 239.4, None),
    ("gosine", "extreme", {}, 277.5, 2.5),
    ("gosine", "smart", {}, 304.3, 1.7),
    ("gosine:beta=2", "none", {}, 263.1, 2.1),
    ("gosine:beta=2", "constant", {}, 258.0, None),
    ("gosine:beta=2", "extreme", {}, 314.7, 1.8),
    ("gosine:beta=2", "smart", {}, 320.9, 1.4),
    ("gosine:alpha=2,beta=2", "none", {}, 186.3, 1.8),
    ("gosine:alpha=2,beta=2", "extreme", {}, 220.7, 1.4),
    ("gosine:alpha=2,beta=2", "smart", {}, 229.0, 1.3),
    ("gosine:alpha=0.25,beta=2", "none", {}, 45.4, 1.7),
    ("gosine:alpha=0.25,beta=2", "smart", {}, 54.2, 2.0),
    ("vial-2021", "none", {}, 246.2, 2.9),
    ("vial-2021", "constant", {}, 245.5, None),
    ("vial-2021", "extreme", {}, 288.3, 5.9),
    ("vial-2021", "smart", {}, 330.7, 7.5),
    ("vial-2021:alpha=2", "none", {}, 181.2, 2.9),
    ("vial-2021:alpha=2", "extreme", {}, 195.3, 3.0),
    ("vial-2021:alpha=2", "smart", {}, 272.9, 8.8),
    ("vial-2021:alpha=0.25", "none", {}, 41.5, 1.4),
    ("vial-2021:alpha=0.25", "smart", {}, 65.0, 4.4),
    ("vial-2022", "none", {}, 264.1, 2.5),
    ("vial-2022", "extreme", {}, 310.9, 1.7),
    ("vial-2022", "smart", {}, 315.0, 1.9),
    ("vial-2022:alpha=2", "none", {}, 187.4, 2.0),
    ("vial-2022:alpha=2", "extreme", {}, 212.6, 1.8),
    ("vial-2022:alpha=2", "smart", {}, 219.6, 2.0),
    ("vial-2022:alpha=0.25", "none", {}, 42.6, 1.4),
    ("vial-2022:alpha=0.25", "smart", {}, 52.6, 2.9),
    ("dducb", "none", {"f": 0}, 29.6, 0.9),
    ("dducb", "constant", {"f": 0}, 503.8, None),
    ("dducb", "extreme", {"f": 0}, 1165.1, None),
    ("dducb", "none", {}, 8.6, 1.3),
    ("dducb", "constant", {}, 503.3, None),
    ("dducb", "extreme", {}, 524.6, None),
    ("dducb", "none", RING, 31.8, 0.9),
    ("dducb:plain=1", "none", RING, 31.7, 0.8),
    ("coop-ucb:1", "none", {"f": 0}, 13.8, 0.6),
    ("coop-ucb:1", "constant", {"f": 0}, 501.5, None),
    ("coop-ucb:1", "extreme", {"f": 0}, 1164.3, None),
    ("coop-ucb:2", "none", {"f": 0}, 24.0, 0.6),
    ("coop-ucb:2", "constant", {"f": 0}, 503.0, None),
    ("coop-ucb:2", "extreme", {"f": 0}, 1165.0, None),
    ("coop-ucb:2", "none", {}, 11.7, 5.4),
    ("coop-ucb:2", "constant", {}, 502.4, None),
    ("coop-ucb:2", "extreme", {}, 524.2, None),
    ("coop-ucb:1", "none", {}, 49.2, 19.5),
    ("coop-ucb:1", "extreme", {}, 512.4, None),
    ("demabar:16", "none", {}, 214.1, 4.6),
    ("demabar:16", "extreme", {}, 298.3, 4.9),
    ("demabar:8", "none", {}, 143.9, 4.0),
    ("demabar:8", "extreme", {}, 240.0, 8.3),
    ("demabar:4", "none", {}, 84.3, 2.6),
    ("demabar:4", "extreme", {}, 195.0, 11.8),
    ("demabar:2", "none", {}, 110.8, 16.7),
    ("demabar:2", "extreme", {}, 392.4, 42.0),
    ("demabar:4", "none", FORTY, 21.3, None),
    ("demabar:4", "extreme", FORTY, 65.6, None),
    ("demabar:4", "none", {"f": 0}, 73.2, None),
    ("demabar:4", "constant", {"f": 0}, 166.0, None),
    ("demabar:4", "extreme", {"f": 0}, 569.0, None),
    ("demabar:16", "none", {"f": 0}, 172.0, None),
    ("demabar:16", "constant", {"f": 0}, 255.0, None),
    ("demabar:16", "extreme", {"f": 0}, 641.0, None),
    ("median-elimination", "none", {}, 685.6, None),
    ("median-elimination", "none", FORTY, 401.0, None),
    ("median-elimination:constant=0", "none", {}, 428.9, None),
    ("median-elimination:constant=0", "extreme", {}, 525.3, None),
    ("median-elimination:constant=0", "none", FORTY, 203.0, None),
    ("median-elimination:groups=1", "none", {}, 389.6, 3.1),
    ("median-elimination:groups=1", "constant", {}, 407.4, 2.6),
    ("median-elimination:groups=1", "extreme", {}, 416.5, 3.2),
]


def row(algorithm, attack, settings, expected, stderr, runs):
    """One line: both figures, and their difference in standard errors of it."""
    summary = simulate(Experiment(algorithm=algorithm, attack=attack, runs=runs, record=1, **settings)).summary()
    mean, ours = summary["regret"]["mean"], summary["regret"]["stderr"]
    theirs = ours * (runs / THEIR_RUNS) ** 0.5 if stderr is None else stderr
    errors = (mean - expected) / max((ours**2 + theirs**2) ** 0.5, FIRST_PULLS)
    where = " ".join(f"{name}={value}" for name, value in settings.items())
    far = " !" if abs(errors) > 4.0 else ""
    name = f"{algorithm:<30} {attack:<9} {where:<26}"
    return f"{name} {mean:8.1f} ± {ours:5.1f}  {expected:8.1f} ± {theirs:5.1f}  {errors:+6.1f}{far}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--algorithm", help="only those that begin so", default="")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # f = 0 beside liars is part of the list
    print(f"{'':<67} {'ours':>16}  {'prototype':>16}  errors")
    for anchor in ANCHORS:
        if anchor[0].startswith(chosen.algorithm):
            print(row(*anchor, chosen.runs), flush=True)


if __name__ == "__main__":
    main()
