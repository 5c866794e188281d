"""A node that lies over the wire, by any attack of the simulator: the same compiled function, equivocation included.

The attack sees what this node can know: the reports it heard, the true means and the graph. An agent that it does not
hear is imagined with its own pulls and the true means.
"""

from pathlib import Path

import msgspec
import numpy as np

from byzmab.attacks import ATTACKS, Attack
from byzmab.core import draws
from byzmab.core.board import EVERY_ROUND, Board
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.report import Report
from byzmab.node.host import Host


class AttackPlan(msgspec.Struct, frozen=True):
    """What the liars of a testbed are agreed on."""

    attack: str
    byzantine: int  # the first so many agents lie
    agents: tuple[str, ...]  # names, which are the same for all
    graph: tuple[tuple[int, ...], ...]  # whom each agent hears, numbered from 0, ascending
    truths: tuple[float, ...]  # μ, in the order of `arms`
    arms: tuple[str, ...]
    f: int
    kappa: float
    filter: str
    seed: int = 0


def read_plan(path: Path) -> AttackPlan:
    """The plan in a file, or BadInput."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=AttackPlan)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"attack plan {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None


def write_plan(plan: AttackPlan, path: Path) -> None:
    """Write a plan, whole or not at all; a running liar follows it from its next report on."""
    new = path.with_suffix(".new")
    new.write_bytes(msgspec.json.encode(plan))
    new.replace(path)


class AttackView:
    """What one liar can know, laid out for the compiled attack."""

    def __init__(self, plot: AttackPlan, name: str) -> None:
        attack: Attack = ATTACKS.resolve(plot.attack)
        self.plot = plot
        self.me = plot.agents.index(name)
        self._loop = attack.loop()
        agents, arms = len(plot.agents), len(plot.arms)
        notes = attack.notes_shape(agents, arms, plot.byzantine)
        starts = np.cumsum([0, *map(len, plot.graph)])
        heard = [sender for senders in plot.graph for sender in senders]
        lies = sum(sender < plot.byzantine for sender in heard)
        self._rows = self._hand_out_rows()
        self.board = board = Board(
            agents=agents,
            arms=arms,
            byzantine=plot.byzantine,
            f=plot.f,
            consistency=FILTERS.resolve(plot.filter).consistency,
            stale_when=EVERY_ROUND,
            history=1,
            edge_room=len(heard),
            heard_room=len(heard),
            lie_room=lies,
            attack_knobs_size=len(attack.knobs),
            notes_rows=notes[0],
            notes_columns=notes[1],
        )
        board.record["attack_key"] = draws.key_of(plot.seed, 0, draws.ATTACK)
        for table in ("told_pulls", "told_means"):
            board.lay(table, np.zeros((agents + lies, arms)))
        for starting, listed in (("fresh_starts", "fresh"), ("heard_starts", "heard")):
            board.lay(starting, starts)
            board.lay(listed, heard)
        board.lay("heard_rows", [row for rows in self._rows for row in rows.values()])
        board.lay("heard_at", np.zeros(len(heard)))
        board.lay("news", np.zeros(agents + lies))
        board.lay("last", np.full(agents, -1))  # unknown: nobody tells which arm it pulled last
        board.lay("truths", plot.truths)
        board.lay("kappas", np.full(agents, plot.kappa))
        board.lay("attack_knobs", attack.knobs)
        board.lay("attack_notes", np.zeros(notes))
        board.lay("lie_pulls", np.zeros(arms))
        board.lay("lie_means", np.zeros(arms))
        board.lay("rng", [0])

    def _hand_out_rows(self) -> list[dict[int, int]]:
        """The row of each report, by receiver and sender: an agent's own if it is honest, one per lie otherwise."""
        free = len(self.plot.agents)
        rows: list[dict[int, int]] = []
        for senders in self.plot.graph:
            rows.append({})
            for sender in senders:
                rows[-1][sender] = sender if sender >= self.plot.byzantine else free
                free += sender < self.plot.byzantine
        return rows

    def play(self, host: Host) -> None:
        """Look at the world as the host knows it now, and make up the lies of this round."""
        self._look(host)
        record = self.board.record
        record["sent"] = host.seq - 1  # the first word tells of time 0
        self._loop(record)
        record["begun"] = 1

    def _look(self, host: Host) -> None:
        pulls, means = self.board["told_pulls"], self.board["told_means"]
        mine = host.agent.report()
        told = {name: (word.arms, word.pulls, word.means) for name, word in host.heard.items()}
        told[self.plot.agents[self.me]] = ([*map(str, mine.arms)], mine.pulls.tolist(), mine.means.tolist())
        own = dict(zip(mine.arms, mine.pulls, strict=True))
        for agent, name in enumerate(self.plot.agents):
            arms, counts, averages = told.get(name, ([], [], []))
            known = dict(zip(arms, zip(counts, averages, strict=True), strict=True))
            for place, arm in enumerate(self.plot.arms):
                imagined = (own.get(arm, 0.0), self.plot.truths[place]) if name not in told else (0.0, 0.0)
                pulls[agent, place], means[agent, place] = known.get(arm, imagined)

    def lie_to(self, name: str) -> Report:
        """What was made up for one agent."""
        row = self._rows[self.plot.agents.index(name)][self.me]
        board = self.board
        return Report(board["told_pulls"][row].copy(), board["told_means"][row].copy(), self.plot.arms)


class Liar:
    """The `ReportFor` of a host that lies: another report for every neighbour, all of one version."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._stamp, self._scene = self._stage()
        self._played = (0, 0)  # epoch and seq of the lies at hand

    def __call__(self, host: Host, neighbour: str) -> Report:
        """What to tell a neighbour now."""
        if self._played != (host.epoch, host.seq):
            if self._path.stat().st_mtime_ns != self._stamp:
                self._stamp, self._scene = self._stage()
            self._scene.play(host)
            self._played = (host.epoch, host.seq)
        return self._scene.lie_to(neighbour)

    def _stage(self) -> tuple[int, AttackView]:
        stamp = self._path.stat().st_mtime_ns
        return stamp, AttackView(read_plan(self._path), self._name)
