"""One live agent with nine neighbours: decisions per second in process, against the bare loop."""

import time

import numpy as np

from benchmarks.yardstick import alternate
from byzmab import Agent, Report


def rate(agent, count=20_000):
    """Decisions, each with its reward, per second."""
    began = time.perf_counter()
    for _ in range(count):
        agent.reward(agent.select(), 0.5)
    return count / (time.perf_counter() - began)


def main():
    agent = Agent(4, f=2)
    for neighbour in range(9):
        agent.hear(neighbour, Report(np.full(4, 50.0), np.array([0.5, 0.45, 0.4, 0.3])))
    rate(agent, 1_000)
    _, ours, ratio = alternate(lambda: rate(agent))
    print(f"Agent.select + reward, 9 neighbours: {ours / 1e3:.0f} k/s (aim 100), as long as {ratio:.0f} bare steps")


if __name__ == "__main__":
    main()
