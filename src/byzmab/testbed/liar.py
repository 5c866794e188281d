"""A node that lies over the wire, by any attack of the simulator: the same compiled function, equivocation included.

The attack sees what this node can know: the reports it heard, the true means and the graph. An agent that it does not
hear is imagined with its own pulls and the true means.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from byzmab.attacks import World
from byzmab.core import draws
from byzmab.core.contexts.reports import ContextReport
from byzmab.core.filters import FILTERS
from byzmab.core.liars import checked_f
from byzmab.core.policies import POLICIES
from byzmab.core.report import Report
from byzmab.engine.audit import Past, audit, be_careful
from byzmab.experiment.parts import MOST
from byzmab.node.host import Host
from byzmab.testbed.context_liar import ContextView
from byzmab.testbed.plan import AttackPlan, attack_time, compiled_attack, read_plan

EXPECTED = False  # whether silence gives a liar away: not among nodes, whose reports may be lost


class AttackView:
    """The world as an attack sees it, and the lies it makes up in it, for one liar."""

    def __init__(self, plan: AttackPlan, name: str) -> None:
        attack = compiled_attack(plan)
        self.plan = plan
        self.me = plan.agents.index(name)
        self._attack = attack
        filter, policy = FILTERS.resolve(plan.filter), POLICIES.resolve(plan.policy)
        self._lie_to = type(attack).lie_against(filter.played("believe"), type(policy).choose)
        agents, arms = len(plan.agents), len(plan.arms)
        self._rows = self._hand_out_rows()
        rows = agents + sum(sender < plan.byzantine for senders in plan.graph for sender in senders)
        starts = np.cumsum([0, *map(len, plan.graph)])
        senders = np.array([sender for senders in plan.graph for sender in senders], np.int64)
        self._told = Report(np.zeros((rows, arms)), np.zeros((rows, arms)))
        self._lie = Report(np.zeros(arms), np.zeros(arms))
        edges = plan.byzantine * agents
        self._past = Past(np.zeros((edges, arms)), np.zeros((edges, arms)), np.zeros(edges, np.int64))
        self._params = np.array(attack.params, np.float64)
        self._scratch = np.zeros(attack.scratch_shape(agents, arms, plan.byzantine))
        self._rng, self._key = np.zeros(1, np.uint64), draws.key_of(plan.seed, 0, draws.ATTACK)
        self._begun = False
        self._world = World(
            0,
            self._told.pulls[:agents],
            self._told.means[:agents],
            np.full(agents, -1),  # unknown: nobody tells which arm it pulled last
            np.array(plan.true_means, np.float64),
            int(np.argmax(plan.true_means)),
            np.tile(np.array(plan.true_means, np.float64), (agents, 1)),
            np.full(agents, np.argmax(plan.true_means), np.int64),
            plan.byzantine,
            checked_f(plan.f, MOST),
            np.array([len(senders) for senders in plan.graph], np.int64),
            np.full(agents, plan.kappa),
            bool(filter.consistency),
            starts,
            senders,
            starts,
            senders,
            np.array([row for rows in self._rows for row in rows.values()], np.int64),
            self._told,
            np.array(filter.params, np.float64),
            np.array(policy.params, np.float64),
            bool(attack.careful),
            self._past.pulls,
            self._past.totals,
        )

    def _edge(self, sender: int, receiver: int) -> int:
        """The row of a liar and a receiver in what was told last."""
        return sender * len(self.plan.agents) + receiver

    def go_on_from(self, told: dict[tuple[str, str], tuple[Any, Any]], own: Report) -> None:
        """Be careful about what was told before: under the former plan, and by this node while it was honest."""
        agents, (arms, counts, averages) = self.plan.agents, own.as_rows()
        tally = dict(zip(map(str, arms), zip(counts, averages, strict=True), strict=True))
        pulls, means = np.array([tally.get(arm, (0.0, 0.0)) for arm in self.plan.arms]).T
        for receiver, rows in enumerate(self._rows):
            for sender in rows:
                known = told.get((agents[sender], agents[receiver]))
                if known is None and sender == self.me:
                    known = pulls, pulls * means
                if known is not None and sender < self.plan.byzantine:
                    edge = self._edge(sender, receiver)
                    self._past.pulls[edge], self._past.totals[edge] = known

    def told(self) -> dict[tuple[str, str], tuple[Any, Any]]:
        """Counts and sums of rewards that careful liars told last, by the names of sender and receiver."""
        agents = self.plan.agents
        edges = {
            (agents[sender], agents[receiver]): self._edge(sender, receiver)
            for receiver, rows in enumerate(self._rows)
            for sender in rows
            if sender < self.plan.byzantine
        }
        past = self._past
        return {names: (past.pulls[edge], past.totals[edge]) for names, edge in edges.items() if past.pulls[edge].any()}

    def _hand_out_rows(self) -> list[dict[int, int]]:
        """The row of each report, by receiver and sender: an agent's own if it is honest, one per lie otherwise."""
        free = len(self.plan.agents)
        rows: list[dict[int, int]] = []
        for senders in self.plan.graph:
            rows.append({})
            for sender in senders:
                rows[-1][sender] = sender if sender >= self.plan.byzantine else free
                free += sender < self.plan.byzantine
        return rows

    def play(self, host: Host) -> None:
        """Look at the world as the host knows it now, and make up the lies of this round."""
        heard = {name: word.report for name, word in host.heard.items()}
        mine: Any = host.agent.report()
        self.look({**heard, self.plan.agents[self.me]: mine})
        self.make_up(attack_time(mine, self.plan))

    def make_up(self, time: int) -> None:
        """Make up what every liar tells everyone at a time."""
        world = self._world._replace(time=time)
        attack, own = type(self._attack), (self._params, self._scratch, self._rng)
        if not self._begun:
            self._rng[0] = self._key
            attack.start_run(world, *own)
        self._begun = True
        key = draws.key_within(self._key, world.time)
        self._rng[0] = key
        attack.start_round(world, *own)
        for receiver, rows in enumerate(self._rows):
            for sender, row in rows.items():
                if sender < self.plan.byzantine:
                    self._rng[0] = draws.key_within(key, 1 + sender * len(self.plan.agents) + receiver)
                    self._lie_to(world, sender, receiver, *own, self._lie)
                    edge = self._edge(sender, receiver)
                    if self._attack.careful:
                        be_careful(self._past, edge, self._lie, EXPECTED)
                    silent = ~((self._lie.pulls > 0.0) & np.isfinite(self._lie.means))
                    self._told.pulls[row] = np.where(silent, 0.0, self._lie.pulls)
                    self._told.means[row] = np.where(silent, 0.0, self._lie.means)
                    told = self._told.pulls[row], self._told.means[row]
                    audit(self._past, edge, *told, EXPECTED)  # writes down what passes

    def look(self, told: Mapping[str, Any]) -> None:
        """Look at the reports of agents; one that tells nothing is imagined with one's own pulls and the true means."""
        pulls, means = self._told.pulls, self._told.means
        arms, counts, _ = told[self.plan.agents[self.me]].as_rows()
        own = dict(zip(map(str, arms), counts, strict=True))
        for agent, name in enumerate(self.plan.agents):
            arms, counts, averages = told[name].as_rows() if name in told else ([], [], [])
            known = dict(zip(map(str, arms), zip(counts, averages, strict=True), strict=True))
            for index, arm in enumerate(self.plan.arms):
                imagined = (own.get(arm, 0.0), self.plan.true_means[index]) if name not in told else (0.0, 0.0)
                pulls[agent, index], means[agent, index] = known.get(arm, imagined)

    def lie_to(self, name: str) -> Report:
        """What was made up for one agent."""
        return self.lie(self.plan.agents[self.me], name)

    def lie(self, sender: str, receiver: str) -> Report:
        """What was made up for one agent, to be told by a liar."""
        agents = self.plan.agents
        row = self._rows[agents.index(receiver)][agents.index(sender)]
        return Report(self._told.pulls[row].copy(), self._told.means[row].copy(), self.plan.arms)


class Liar:
    """The `ReportFor` of a host that lies: another report for every neighbour, all of one version."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._stamp, self._scene = self._stage()
        self._played = (0, 0)  # epoch and seq of the lies at hand

    def __call__(self, host: Host, neighbour: str) -> Report | ContextReport:
        """What to tell a neighbour now."""
        if self._played != (host.epoch, host.seq):
            if self._path.stat().st_mtime_ns != self._stamp:
                before = self._scene.told()
                self._stamp, self._scene = self._stage()
                self._scene.go_on_from(before, host.agent.report())
            self._scene.play(host)
            self._played = (host.epoch, host.seq)
        return self._scene.lie_to(neighbour)

    def _stage(self) -> tuple[int, AttackView | ContextView]:
        stamp = self._path.stat().st_mtime_ns
        return stamp, view_of(read_plan(self._path), self._name)


def view_of(plan: AttackPlan, name: str) -> AttackView | ContextView:
    """The world as a plan's attack sees it, for one liar."""
    return AttackView(plan, name) if plan.contexts is None else ContextView(plan, plan.contexts, name)
