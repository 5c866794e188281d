"""One live agent with nine neighbours: decisions per second in process."""

import time

import numpy as np

from byzmab import Agent, Report


def main():
    agent = Agent(4, f=2)
    for neighbour in range(9):
        agent.hear(neighbour, Report(np.full(4, 50.0), np.array([0.5, 0.45, 0.4, 0.3])))
    for count in (1_000, 50_000):
        began = time.perf_counter()
        for _ in range(count):
            agent.reward(agent.select(), 0.5)
        elapsed = time.perf_counter() - began
    print(f"Agent.select + reward, 9 neighbours: {count / elapsed / 1e3:.0f} k/s (aim 50)")


if __name__ == "__main__":
    main()
