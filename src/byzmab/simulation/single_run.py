"""One run of an experiment: its state set up, then advanced."""

from collections.abc import Sequence

import numpy as np

from byzmab.core import draws
from byzmab.core.compiler import is_ours
from byzmab.core.contexts.believe import scratch_shapes
from byzmab.core.contexts.statistics import empty_statistics, row_size
from byzmab.core.differences import AUTO
from byzmab.core.errors import BadInput
from byzmab.core.liars import FROM_NEIGHBOURS
from byzmab.core.report import Floats
from byzmab.engine.deliver import EDGES, INBOXES, LIES
from byzmab.engine.pull import kinds_of
from byzmab.engine.state import BAD_BELIEF, FAULTS, State
from byzmab.engine.tell import NOT_KEPT, PER_EDGE, PER_SENDER
from byzmab.experiment.context_settings import ContextParts, constant_of
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.listening import is_redrawn, listens
from byzmab.simulation.context_world import context_parts, draw_leans, draw_parameters, usual_means
from byzmab.simulation.density import can_be_dense, expected_edges, is_dense, is_digested
from byzmab.simulation.loops import rounds_of
from byzmab.simulation.sizes import expected_lies, grid_of, is_always_same, rows_to_keep
from byzmab.simulation.true_means import set_means
from byzmab.worlds.rewards import Rewards

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
        baseline = experiment.parts.baseline
        self._advance_until, first_pulls, self._draw, pull, self.loops = rounds_of(experiment, dense)
        self._believes_by = "filter" if baseline is None else baseline.kind
        kind = State if baseline is None else baseline.state
        self.state = kind(**settings_of(experiment, dense))
        self._set_inputs(experiment, run)
        set_means(self.state, experiment, run)
        if experiment.parts.contexts is not None:
            set_contexts(self.state, experiment, run)
        if dense:
            self.state.by_pulls = np.tile(np.arange(self.state.byzantine, self.state.agents), (self.state.arms, 1))
        first_pulls(self.state, pull)
        self._check_fault()
        if baseline is not None and experiment.parts.contexts is None:
            self._draw_graph()
            baseline.begin(self.state)

    def advance(self, until: int) -> None:
        """Advance to a round, growing arrays where they are too short; BadInput where a plug-in failed."""
        while shortage := self._advance(until):
            self._check_fault()
            if shortage == EDGES:
                self._grow_edges()
            elif shortage == INBOXES:
                self.state.resize(inbox_capacity=2 * self.state.inbox_capacity)
            elif shortage == LIES:
                self.state.resize(lie_capacity=2 * self.state.lie_capacity)

    def _check_fault(self) -> None:
        """BadInput where a plug-in did wrong."""
        if fault := self.state.fault:
            raise BadInput(FAULTS[fault].replace("filter", self._believes_by, fault == BAD_BELIEF))

    def _draw_graph(self) -> None:
        """Draw the graph of the first round, for a baseline that has to know it."""
        while not self._draw(self.state):
            self._grow_edges()

    def _grow_edges(self) -> None:
        """Make room for twice as many edges; without memory, inboxes are the edges."""
        state = self.state
        capacity = 2 * state.edge_capacity
        state.resize(edge_capacity=capacity, inbox_capacity=state.inbox_capacity if state.memory else capacity)

    def _advance(self, until: int) -> int:
        try:
            return int(self._advance_until(self.state, until, *self.loops))
        except Exception as error:  # nothing of ours raises there
            raise BadInput(f"a plug-in failed while it was played: {type(error).__name__}: {error}") from error

    def _set_inputs(self, experiment: Experiment, run: int) -> None:
        """Set all that stays as it is: kappas, rewards, parameters, keys, and when to record."""
        parts, state = experiment.parts, self.state
        for name, purpose in KEYS.items():
            setattr(state, name, draws.key_of(experiment.seed, run, purpose))
        state.run = run
        state.numbers = np.array(parts.order)
        self._set_rewards(parts.rewards)
        state.kappas = draw_kappas(experiment, run)
        state.differences = np.full(parts.agents, max(parts.filter.spread_between_agents, 0.0) ** 2)
        for kind, part in PARAMETERIZED.items():
            setattr(state, f"{kind}_params", getattr(parts, part).params)
        state.attack_scratch = np.zeros(parts.attack.scratch_shape(parts.agents, parts.arms, parts.byzantine))
        state.grid = grid_of(experiment.horizon, experiment.record)
        state.third_ends = experiment.horizon * np.arange(1, 4) // 3

    def _set_rewards(self, rewards: Sequence[Rewards]) -> None:
        """Set how rewards are drawn; they are dealt out to the agents in turn."""
        state, kinds = self.state, kinds_of(rewards)
        turns, params = state.numbers % len(rewards), [item.params for item in rewards]
        bounds = np.cumsum([0, *map(len, params)])
        state.reward_kinds = np.array([kinds[type(item).reward] for item in rewards])[turns]
        state.reward_starts, state.reward_ends = bounds[turns], bounds[turns + 1]
        state.reward_params = np.concatenate(params)


