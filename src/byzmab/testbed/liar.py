"""A node that lies over the wire, by any attack of the simulator: the same compiled function, equivocation included.

The attack sees what this node can know: the reports it heard, what is true and the graph; never the context that a
receiver sees next. An agent that it does not hear is imagined with its own pulls and contexts, and what is true.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from byzmab.attacks import World
from byzmab.attacks.contexts.world import ContextWorld
from byzmab.core import draws
from byzmab.core.contexts.model import ContextModel
from byzmab.core.contexts.reports import parts_of, row_of
from byzmab.core.contexts.statistics import hear
from byzmab.core.filters import FILTERS
from byzmab.core.liars import checked_f
from byzmab.core.policies import POLICIES
from byzmab.core.report import Floats, Report, Words
from byzmab.core.tallies import TALLIES
from byzmab.engine.audit import Past, audit, be_careful
from byzmab.experiment.parts import MOST
from byzmab.node.host import Host
from byzmab.testbed.plan import AttackPlan, ContextPlan, attack_time, compiled_attack, read_plan

EXPECTED = False  # whether silence gives a Byzantine agent away: not among nodes, whose reports may be lost
Rows = list[dict[int, int]]  # the row of each report, by receiver and sender


class TallyScene:
    """The world as an attack sees it where rewards depend on the arm alone, and the lies made up in it."""

    model = TALLIES

    def __init__(self, plan: AttackPlan, rows_of: Rows, count: int) -> None:
        self._attack, agents, arms = compiled_attack(plan), len(plan.agents), len(plan.arms)
        filter, policy = FILTERS.resolve(plan.filter), POLICIES.resolve(plan.policy)
        self._lie_to = type(self._attack).lie_against(filter.played("believe"), type(policy).choose)
        table, edges = np.zeros((self.model.row_size, count, arms)), plan.byzantine * agents
        self.rows, self._told, self._lie = table.transpose(1, 2, 0), Report(*table), Report(*np.zeros((2, arms)))
        self.past = Past(np.zeros((edges, arms)), np.zeros((edges, arms)), np.zeros(edges), np.zeros(edges, np.int64))
        scratch = np.zeros(self._attack.scratch_shape(agents, arms, plan.byzantine))
        self._own = np.array(self._attack.params, np.float64), scratch
        self._true_means = np.array(plan.true_means, np.float64)
        senders = np.array([sender for senders in plan.graph for sender in senders], np.int64)
        starts = np.cumsum([0, *map(len, plan.graph)])
        self._world = World(
            0,
            self._told.pulls[:agents],
            self._told.means[:agents],
            np.full(agents, -1),  # unknown: nobody tells which arm it pulled last
            self._true_means,
            int(np.argmax(plan.true_means)),
            np.tile(self._true_means, (agents, 1)),
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
            np.array([row for rows in rows_of for row in rows.values()], np.int64),
            self._told,
            np.array(filter.params, np.float64),
            np.array(policy.params, np.float64),
            0.0,  # what receivers have measured is not known: they are taken for agents that are alike
            np.zeros(agents),
            np.empty((agents, 0)),
            bool(self._attack.careful),
            self.past.pulls,
            self.past.totals,
        )

    def imagine(self, row: Floats, arm: int) -> Any:
        """The row of an arm of an agent that tells nothing, from one's own."""
        return row[0], self._true_means[arm]

    def start_run(self, time: int, rng: Words) -> None:
        """Draw what all lies share."""
        type(self._attack).start_run(self._world._replace(time=time), *self._own, rng)

    def start_round(self, time: int, rng: Words) -> None:
        """Draw what all lies of a round share."""
        self._world = self._world._replace(time=time)
        type(self._attack).start_round(self._world, *self._own, rng)

    def lie(self, sender: int, receiver: int, row: int, rng: Words) -> None:
        """Make up what a Byzantine agent tells a receiver, and write it into a row."""
        lie, edge, time = self._lie, receiver * self._world.byzantine + sender, self._world.time
        self._lie_to(self._world, sender, receiver, *self._own, rng, lie)
        if self._attack.careful:
            be_careful(self.past, edge, lie, EXPECTED, time)
        speaks = (lie.pulls > 0.0) & np.isfinite(lie.means)
        self.rows[row] = np.where(speaks[:, None], self.model.read(lie), 0.0)
        told = self._told.pulls[row], self._told.means[row]
        audit(self.past, edge, *told, EXPECTED, time, True)  # writes down what passes


