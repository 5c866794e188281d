"""The whole paper at its fifty runs: seconds on this machine, and as a multiple of the bare loop's steps."""

import tempfile
import time
from pathlib import Path

from benchmarks.yardstick import bare_rate
from byzmab.paper.figures import read_figures
from byzmab.paper.reproduction import reproduce
from byzmab.simulation.run import prepare


def main():
    figures = read_figures(["all"], runs=50)
    distinct = {}
    for figure in figures:
        for experiment in figure.all_experiments().values():
            prepare(experiment)
            distinct[str(experiment.settings())] = experiment
    steps = sum(item.runs * item.horizon * item.parts.agents for item in distinct.values())
    bare = bare_rate()
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        reproduce(figures, Path(out))
        seconds = time.perf_counter() - began
    print(f"byzmab reproduce all, 50 runs: {seconds:.0f} s (at most 120, aim 60), {steps / 1e6:.0f} M agent-steps,")
    print(f"  {seconds / (steps / bare):.1f} × the time of as many bare UCB1 steps, figures and report included")


if __name__ == "__main__":
    main()