def plain_and_dense(experiment: Experiment, run: int = 0) -> tuple[Run, Run]:
    """Return a run with every inbox by itself, and one with reports ordered once for all; neither compares neighbours.

    The dense loop cannot do so, as it sums up reports of many neighbours; it measures own differences alone.
    """
    plain, dense = Run(experiment, run, dense=False), Run(experiment, run, dense=True)
    plain.state.resize(compared=0)
    return plain, dense


def settings_of(experiment: Experiment, dense: bool) -> dict[str, float]:
    """The numbers of a state that follow from an experiment."""
    parts = experiment.parts
    baseline = parts.baseline
    redrawn = is_redrawn(experiment)
    always_same = is_always_same(experiment)
    kept = NOT_KEPT if not parts.tell.keeps else PER_SENDER if always_same else PER_EDGE
    # the newest report is this round's where everyone is always heard, and none is older than the run
    memory = 0 if always_same else min(experiment.memory, experiment.horizon)
    history = (memory if kept == NOT_KEPT else 0) + experiment.delay + 1
    edges = expected_edges(experiment, dense) + parts.agents
    at_contexts = {} if parts.contexts is None else settings_at(parts.contexts, parts.arms, parts.agents)
    spread = parts.filter.spread_between_agents if baseline is None and not experiment.context else 0.0
    return {
        "agents": parts.agents,
        "arms": parts.arms,
        "max_inbox": parts.agents,
        "byzantine": parts.byzantine,
        "f": parts.f,
        "consistency": parts.filter.consistency and baseline is None,
        "depends_on": parts.filter.depends_on,
        "epoch": experiment.epoch,
        "delay": experiment.delay,
        "moves": parts.moves,
        "forgets": parts.forgetting.kind,
        "window": parts.forgetting.window,
        "forget_factor": parts.forgetting.factor,
        "memory": memory,
        "subset": experiment.subset or 0,
        "time_varying": redrawn,
        "graph_is_ours": is_ours(type(parts.placed).neighbours.py_func),
        "hears": listens(experiment),
        "ignores_few": parts.f == FROM_NEIGHBOURS and parts.filter.trims and baseline is None,
        "expects": experiment.reliable_links and not redrawn and experiment.subset is None,
        "kept": kept,
        "tells_tallies": (baseline is None or parts.contexts is not None) and history == 1,
        "digested": is_digested(experiment),
        "audits": parts.audits,
        "careful": parts.attack.careful,
        "common_lies": kept == PER_SENDER and not parts.attack.equivocates and parts.contexts is None,
        "tell_rounds": parts.tell.rounds,
        "growth": parts.tell.growth,
        "agent_spread": spread,
        "compared": 0 if spread != AUTO or dense else parts.agents,
        "stable_inbox": always_same and (history == 1 or kept == PER_SENDER) and experiment.epoch == 1,
        "dense": dense,
        "lists_edges": not dense or parts.attack.sees_edges,
        "history": history,
        "edge_capacity": edges,
        "inbox_capacity": edges,
        "lie_capacity": rows_to_keep(experiment) + expected_lies(experiment) + 1,
        "grid_size": grid_of(experiment.horizon, experiment.record).size,
        **at_contexts,
    }


def settings_at(contexts: ContextParts, arms: int, agents: int) -> dict[str, float]:
    """The numbers of a state that contexts need."""
    return {
        "max_inbox": scratch_shapes(arms, contexts.d, agents)["work"][1],
        "context": contexts.d,
        "row_size": row_size(contexts.d),
        "shares": contexts.shares,
        "vetting": contexts.vetting,
        "ridge": contexts.ridge,
    }


def set_contexts(state: State, experiment: Experiment, run: int) -> None:
    """Set all arrays of a state that contexts need: what is true, where they lean, and statistics without a reward."""
    parts, contexts = experiment.parts, context_parts(experiment)
    state.context_key = draws.key_of(experiment.seed, run, draws.CONTEXTS)
    state.true_means = usual_means(experiment, run)
    state.parameters = draw_parameters(experiment, run)
    state.leans = draw_leans(experiment, run)
    state.constant = constant_of(contexts)
    if contexts.data is not None:
        state.pool_contexts, state.pool_means = contexts.data.contexts, contexts.data.means
    state.statistics = np.tile(empty_statistics(parts.arms, contexts.d, contexts.ridge), (parts.agents, 1, 1))
    state.attack_scratch = np.zeros(parts.attack.scratch_shape_at(parts.arms, contexts.d))
    if parts.baseline is not None:
        state.filter_params = np.array(parts.baseline.params)