class ContextScene:
    """The world as an attack sees it where rewards depend on contexts, and the lies made up in it."""

    past = None  # no Byzantine agent is careful here

    def __init__(self, plan: AttackPlan, contexts: ContextPlan, count: int) -> None:
        self._attack, agents, arms, d = compiled_attack(plan), len(plan.agents), len(plan.arms), contexts.d
        self.model = ContextModel(d, contexts.ridge)
        self.rows = np.zeros((count, arms, self.model.row_size))
        scratch = np.zeros(self._attack.scratch_shape_at(arms, d))
        self._own = np.array(self._attack.params, np.float64), scratch
        self._world = ContextWorld(
            0,
            self.rows[:agents],
            np.full((agents, d), np.nan),  # unknown: they come after the report
            np.full((agents, arms), np.nan),
            np.zeros((agents, d)),
            np.array(contexts.parameters),
            np.array(contexts.constant),
            plan.byzantine,
            contexts.ridge,
        )

    def imagine(self, row: Floats, arm: int) -> Any:
        """The row of an arm of an agent that tells nothing, from one's own."""
        (_,), (gram,) = parts_of(row[None], self.model.dimensions)
        return row_of(row[0], gram @ self._world.parameters[arm], gram, self.model.ridge)

    def start_run(self, time: int, rng: Words) -> None:
        """Draw nothing: with contexts, no attack draws anything for the run."""

    def start_round(self, time: int, rng: Words) -> None:
        """Draw what all lies of a round share."""
        for agent, rows in enumerate(self._world.statistics):
            _, grams = parts_of(rows, self.model.dimensions)
            self._world.context_totals[agent] = grams.sum(axis=0) @ self._world.constant  # Σ x xᵀc, and xᵀc is 1
        self._world = self._world._replace(time=time)
        type(self._attack).start_round_at(self._world, *self._own, rng)

    def lie(self, sender: int, receiver: int, row: int, rng: Words) -> None:
        """Make up what a Byzantine agent tells a receiver, and write it into a row."""
        lie = self.rows[row]
        lie[:] = 0.0
        type(self._attack).lie_at(self._world, sender, receiver, *self._own, rng, lie)
        for numbers in lie:  # what follows from a receiver that has told nothing yet is no number: silence
            hear(numbers, self.model.dimensions, self.model.ridge)


