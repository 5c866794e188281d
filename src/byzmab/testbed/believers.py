"""Believers: the network's agents once more, who average every consistent report, lies included.

They decide as often as the nodes, draw the same rewards, pull by pull of each arm, and are lied to by the same attack:
what the network would lose without its filter. With contexts they add up all statistics. What no honest agent can tell
they refuse, as nodes do. No process runs for them.
"""

import threading
import time
from contextlib import suppress
from typing import Any

from byzmab.core.agent import Agent
from byzmab.core.errors import BadInput
from byzmab.testbed.liar import AttackView
from byzmab.testbed.plan import AttackPlan, attack_time
from byzmab.testbed.rewards import stream_of

FILTER = "mean"  # averages everyone, and defends against nobody


class Believers:
    """One believer for each agent of a plan, in its order."""

    def __init__(self, plan: AttackPlan, policy: str, report_every: float) -> None:
        self._lock = threading.Lock()
        self._every, self._exchanged = report_every, time.monotonic()
        self._numbers = {name: number for number, name in enumerate(plan.agents)}
        self._graph = plan.graph
        numbers = range(len(plan.agents))
        self.rewards = [stream_of(plan, number) for number in numbers]
        self._agents = [shadow(plan, FILTER, policy, plan.seed + number + 1) for number in numbers]
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
            agent, rewards = self._agents[number], self.rewards[number]
            x = rewards.context
            arm = agent.select(x)
            agent.reward(arm, rewards.pull(self._arms[str(arm)]), x)

    def exchange(self) -> None:
        """Send all reports: honest agents send their tally, Byzantine agents what the attack makes up."""
        told = [agent.report() for agent in self._agents]
        if self._view is not None:
            plan = self._view.plan
            self._view.look({name: told[number] for name, number in self._numbers.items()})
            self._view.make_up(attack_time(told[self._numbers[plan.agents[0]]], plan))
        names = list(self._numbers)
        for receiver, senders in enumerate(self._graph):
            for sender in senders:
                with suppress(BadInput):
                    self._agents[receiver].hear(names[sender], self._report(told, names, sender, receiver))

    def _report(self, told: list[Any], names: list[str], sender: int, receiver: int) -> Any:
        if self._view is None or sender not in self._liars:
            return told[sender]
        return self._view.lie(names[sender], names[receiver])


def rehearse(plan: AttackPlan, policy: str) -> None:
    """Compile all that the shadows of a plan need, so that nobody waits for it when traffic has begun."""
    believers = Believers(plan, policy, 0.0)
    for _ in plan.arms:
        believers.decide(len(plan.agents) - 1)
    alone, rewards = shadow(plan, "solo", policy, 0), stream_of(plan, 0)
    for _ in range(len(plan.arms) + 1):
        x = rewards.context
        alone.reward(alone.select(x), 0.0, x)


def shadow(plan: AttackPlan, filter: str, policy: str, seed: int) -> Agent:
    """An agent of a plan's world that assumes no Byzantine agents."""
    decides, contexts = (plan.arms, 0, plan.kappa, filter, policy, seed), plan.contexts
    if contexts is None:
        return Agent(*decides)
    return Agent(*decides, context=contexts.d, ridge=contexts.ridge, shares=contexts.shares, vetting=False)
