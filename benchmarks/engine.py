"""Agent-steps of the engine against the bare loop: what all the filtering costs."""

import time

from benchmarks.yardstick import alternate
from byzmab import Experiment
from byzmab.simulation.single_run import Run

SET_UPS = {
    "N=5, B=1, f=1, q=.8 fixed": ({"agents": 5, "byzantine": 1, "graph": "erdos-renyi:0.8"}, 2.5),
    "N=10, B=2, f=2, complete": ({}, 3.5),
    "the same, tell growth:0.1": ({"tell": "growth:0.1"}, 1.5),
    "N=10, B=2, f=2, q=.6 time-varying": ({"graph": "erdos-renyi:0.6", "time_varying": True}, 5.0),
    "N=10, q=.6 time-varying, memory 20": ({"graph": "erdos-renyi:0.6", "time_varying": True, "memory": 20}, None),
    "N=10, complete, adaptive": ({"attack": "adaptive"}, None),
    "N=10, complete, pooled": ({"filter": "pooled"}, None),
    "N=10, complete, screened, tuned": ({"filter": "screened", "policy": "tuned"}, None),
    "N=10, solo": ({"filter": "solo"}, None),
}


def rate(experiment, runs=3):
    """Agent-steps per second of one worker."""
    seconds = 0.0
    for run in range(runs):
        played = Run(experiment, run)
        began = time.perf_counter()
        played.advance(experiment.horizon)
        seconds += time.perf_counter() - began
    return runs * experiment.parts.agents * experiment.horizon / seconds


def main():
    print(f"{'set-up (4 arms, one worker)':<38} {'M steps/s':>9} {'bare':>6} {'ratio':>6} {'at most':>8}")
    for name, (settings, most) in SET_UPS.items():
        experiment = Experiment(**settings)
        rate(experiment, 1)
        bare, ours, ratio = alternate(lambda experiment=experiment: rate(experiment))
        print(f"{name:<38} {ours / 1e6:9.2f} {bare / 1e6:6.1f} {ratio:6.2f} {most or '':>8}", flush=True)


if __name__ == "__main__":
    main()
