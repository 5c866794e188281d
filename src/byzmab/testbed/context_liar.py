"""What a liar tells over the wire where rewards depend on contexts: the simulator's attacks, on what it can know.

That is the reports it heard, the true parameters and the graph; never the context that a receiver sees next. An agent
that it does not hear is imagined with its own pulls and contexts, and the true parameters.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from byzmab.attacks.contexts.world import ContextWorld
from byzmab.core import draws
from byzmab.core.contexts.reports import ContextReport, parts_of, row_of
from byzmab.core.contexts.statistics import hear, row_size
from byzmab.core.report import Floats
from byzmab.node.host import Host
from byzmab.testbed.plan import AttackPlan, ContextPlan, attack_time, compiled_attack


class ContextView:
    """The world as an attack sees it, and the lies it makes up in it, for one liar."""

    def __init__(self, plan: AttackPlan, contexts: ContextPlan, name: str) -> None:
        self.plan, self.contexts = plan, contexts
        self.me = plan.agents.index(name)
        self._attack = compiled_attack(plan)
        agents, arms, d = len(plan.agents), len(plan.arms), contexts.d
        self._lies: dict[tuple[int, int], Floats] = {}  # by sender and receiver: arms × numbers
        self._params = np.array(self._attack.params, np.float64)
        self._scratch = np.zeros(self._attack.scratch_shape_at(arms, d))
        self._rng, self._key = np.zeros(1, np.uint64), draws.key_of(plan.seed, 0, draws.ATTACK)
        self._world = ContextWorld(
            0,
            np.zeros((agents, arms, row_size(d))),
            np.full((agents, d), np.nan),  # unknown: they come after the report
            np.full((agents, arms), np.nan),
            np.zeros((agents, d)),
            np.array(contexts.parameters),
            np.array(contexts.constant),
            plan.byzantine,
            contexts.ridge,
        )

    def go_on_from(self, told: dict[tuple[str, str], tuple[Any, Any]], own: Any) -> None:
        """Nothing: with contexts there are no careful liars."""

    def told(self) -> dict[tuple[str, str], tuple[Any, Any]]:
        """Nothing that a later plan would have to go on from."""
        return {}

    def play(self, host: Host) -> None:
        """Look at the world as the host knows it now, and make up the lies of this round."""
        heard = {name: word.report for name, word in host.heard.items()}
        mine: Any = host.agent.report()
        self.look({**heard, self.plan.agents[self.me]: mine})
        self.make_up(attack_time(mine, self.plan))

    def look(self, told: Mapping[str, Any]) -> None:
        """Look at the reports of agents; one that tells nothing is imagined. Arms are known by name, to the plan."""
        world, mine = self._world, told[self.plan.agents[self.me]]
        for agent, name in enumerate(self.plan.agents):
            report = told.get(name, mine)
            rows = {str(arm): row for arm, *row in zip(report.arms, *report[:3], strict=True)}
            world.statistics[agent] = 0.0
            for arm, known in enumerate(self.plan.arms):
                if known in rows:
                    pulls, moment, gram = rows[known]
                    moment = moment if name in told else gram @ world.parameters[arm]
                    world.statistics[agent, arm] = row_of(pulls, moment, gram, self.contexts.ridge)
            _, grams = parts_of(world.statistics[agent], self.contexts.d)
            world.context_totals[agent] = grams.sum(axis=0) @ world.constant  # Σ x xᵀc, and xᵀc is 1

    def make_up(self, time: int) -> None:
        """Make up what every liar tells everyone at a time."""
        world, own = self._world._replace(time=time), (self._params, self._scratch, self._rng)
        attack, shape = type(self._attack), world.statistics.shape[1:]
        self._rng[0] = key = draws.key_within(self._key, time)
        attack.start_round_at(world, *own)
        for receiver, senders in enumerate(self.plan.graph):
            for sender in senders:
                if sender < self.plan.byzantine:
                    lie = self._lies[sender, receiver] = np.zeros(shape)
                    self._rng[0] = draws.key_within(key, 1 + sender * len(self.plan.agents) + receiver)
                    attack.lie_at(world, sender, receiver, *own, lie)
                    for row in lie:  # what follows from a receiver that has told nothing yet is no number: silence
                        hear(row, self.contexts.d, self.contexts.ridge)

    def lie_to(self, name: str) -> ContextReport:
        """What was made up for one agent."""
        return self.lie(self.plan.agents[self.me], name)

    def lie(self, sender: str, receiver: str) -> ContextReport:
        """What was made up for one agent, to be told by a liar; by who lies no more, its own statistics."""
        agents = self.plan.agents
        teller = agents.index(sender)
        lies = teller < self.plan.byzantine
        rows = self._lies[teller, agents.index(receiver)] if lies else self._world.statistics[teller]
        return ContextReport(rows[:, 0].copy(), *parts_of(rows, self.contexts.d), self.plan.arms)
