"""Cost per agent-step as the network grows at mean degree 10, and the memory of a large one."""

import subprocess
import sys
import time

from byzmab import Experiment
from byzmab.simulation.single_run import Run

MEMORY = """
import resource, warnings
warnings.simplefilter("ignore")
from byzmab import Experiment, simulate
simulate(Experiment({}))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def rate(agents, time_varying, arms, horizon):
    """Agent-steps per second at mean degree 10."""
    graph = f"erdos-renyi:{10 / (agents - 1)}"
    settings = {"agents": agents, "byzantine": agents // 10, "f": 1, "graph": graph, "time_varying": time_varying}
    played = Run(Experiment(arms=f"random:{arms}", horizon=horizon, **settings), 0)
    played.advance(1)
    began = time.perf_counter()
    played.advance(horizon)
    return agents * (horizon - 1) / (time.perf_counter() - began)


def main():
    horizon = 200
    print(f"mean degree 10, horizon {horizon}: M agent-steps/s")
    print(f"{'':<28} {'N=100':>8} {'N=1 000':>8} {'N=10 000':>8} {'ratio':>6}  at least 0.5")
    for time_varying in (False, True):
        for arms in (4, 20):
            # the same work three times over, in turn, so that a busy moment hits all sizes
            rates = [[rate(agents, time_varying, arms, horizon) for agents in (100, 1_000, 10_000)] for _ in range(3)]
            small, middle, large = (sorted(column)[1] for column in zip(*rates, strict=True))
            name = f"{'time-varying' if time_varying else 'fixed'}, {arms} arms"
            print(f"{name:<28} {small / 1e6:8.2f} {middle / 1e6:8.2f} {large / 1e6:8.2f} {large / small:6.2f}")
    print("peak memory of N=10 000, 20 arms, 4 runs, GB (at most 1)")
    for memory, degree, horizon in ((0, 10, 1_000), (10, 10, 200), (100, 1, 120)):  # the peak comes when all is full
        settings = f"agents=10_000, byzantine=1_000, f=1, arms='random:20', horizon={horizon}, runs=4, "
        settings += f"memory={memory}, graph='erdos-renyi:{degree / 9_999}', time_varying=True"
        done = subprocess.run(
            [sys.executable, "-c", MEMORY.format(settings)], capture_output=True, text=True, check=True
        )
        print(f"  time-varying, memory {memory:>3}, degree {degree:>2}: {float(done.stdout):.2f}", flush=True)


if __name__ == "__main__":
    main()
