"""The stage: lays out a board for one run of an experiment, and plays it."""

from typing import Any

import numpy as np

from byzmab.core import draws
from byzmab.core.board import FAULTS, Board
from byzmab.core.compiler import is_ours
from byzmab.core.crowd import FLOAT_ROWS, INTEGER_ROWS
from byzmab.core.errors import BadInput
from byzmab.core.report import Floats
from byzmab.simulation.density import can_be_dense, expected_edges, is_dense
from byzmab.simulation.engine import play, play_baseline, start
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.inbox import EDGES, FAULT, INBOXES, LIES

LIARS_KAPPA = 1.5  # of Byzantine agents where normal ones have a list
KEYS = {
    "reward_key": draws.REWARD,
    "policy_key": draws.POLICY,
    "graph_key": draws.GRAPH,
    "subset_key": draws.SUBSET,
    "attack_key": draws.ATTACK,
}


def grid_of(horizon: int, record: int) -> Any:
    """The rounds on which regret is recorded: about `record` of them, evenly spread, the last included."""
    return np.unique(np.linspace(0, horizon, min(record, horizon) + 1).round().astype(np.int64))[1:]


def draw_means(experiment: Experiment, run: int) -> Floats:
    """μ of a run: as given, or drawn and sorted decreasingly."""
    parts = experiment.parts
    if parts.means is not None:
        return np.array(parts.means)
    return np.sort(_uniforms(experiment, run, draws.ARMS, parts.arms))[::-1].copy()


def draw_kappas(experiment: Experiment, run: int) -> Floats:
    """κ of every agent in a run."""
    parts = experiment.parts
    if parts.kappas is None:
        return 1.0 + _uniforms(experiment, run, draws.KAPPA, parts.agents)
    listed = not isinstance(experiment.kappa, (int, float))
    liars = LIARS_KAPPA if listed or not parts.kappas else parts.kappas[0]
    return np.array((liars,) * experiment.byzantine + parts.kappas)


def _uniforms(experiment: Experiment, run: int, purpose: int, count: int) -> Floats:
    return draws.uniforms(draws.key_of(experiment.seed, run, purpose), count)


def bytes_of(experiment: Experiment) -> int:
    """About how much memory one run takes."""
    parts = experiment.parts
    agents, arms = parts.agents, parts.arms
    dense = is_dense(experiment)
    edges = expected_edges(experiment, dense) + agents
    lies = (expected_edges(experiment, False) + agents) * experiment.byzantine // agents
    memory = min(experiment.memory, experiment.horizon) if experiment.time_varying or experiment.subset else 0
    rows = agents * (memory + experiment.delay + 1) + lies * (memory + 1)
    lists = (8 if memory else 3) * min(edges * (memory + 1), agents * agents)
    recorded = agents * min(experiment.record, experiment.horizon)
    return 8 * int(2 * rows * arms + lists + 8 * agents * arms + recorded)


