"""Every anchor figure of the baselines: what independent prototypes measured, and what we do, with the difference.

    python -m benchmarks.anchors [--runs 200]

The figures are those of `tests/anchors.py`, which the tests compare with fewer runs. A difference is told in standard
errors; where a prototype told none, as many as ours of 50 runs are taken. Minutes of processor time.
"""

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from anchors import ANCHORS


def row(anchor, runs):
    """One line: both figures, and their difference in standard errors of it."""
    mean, ours, theirs, errors = anchor.errors_off(runs)
    where = " ".join(f"{name}={value}" for name, value in anchor.settings.items())
    far = " !" if abs(errors) > 4.0 else ""
    name = f"{anchor.algorithm:<38} {anchor.attack:<13} {where:<26}"
    return f"{name} {mean:8.1f} ± {ours:5.1f}  {anchor.regret:8.1f} ± {theirs:5.1f}  {errors:+6.1f}{far}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--algorithm", help="only those that begin so", default="")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # f = 0 beside liars is part of the list
    print(f"{'':<79} {'ours':>16}  {'prototype':>16}  errors")
    for anchor in ANCHORS:
        if anchor.algorithm.startswith(chosen.algorithm):
            print(row(anchor, chosen.runs), flush=True)


if __name__ == "__main__":
    main()
