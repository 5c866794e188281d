"""Believers: the network's agents once more, who average every consistent report, lies included.

They decide as often as the nodes, draw the same rewards, pull by pull of each arm, and are lied to by the same attack:
what the network would lose without its filter. No process runs for them.
"""

import threading
import time

from byzmab.core.agent import Agent
from byzmab.core.report import Report
from byzmab.testbed.liar import AttackPlan, AttackView
from byzmab.testbed.rewards import RewardStream

FILTER = "mean"  # averages everyone, and defends against nobody


class Believers:
    """One believer for each agent of a plan, in its order."""

    def __init__(self, plan: AttackPlan, policy: str, report_every: float) -> None:
        self._lock = threading.Lock()
        self._every, self._exchanged, self._rounds = report_every, time.monotonic(), 0
        self._numbers = {name: number for number, name in enumerate(plan.agents)}
        self._graph = plan.graph
        numbers = range(len(plan.agents))
        self.rewards = [RewardStream(plan.true_means, plan.seed, number) for number in numbers]
        self._agents = [Agent(plan.arms, 0, plan.kappa, FILTER, policy, plan.seed + number + 1) for number in numbers]
        self._arms = {arm: index for index, arm in enumerate(plan.arms)}
        self.use(plan)

    def use(self, plan: AttackPlan) -> None:
        """Be lied to by a plan from now on; it may name the agents in another order."""
        with self._lock:
            self._liars = {self._numbers[name] for name in plan.agents[: plan.byzantine]}
            self._view = AttackView(plan, plan.agents[0]) if self._liars else None

    def decide(self, number: int) -> None:
        """One decision of an agent, numbered from 0; reports are told in between as often as the nodes tell theirs."""
        with self._lock:
            if time.monotonic() >= self._exchanged + self._every:
                self._exchanged = time.monotonic()
                self.exchange()
            agent = self._agents[number]
            arm = agent.select()
            agent.reward(arm, self.rewards[number].pull(self._arms[str(arm)]))

    def exchange(self) -> None:
        """Everyone tells everyone whom it tells: honest ones their tally, liars what the attack makes up."""
        told = [agent.report() for agent in self._agents]
        if self._view is not None:
            named = {name: told[number] for name, number in self._numbers.items()}
            self._view.look(
                {name: (report.arms, report.pulls.tolist(), report.means.tolist()) for name, report in named.items()}
            )
            self._view.make_up(self._rounds)
        self._rounds += 1
        names = list(self._numbers)
        for receiver, senders in enumerate(self._graph):
            for sender in senders:
                self._agents[receiver].hear(names[sender], self._report(told, names, sender, receiver))

    def _report(self, told: list[Report], names: list[str], sender: int, receiver: int) -> Report:
        if self._view is None or sender not in self._liars:
            return told[sender]
        return self._view.lie(names[sender], names[receiver])