class AttackView:
    """The lies that an attack makes up for a plan, as one Byzantine agent knows its world."""

    def __init__(self, plan: AttackPlan, name: str) -> None:
        self.plan, self.me = plan, plan.agents.index(name)
        self._rows_of, count = hand_out_rows(plan)
        contexts = plan.contexts
        self._scene = (
            TallyScene(plan, self._rows_of, count) if contexts is None else ContextScene(plan, contexts, count)
        )
        self._rng, self._key = np.zeros(1, np.uint64), draws.key_of(plan.seed, 0, draws.ATTACK)
        self._begun = False

    def go_on_from(self, told: dict[tuple[str, str], tuple[Any, Any]], own: Any) -> None:
        """Be careful about what was told before: under the former plan, and by this node while it was honest."""
        if self._scene.past is None:
            return
        tally = self._by_arm(own)
        pulls, means = np.array([tally.get(arm, (0.0, 0.0)) for arm in self.plan.arms]).T
        for sender, receiver, _ in self._lies():
            names, edge = (self.plan.agents[sender], self.plan.agents[receiver]), self._edge(sender, receiver)
            known = told.get(names, (pulls, pulls * means) if sender == self.me else None)
            if known is not None:
                self._scene.past.pulls[edge], self._scene.past.totals[edge] = known
                self._scene.past.used[edge] = known[0].sum()

    def told(self) -> dict[tuple[str, str], tuple[Any, Any]]:
        """Counts and sums of rewards that careful Byzantine agents told last, by the names of sender and receiver."""
        past, agents = self._scene.past, self.plan.agents
        if past is None:
            return {}
        edges = {
            (agents[sender], agents[receiver]): self._edge(sender, receiver) for sender, receiver, _ in self._lies()
        }
        return {names: (past.pulls[edge], past.totals[edge]) for names, edge in edges.items() if past.pulls[edge].any()}

    def play(self, host: Host) -> None:
        """Look at the world as the host knows it now, and make up the lies of this round."""
        heard = {name: word.report for name, word in host.heard.items()}
        mine: Any = host.agent.report()
        self.look({**heard, self.plan.agents[self.me]: mine})
        self.make_up(attack_time(mine, self.plan))

    def look(self, told: Mapping[str, Any]) -> None:
        """Look at the reports of agents; one that tells nothing is imagined. Arms are known by name, to the plan."""
        scene, mine = self._scene, self._by_arm(told[self.plan.agents[self.me]])
        nothing = np.zeros(scene.model.row_size)
        for agent, name in enumerate(self.plan.agents):
            rows = self._by_arm(told[name]) if name in told else None
            for index, arm in enumerate(self.plan.arms):
                imagined = scene.imagine(mine.get(arm, nothing), index) if rows is None else nothing
                scene.rows[agent, index] = imagined if rows is None else rows.get(arm, nothing)

    def make_up(self, time: int) -> None:
        """Make up what every Byzantine agent tells everyone at a time."""
        scene, rng = self._scene, self._rng
        if not self._begun:
            rng[0] = self._key
            scene.start_run(time, rng)
        self._begun = True
        rng[0] = key = draws.key_within(self._key, time)
        scene.start_round(time, rng)
        for sender, receiver, row in self._lies():
            rng[0] = draws.key_within(key, 1 + sender * len(self.plan.agents) + receiver)
            scene.lie(sender, receiver, row, rng)

    def lie_to(self, name: str) -> Any:
        """What was made up for one agent."""
        return self.lie(self.plan.agents[self.me], name)

    def lie(self, sender: str, receiver: str) -> Any:
        """What a Byzantine agent sends to one agent, as made up; from an agent that lies no more, its own numbers."""
        agents = self.plan.agents
        rows, number = self._rows_of[agents.index(receiver)], agents.index(sender)
        return self._scene.model.tell(self._scene.rows[rows.get(number, number)], self.plan.arms)

    def _by_arm(self, report: Any) -> dict[str, Floats]:
        """The rows of a report by the names of arms."""
        return dict(zip(map(str, report.arms), self._scene.model.read(report), strict=True))

    def _edge(self, sender: int, receiver: int) -> int:
        """The number of a Byzantine agent and a receiver."""
        return receiver * self.plan.byzantine + sender

    def _lies(self) -> Iterator[tuple[int, int, int]]:
        """Sender, receiver and row of every lie."""
        for receiver, rows in enumerate(self._rows_of):
            for sender, row in rows.items():
                if sender < self.plan.byzantine:
                    yield sender, receiver, row


def hand_out_rows(plan: AttackPlan) -> tuple[Rows, int]:
    """The row of each report: an agent's own if it is honest, one per lie otherwise; and how many rows there are."""
    free = len(plan.agents)
    rows: Rows = []
    for senders in plan.graph:
        rows.append({})
        for sender in senders:
            rows[-1][sender] = sender if sender >= plan.byzantine else free
            free += sender < plan.byzantine
    return rows, free


class Liar:
    """The `ReportFor` of a host that lies: another report for every neighbour, all of one version."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._stamp, self._view = self._read()
        self._played = (0, 0)  # epoch and seq of the lies at hand

    def __call__(self, host: Host, neighbour: str) -> Any:
        """The report that a neighbour is told now."""
        if self._played != (host.epoch, host.seq):
            if self._path.stat().st_mtime_ns != self._stamp:
                before = self._view.told()
                self._stamp, self._view = self._read()
                self._view.go_on_from(before, host.agent.report())
            self._view.play(host)
            self._played = (host.epoch, host.seq)
        return self._view.lie_to(neighbour)

    def _read(self) -> tuple[int, AttackView]:
        stamp = self._path.stat().st_mtime_ns
        return stamp, AttackView(read_plan(self._path), self._name)
