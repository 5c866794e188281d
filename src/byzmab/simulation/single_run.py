"""One run of an experiment: its state set up, then advanced."""

from collections.abc import Sequence

import numpy as np

from byzmab.core import draws
from byzmab.core.compiler import is_ours
from byzmab.core.errors import BadInput
from byzmab.core.forgetting import ALL, Forgetting
from byzmab.core.liars import FROM_NEIGHBOURS
from byzmab.core.report import Floats
from byzmab.engine.deliver import EDGES, INBOXES, LIES
from byzmab.engine.dense import FLOAT_ROWS, INTEGER_ROWS, SPARE
from byzmab.engine.pull import first_pulls, kinds_of
from byzmab.engine.state import FAULTS, NetworkState
from byzmab.engine.tell import NOT_KEPT, PER_EDGE, PER_SENDER
from byzmab.rewards.base import Rewards
from byzmab.simulation.density import can_be_dense, expected_edges, is_dense, is_digested
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.listening import is_redrawn, listens
from byzmab.simulation.loops import PULL, loop_over_rounds, loops_of
from byzmab.simulation.sizes import expected_lies, grid_of, is_always_same, rows_to_keep
from byzmab.simulation.true_means import set_means

EVER = ("pulls", "totals", "means")  # of tallies, of which all is counted even where they forget
LIARS_KAPPA = 1.5  # of Byzantine agents where normal ones have a list
KEYS = {
    "reward_key": draws.REWARD,
    "policy_key": draws.POLICY,
    "graph_key": draws.GRAPH,
    "subset_key": draws.SUBSET,
    "attack_key": draws.ATTACK,
}
PARAMETERIZED = {"graph": "placed", "attack": "attack", "filter": "filter", "policy": "policy"}  # and their parts


def draw_kappas(experiment: Experiment, run: int) -> Floats:
    """κ of every agent in a run."""
    parts = experiment.parts
    if parts.kappas is None:
        return 1.0 + _uniforms(experiment, run, draws.KAPPA, parts.agents)[list(parts.order)]
    listed = not isinstance(experiment.kappa, (int, float))
    liars = LIARS_KAPPA if listed or not parts.kappas else parts.kappas[0]
    return np.array((liars,) * experiment.parts.byzantine + parts.kappas)


def _uniforms(experiment: Experiment, run: int, purpose: int, count: int) -> Floats:
    return draws.uniforms(draws.key_of(experiment.seed, run, purpose), count)


