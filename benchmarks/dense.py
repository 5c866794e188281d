"""Large networks: the dense path against the plain one, and seconds and memory as complete networks grow."""

import math
import subprocess
import sys
import time

from byzmab import Experiment
from byzmab.simulation.single_run import Run

HORIZON = 1_000
SIZES = (10, 100, 1_000, 10_000)
EVERY, GROWTH = "every", "growth:0.1"
# graph, f, whether dense if not left to the rule, tell, sizes; B = f in complete networks, N / 10 in sparse ones
COLUMNS = {
    "complete, f=2": ("complete", 2, None, EVERY, SIZES),
    "the same, growth:0.1": ("complete", 2, None, GROWTH, SIZES),
    "complete, f=10": ("complete", 10, None, EVERY, SIZES[1:]),
    "the same, plain path": ("complete", 10, False, EVERY, SIZES[1:3]),
    "mean degree 10, f=1": ("sparse", 1, None, EVERY, SIZES),
}
CELL = """
import time
from byzmab import Experiment
from byzmab.simulation.single_run import Run
experiment = Experiment({settings})
Run(experiment, 0, dense={dense}).advance(1)
began = time.process_time()
Run(experiment, 0, dense={dense}).advance(experiment.horizon)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # kB; Linux alone tells
print(time.process_time() - began, int(peak.split()[1]) / 1024)
"""


def ratios(rounds, block, **settings):
    """Both paths play one run in turn, block by block: the plain one's time over the dense one's, median and range."""
    experiment = Experiment(agents=1_000, arms="random:10", byzantine=10, f=10, horizon=rounds, runs=1, **settings)
    plain, dense = both = [Run(experiment, 0, dense=dense) for dense in (False, True)]
    found = []
    for until in range(block, rounds + 1, block):
        spent = []
        for played in both:
            began = time.process_time()
            played.advance(until)
            spent.append(time.process_time() - began)
        found.append(spent[0] / spent[1])
    assert (plain.state.choices == dense.state.choices).all(), "the two paths chose differently"
    found.sort()
    return found[len(found) // 2], found[0], found[-1]


def cell(agents, graph, f, dense, tell):
    """Seconds of one run on one core, and the peak memory in MB of a process that plays nothing else."""
    byzantine = f if graph == "complete" else agents // 10
    edges = graph if graph == "complete" else f"erdos-renyi:{min(10 / (agents - 1), 1)}"
    settings = f"agents={agents}, byzantine={byzantine}, f={f}, graph={edges!r}, arms='random:10', attack='extreme', "
    source = CELL.format(settings=settings + f"tell={tell!r}, horizon={HORIZON}, runs=1", dense=dense)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def slope(points):
    """The least-squares slope of log seconds over log agents."""
    logs = [(math.log(agents), math.log(seconds)) for agents, seconds in points]
    mean_x, mean_y = (sum(column) / len(logs) for column in zip(*logs, strict=True))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def table():
    """Seconds and memory by size, one column per kind of network."""
    print(f"horizon {HORIZON}, 10 arms, extreme, one run on one core: seconds and peak memory of the process")
    print(f"{'N':>8}", *(f"{name:>22}" for name in COLUMNS))
    points = {name: [] for name in COLUMNS}
    for agents in SIZES:
        print(f"{agents:8}", end="")
        for name, (*setup, sizes) in COLUMNS.items():
            seconds, megabytes = cell(agents, *setup) if agents in sizes else (math.nan, math.nan)
            points[name] += [(agents, seconds)] if agents in sizes else []
            text = f"{seconds:.2g} s {megabytes:6.0f} MB" if agents in sizes else "-"
            print(f" {text:>22}", end="", flush=True)
        print()
    print(f"{'slope':>8}", *(f"{slope(found):22.2f}" for found in points.values()))


def main():
    print("N=1 000, complete, 10 arms, B=f=10: the plain path's time over the dense path's (at least 10)")
    for attack, rounds, block in (("extreme", 400, 40), ("constant", 400, 40), ("adaptive", 30, 5)):
        for filter in ("trimmed", "pooled", "screened", "guarded"):
            middle, low, high = ratios(rounds, block, attack=attack, filter=filter)
            print(f"  {filter:<8} {attack:<9} {middle:6.1f}  ({low:.1f} to {high:.1f})", flush=True)
    table()


if __name__ == "__main__":
    main()