class Stage:
    """One run of an experiment, ready to be played."""

    def __init__(self, experiment: Experiment, run: int, dense: bool | None = None) -> None:
        """Lay out a run; `dense` says whether to order reports once for all, where it is not left to `is_dense`."""
        dense = is_dense(experiment) if dense is None else dense
        if dense and not can_be_dense(experiment):
            raise BadInput(
                "dense does not go with this experiment; allowed: filters with believe_dense on fixed graphs"
            )
        parts = experiment.parts
        agents, arms, byzantine = parts.agents, parts.arms, experiment.byzantine
        always_same = not experiment.time_varying and experiment.subset is None
        # the newest report is this round's where everyone is always heard, and none is older than the run
        memory = 0 if always_same else min(experiment.memory, experiment.horizon)
        history = memory + experiment.delay + 1
        notes = parts.attack.notes_shape(agents, arms, byzantine)
        grid = grid_of(experiment.horizon, experiment.record)
        baseline = parts.baseline
        believe = parts.filter.dense_loop if dense else parts.filter.loop
        own = (believe(), parts.policy.loop()) if baseline is None else (baseline.decide, baseline.update)
        self.loops = (parts.graph.loop(), parts.attack.loop(), *own)
        self._play: Any = play if baseline is None else play_baseline
        self._tells_tallies = history == 1 and baseline is None
        self.board = board = Board(
            agents=agents,
            arms=arms,
            voices=agents,
            byzantine=byzantine,
            f=parts.f,
            consistency=parts.filter.consistency and baseline is None,
            stale_when=parts.filter.stale_when,
            epoch=experiment.epoch,
            delay=experiment.delay,
            memory=memory,
            subset=experiment.subset or 0,
            time_varying=experiment.time_varying and parts.graph.random,
            graph_is_ours=is_ours(type(parts.graph).neighbours.py_func),
            hears=parts.filter.hears or baseline is not None,
            settled=always_same and history == 1 and experiment.epoch == 1,
            dense=dense,
            lists_edges=not dense or parts.attack.sees_edges,
            history=history,
            grid_size=grid.size,
            notes_rows=notes[0],
            notes_columns=notes[1],
            graph_knobs_size=len(parts.graph.knobs),
            attack_knobs_size=len(parts.attack.knobs),
        )
        self._lay_settings(experiment, run, grid, notes)
        self._lay_tallies()
        self._make_room_for_edges(expected_edges(experiment, dense) + agents)
        self._make_room_for_lies(expected_edges(experiment, False) * byzantine // agents + 1)
        start(board.record)
        if baseline is not None:
            baseline.begin(board)

    def play(self, until: int) -> None:
        """Play up to a round, making room where it runs out."""
        record = self.board.record
        while shortage := self._play_on(until):
            if shortage == FAULT:
                raise BadInput(FAULTS[int(record["fault"])])
            if shortage == EDGES:
                self._make_room_for_edges(2 * int(record["edge_room"]))
            elif shortage == INBOXES:
                self._make_room_for_inboxes(2 * int(record["heard_room"]))
            elif shortage == LIES:
                self._make_room_for_lies(2 * int(record["lie_room"]))

    def _play_on(self, until: int) -> int:
        try:
            return int(self._play(self.board.record, until, *self.loops))
        except Exception as error:  # nothing of ours raises there
            raise BadInput(f"a plug-in failed while it was played: {type(error).__name__}: {error}") from error

    def _lay_settings(self, experiment: Experiment, run: int, grid: Any, notes: tuple[int, int]) -> None:
        parts, board = experiment.parts, self.board
        for name, purpose in KEYS.items():
            board.record[name] = draws.key_of(experiment.seed, run, purpose)
        families = [parts.families[agent % len(parts.families)] for agent in range(parts.agents)]
        board.lay("truths", draw_means(experiment, run))
        board.lay("kappas", draw_kappas(experiment, run))
        board.lay("reward_kinds", [family.kind for family in families])
        board.lay("reward_knobs", [family.knob for family in families])
        board.lay("graph_knobs", parts.graph.knobs)
        board.lay("attack_knobs", parts.attack.knobs)
        board.lay("attack_notes", np.zeros(notes))
        board.lay("grid", grid)
        board.lay("third_ends", [experiment.horizon * third // 3 for third in (1, 2, 3)])

    def _lay_tallies(self) -> None:
        board = self.board
        agents, arms, history = (int(board.record[name]) for name in ("agents", "arms", "history"))
        normal = agents - int(board.record["byzantine"])
        for name in ("pulls", "means", "totals", "estimates", "weights", "doubts"):
            board.lay(name, np.zeros((agents, arms)))
        board.lay("last", np.zeros((history, agents)))
        board.lay("choices", np.zeros(agents))
        board.lay("reward_keys", np.zeros((agents, arms)))
        board.lay("policy_keys", np.zeros(agents))
        for name in ("heard_pulls", "heard_means"):
            board.lay(name, np.zeros(agents))
        for name in ("lie_pulls", "lie_means"):
            board.lay(name, np.zeros(arms))
        board.lay("rng", np.zeros(1))
        board.lay("regret", np.zeros((normal, int(board.record["grid_size"]))))
        board.lay("thirds", np.zeros((3, normal, arms)))
        for name in ("graph_starts", "fresh_starts", "heard_starts", "spare_starts", "unheard_starts"):
            board.lay(name, np.zeros(agents + 1))
        if board.record["dense"]:
            board.lay("by_pulls", np.tile(np.arange(agents - normal, agents), (arms, 1)))
            board.lay("crowd_floats", np.zeros((FLOAT_ROWS, agents + 2)))
            board.lay("crowd_integers", np.zeros((INTEGER_ROWS, agents + 2)))

    def _make_room_for_edges(self, room: int) -> None:
        """Room for the graph, for those heard now and, where nothing is remembered, for the inboxes: the same array."""
        board = self.board
        board.record["edge_room"] = room
        board.lay("graph", np.zeros(room, np.int64))
        if board.record["dense"]:
            board.lay("unheard", np.zeros(room, np.int64))
        if board.record["subset"]:
            board.lay("fresh", np.zeros(room))
        else:
            board.share("fresh", "graph")
            board.share("fresh_starts", "graph_starts")
        if board.record["memory"]:
            if "heard" not in board:
                self._make_room_for_inboxes(room)
        else:
            board.share("heard", "fresh")
            board.share("heard_starts", "fresh_starts")
            board.record["heard_room"] = room
            board.lay("heard_rows", np.zeros(room, np.int64))

    def _make_room_for_inboxes(self, room: int) -> None:
        """Room for remembered reports, with those that are there already."""
        self.board.record["heard_room"] = room
        for name in ("heard", "heard_at", "heard_rows"):
            self.board.stretch(name, room)
        for name in ("spare", "spare_at", "spare_rows"):
            self.board.lay(name, np.zeros(room))

    def _make_room_for_lies(self, room: int) -> None:
        """Room for lies behind the rows of honest reports: the tallies themselves, where those are told at once."""
        board = self.board
        board.record["lie_room"] = room
        rows = int(board.record["history"] * board.record["agents"]) + room
        board.stretch("free_rows", room)
        board.stretch("news", rows)
        for told, own in (("told_pulls", "pulls"), ("told_means", "means")):
            board.stretch(told, rows)
            if self._tells_tallies:
                board[told][: board.record["agents"]] = board[own]
                board.lay(own, board[told][: board.record["agents"]])
