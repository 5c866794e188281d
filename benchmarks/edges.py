"""Two edges: many agents with a large f on a complete graph, and many arms; agent-steps against the bare loop."""

import time

from benchmarks.yardstick import alternate
from byzmab import Experiment
from byzmab.simulation.single_run import Run

OURS = {"filter": "guarded", "policy": "moss", "attack": "extreme", "horizon": 100_000, "runs": 1}
SET_UPS = {  # settings, the round to begin with, rounds to measure
    "N=10 000, complete, B=f=100, 4 arms": ({"agents": 10_000, "byzantine": 100, "f": 100}, 20, 2),
    "N=10, complete, B=f=2, 1 000 arms": ({"arms": "random:1000"}, 1_500, 500),
}


def main():
    print(f"{'guarded, moss, extreme':<38} {'M steps/s':>9} {'bare':>6} {'ratio':>7}")
    for name, (settings, begin, rounds) in SET_UPS.items():
        experiment = Experiment(**{**OURS, **settings})
        played = Run(experiment, 0)
        played.advance(begin)

        def rate(played=played, rounds=rounds, agents=experiment.parts.agents):
            """Agent-steps per second, further on in the same run."""
            began = time.perf_counter()
            played.advance(played.state.time + rounds)
            return agents * rounds / (time.perf_counter() - began)

        bare, ours, ratio = alternate(rate, 5)
        print(f"{name:<38} {ours / 1e6:9.3f} {bare / 1e6:6.1f} {ratio:7.0f}", flush=True)


if __name__ == "__main__":
    main()