class Run:
    """One run of an experiment: `advance` it, and read its `state`."""

    def __init__(self, experiment: Experiment, run: int, dense: bool | None = None) -> None:
        """Set up a run; `dense` says whether to order reports once for all, where it is not left to `is_dense`."""
        dense = is_dense(experiment) if dense is None else dense
        if dense and not can_be_dense(experiment):
            raise BadInput(
                "dense does not go with this experiment; allowed: filters with believe_dense on fixed graphs"
            )
        parts, baseline = experiment.parts, experiment.parts.baseline
        self.loops = loops_of(experiment, dense)
        self._compiled = loop_over_rounds(baseline is not None)
        self.state = NetworkState(**settings_of(experiment, dense))
        self._tells_tallies = baseline is None and int(self.state.record["history"]) == 1
        self._set_inputs(experiment, run)
        self._set_tallies()
        self._set_forgetting(parts.forgetting)
        if is_digested(experiment):
            self._set_digests()
        self._set_edges(expected_edges(experiment, dense) + parts.agents)
        self._set_past()
        self._grow_lies(rows_to_keep(experiment) + expected_lies(experiment) + 1)
        first_pulls(self.state.record, self.loops[PULL])
        self._check_fault()
        if baseline is not None:
            self._draw_graph()
            baseline.begin(self.state)

    def advance(self, until: int) -> None:
        """Advance to a round, growing arrays where they are too short; BadInput where a plug-in failed."""
        record = self.state.record
        while shortage := self._advance(until):
            self._check_fault()
            if shortage == EDGES:
                self._set_edges(2 * int(record["edge_capacity"]))
            elif shortage == INBOXES:
                self._grow_inboxes(2 * int(record["inbox_capacity"]))
            elif shortage == LIES:
                self._grow_lies(2 * int(record["lie_capacity"]))

    def _check_fault(self) -> None:
        """BadInput where a plug-in did wrong."""
        if fault := int(self.state.record["fault"]):
            raise BadInput(FAULTS[fault])

    def _draw_graph(self) -> None:
        """Draw the graph of the first round, for a baseline that has to know it."""
        while not self.loops[0](self.state.record):
            self._set_edges(2 * int(self.state.record["edge_capacity"]))

    def _advance(self, until: int) -> int:
        try:
            return int(self._compiled(self.state.record, until, *self.loops))
        except Exception as error:  # nothing of ours raises there
            raise BadInput(f"a plug-in failed while it was played: {type(error).__name__}: {error}") from error

    def _set_inputs(self, experiment: Experiment, run: int) -> None:
        """Set all that stays as it is: means, kappas, rewards, parameters, keys, and when to record."""
        parts, state = experiment.parts, self.state
        for name, purpose in KEYS.items():
            state.record[name] = draws.key_of(experiment.seed, run, purpose)
        state.record["run"] = run
        state.set("numbers", parts.order)
        set_means(state, experiment, run)
        self._set_rewards(parts.rewards)
        state.set("kappas", draw_kappas(experiment, run))
        for kind, part in PARAMETERIZED.items():
            state.set(f"{kind}_params", getattr(parts, part).params)
        state.set(
            "attack_scratch", np.zeros(parts.attack.scratch_shape(parts.agents, parts.arms, experiment.parts.byzantine))
        )
        state.set("growth", [parts.tell.growth])
        state.set("grid", grid_of(experiment.horizon, experiment.record))
        state.set("third_ends", [experiment.horizon * third // 3 for third in (1, 2, 3)])

    def _set_rewards(self, rewards: Sequence[Rewards]) -> None:
        """Set how rewards are drawn; they are dealt out to the agents in turn."""
        state, kinds = self.state, kinds_of(rewards)
        turns, params = state["numbers"] % len(rewards), [item.params for item in rewards]
        bounds = np.cumsum([0, *map(len, params)])
        state.set("reward_kinds", np.array([kinds[type(item).reward] for item in rewards])[turns])
        state.set("reward_starts", bounds[turns])
        state.set("reward_ends", bounds[turns + 1])
        state.set("reward_params", np.concatenate(params))
        state.record["reward_params_size"] = bounds[-1]

    def _set_tallies(self) -> None:
        """Set the arrays whose size is known; all zero."""
        state = self.state
        agents, arms, history = (int(state.record[name]) for name in ("agents", "arms", "history"))
        normal = agents - int(state.record["byzantine"])
        for name in ("pulls", "means", "totals", "estimates", "weights", "doubts", "reward_keys"):
            state.set(name, np.zeros((agents, arms)))
        state.set("last", np.zeros((history, agents)))
        for name in ("choices", "policy_keys", "work_pulls", "work_means", "out_degrees", "values", "may_hear"):
            state.set(name, np.zeros(agents))
        for name in ("lie_pulls", "lie_means"):
            state.set(name, np.zeros(arms))
        state.set("rng", np.zeros(1))
        state.set("regret", np.zeros((normal, int(state.record["grid_size"]))))
        state.set("thirds", np.zeros((3, normal, arms)))
        for name in ("graph", "in_edge", "inbox", "previous_inbox", "missing"):
            state.set(f"{name}_starts", np.zeros(agents + 1))
        if state.record["dense"]:
            state.set("by_pulls", np.tile(np.arange(agents - normal, agents), (arms, 1)))
            state.set("order_floats", np.zeros((FLOAT_ROWS, agents + SPARE)))
            state.set("order_integers", np.zeros((INTEGER_ROWS, agents + SPARE)))

    def _set_forgetting(self, forgetting: Forgetting) -> None:
        """Set the arrays of tallies that forget: what is left of them, beside what was ever counted."""
        state, agents = self.state, int(self.state.record["agents"])
        state.set("forgetting", [forgetting.factor, 0.0])
        state.set("past_arms", np.zeros((agents, forgetting.window)))
        state.set("past_values", np.zeros((agents, forgetting.window)))
        self._alias_tallies()
        if forgetting.kind != ALL:
            for name in EVER:
                state.set(f"ever_{name}", np.zeros_like(state[name]))

    def _alias_tallies(self) -> None:
        """Let the tallies stand for what was ever counted, unless they forget, and for own data without contexts."""
        if self.state.record["forgets"] == ALL:
            for name in EVER:
                self.state.alias(f"ever_{name}", name)
        if self.state.record["context"] == 0:
            self.state.alias("own_estimates", "means")
            self.state.alias("own_weights", "pulls")

    def _set_digests(self) -> None:
        """Set the arrays of digested reports; with a limit of 0 pulls, none holds."""
        state = self.state
        for name in ("limits", "totals", "sizes"):
            state.set(f"digest_{name}", np.zeros((int(state.record["agents"]), int(state.record["arms"]))))

    def _set_past(self) -> None:
        """Set what liars told before, where it is looked at."""
        state = self.state
        agents, arms, byzantine = (int(state.record[name]) for name in ("agents", "arms", "byzantine"))
        rows = agents * byzantine if state.record["audits"] or state.record["careful"] else 0
        for name in ("past_pulls", "past_totals"):
            state.set(name, np.zeros((rows, arms)))
        state.set("expelled", np.zeros(rows))

    def _set_edges(self, capacity: int) -> None:
        """Set the arrays of the graph, of those heard now and, without memory, of the inboxes: the same ones."""
        state = self.state
        state.record["edge_capacity"] = capacity
        state.set("graph", np.zeros(capacity, np.int64))
        if state.record["dense"]:
            state.set("missing", np.zeros(capacity, np.int64))
        if state.record["subset"]:
            state.set("in_edges", np.zeros(capacity))
        else:
            state.alias("in_edges", "graph")
            state.alias("in_edge_starts", "graph_starts")
        if state.record["memory"]:
            if "inbox_senders" not in state:
                self._grow_inboxes(capacity)
        else:
            state.alias("inbox_senders", "in_edges")
            state.alias("inbox_starts", "in_edge_starts")
            state.record["inbox_capacity"] = capacity
            state.set("inbox_rows", np.zeros(capacity, np.int64))

    def _grow_inboxes(self, capacity: int) -> None:
        """Grow the arrays of remembered reports, keeping those that are there already."""
        self.state.record["inbox_capacity"] = capacity
        for name in ("senders", "times", "rows"):
            self.state.grow(f"inbox_{name}", capacity)
            self.state.set(f"previous_inbox_{name}", np.zeros(capacity))

    def _grow_lies(self, capacity: int) -> None:
        """Grow the rows of lies, which follow those of honest reports: tallies themselves where told at once."""
        state = self.state
        agents = int(state.record["agents"])
        state.record["lie_capacity"] = capacity
        rows = int(state.record["history"]) * agents + capacity
        state.grow("free_rows", capacity)
        for name in ("dirty", "due_times"):
            state.grow(name, rows)
        for told, own in (("told_pulls", "pulls"), ("told_means", "means")):
            state.grow(told, rows)
            if self._tells_tallies:
                state[told][:agents] = state[own]
                state.set(own, state[told][:agents])
        self._alias_tallies()


def settings_of(experiment: Experiment, dense: bool) -> dict[str, int]:
    """The whole numbers of a state that follow from an experiment."""
    parts = experiment.parts
    agents, arms, baseline = parts.agents, parts.arms, parts.baseline
    redrawn = is_redrawn(experiment)
    always_same = is_always_same(experiment)
    kept = NOT_KEPT if not parts.tell.keeps else PER_SENDER if always_same else PER_EDGE
    # the newest report is this round's where everyone is always heard, and none is older than the run
    memory = 0 if always_same else min(experiment.memory, experiment.horizon)
    history = (memory if kept == NOT_KEPT else 0) + experiment.delay + 1
    scratch = parts.attack.scratch_shape(agents, arms, experiment.parts.byzantine)
    return {
        "agents": agents,
        "arms": arms,
        "max_inbox": agents,
        "byzantine": experiment.parts.byzantine,
        "f": parts.f,
        "consistency": parts.filter.consistency and baseline is None,
        "depends_on": parts.filter.depends_on,
        "epoch": experiment.epoch,
        "delay": experiment.delay,
        "moves": parts.moves,
        "forgets": parts.forgetting.kind,
        "window": parts.forgetting.window,
        "schedule_size": len(parts.given.rounds),
        "schedule_rows": parts.given.agents or 1,
        "drift_params_size": len(parts.drift.params),
        "memory": memory,
        "subset": experiment.subset or 0,
        "time_varying": redrawn,
        "graph_is_ours": is_ours(type(parts.placed).neighbours.py_func),
        "hears": listens(experiment),
        "ignores_few": parts.f == FROM_NEIGHBOURS and parts.filter.trims and baseline is None,
        "expects": experiment.reliable_links and not redrawn and experiment.subset is None,
        "kept": kept,
        "audits": parts.audits,
        "careful": parts.attack.careful,
        "common_lies": kept == PER_SENDER and not parts.attack.equivocates,
        "tell_rounds": parts.tell.rounds,
        "stable_inbox": always_same and (history == 1 or kept == PER_SENDER) and experiment.epoch == 1,
        "dense": dense,
        "lists_edges": not dense or parts.attack.sees_edges,
        "history": history,
        "grid_size": grid_of(experiment.horizon, experiment.record).size,
        "scratch_rows": scratch[0],
        "scratch_columns": scratch[1],
        **{f"{kind}_params_size": len(getattr(parts, part).params) for kind, part in PARAMETERIZED.items()},
    }
