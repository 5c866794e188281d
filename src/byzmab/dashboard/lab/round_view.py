"""A view of one round: what everybody heard, what the filter made of it, and what was chosen."""

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from byzmab.core.draws import fold
from byzmab.core.errors import BadInput
from byzmab.core.filters import FILTERS
from byzmab.core.filters.fates import Fate
from byzmab.core.policies.base import Policy
from byzmab.core.report import Belief, Floats, Integers, Words
from byzmab.engine.audit import believes_anyone, expelled_by, f_of_agent
from byzmab.engine.state import State
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.single_run import Run

NOBODY = -1  # in the place of a fault budget: all reports are ignored
EVERYONE = FILTERS.resolve("mean")  # the counterfactual


class RoundView(NamedTuple):
    """All that a round was decided on; agents and arms are numbered from 0."""

    time: int  # t: rounds played before it
    clock: float  # t as filter and policy saw it: what is left of it where tallies forget
    pulls: Floats  # agents × arms: n
    means: Floats  # agents × arms: x̄
    starts: Integers  # agents + 1: where each agent's reports begin
    senders: Integers  # reports: who told them
    sent: Integers  # reports: when
    told_pulls: Floats  # reports × arms: n as told
    told_means: Floats  # reports × arms: x̄ as told
    belief: Belief  # agents × arms
    choices: Integers  # agents
    kappas: Floats  # agents
    true_means: Floats  # agents × arms: μ of each
    policy_keys: Words  # agents
    expected: Integers  # agents: how many neighbours should tell something
    expelled: Any  # reports: whether it is from a sender that the receiver has expelled, and so tells nothing
    fs: Integers  # agents: the fault budget left; NOBODY where all reports are ignored
    differences: Floats  # agents × agents: τ² of each neighbour; empty where they are not compared


def play_round(stage: Run) -> RoundView:
    """Play one round with a decision; return what it was decided on.

    A round ends with pulls, and where reports are tallies themselves these change with it. So tallies are taken
    before the round; lies and beliefs, which are made in it, after.
    """
    state = stage.state
    time, agents = int(state.time), int(state.agents)
    pulls, means = state.pulls.copy(), state.means.copy()
    clock = state.time_left if state.forgets else time
    stage.advance(time + 1)
    told_pulls, told_means = state.told_pulls.copy(), state.told_means.copy()
    if state.history == 1:
        told_pulls[:agents], told_means[:agents] = pulls, means
    starts = state.inbox_starts.copy()
    rows = state.inbox_rows[: starts[agents]]
    sent = state.inbox_times[: rows.size].copy() if state.memory else np.full(rows.size, state.sent)
    return RoundView(
        time,
        clock,
        pulls,
        means,
        starts,
        state.inbox_senders[: rows.size].copy(),
        sent,
        told_pulls[rows],
        told_means[rows],
        Belief(state.estimates.copy(), state.weights.copy(), state.doubts.copy(), means, pulls),
        state.choices.copy(),
        state.kappas,
        state.own_means.copy(),
        state.policy_keys,
        np.diff(starts) * int(state.expects),
        _expelled(state, starts, state.inbox_senders[: rows.size]),
        fault_budgets(state),
        state.neighbour_differences.copy(),
    )


def fault_budgets(state: State) -> Integers:
    """Return the fault budget that each agent had left in the round just played; NOBODY where it ignored all."""
    expelled = [expelled_by(state, agent) for agent in range(state.agents)]
    believes = (believes_anyone(state, agent, count) for agent, count in enumerate(expelled))
    left = (f_of_agent(state, agent, count) for agent, count in enumerate(expelled))
    return np.array([f if anyone else NOBODY for anyone, f in zip(believes, left, strict=True)], np.int64)


def _expelled(state: State, starts: Integers, senders: Integers) -> Any:
    """Which reports are from a sender that their receiver has expelled."""
    liars = state.byzantine
    receivers = np.repeat(np.arange(state.agents), np.diff(starts)) * (1 - int(state.common_lies))
    expelled = np.zeros(senders.size, bool)
    if state.audits:
        lies = senders < liars
        expelled[lies] = state.expelled[receivers[lies] * liars + senders[lies]] == 1
    return expelled


def fates_of(experiment: Experiment, view: RoundView, agent: int) -> list[list[Fate]]:
    """What became of every report that an agent heard: by arm, then by report."""
    parts, reports = experiment.parts, slice(view.starts[agent], view.starts[agent + 1])
    expelled = np.flatnonzero(view.expelled[reports])
    if view.fs[agent] == NOBODY:
        return [
            [Fate.UNUSED if told else Fate.SILENT for told in column > 0.0] for column in view.told_pulls[reports].T
        ]
    apart = view.differences[agent, view.senders[reports]] if view.differences.size else None
    columns = [
        parts.filter.fates(
            float(view.pulls[agent, arm]),
            float(view.means[agent, arm]),
            view.told_pulls[reports, arm],
            view.told_means[reports, arm],
            int(view.fs[agent]),
            float(view.kappas[agent]),
            int(view.clock),
            max(0, view.expected[agent] - expelled.size - int((view.told_pulls[reports, arm] > 0.0).sum())),
            apart,
        )
        for arm in range(parts.arms)
    ]
    for column in columns:
        for report in expelled:
            column[report] = Fate.EXPELLED
    return columns


def index_of(experiment: Experiment, view: RoundView, agent: int) -> Floats | None:
    """The policy's index of every arm, with the random draws of that decision; None where it has none."""
    rng = np.array([fold(view.policy_keys[agent], view.time)], np.uint64)
    belief = Belief(*(numbers[agent] for numbers in view.belief))
    policy = experiment.parts.policy
    return policy.explain(belief, view.clock, np.array(policy.params), rng)


def believing_everyone(experiment: Experiment, view: RoundView, agent: int) -> dict[str, Any]:
    """What an agent would have held true, and pulled, had it averaged every consistent report."""
    reports, clock = slice(view.starts[agent], view.starts[agent + 1]), int(view.clock)
    columns = []
    for arm in range(experiment.parts.arms):
        own, told = (view.pulls[agent, arm], view.means[agent, arm]), (view.told_pulls, view.told_means)
        heard = (numbers[reports, arm] for numbers in told)
        columns.append(EVERYONE.believed(*own, *heard, 0, float(view.kappas[agent]), clock)[0])
    estimates, weights, doubts = np.array(columns).T.copy()
    belief = Belief(estimates, weights, doubts, view.means[agent], view.pulls[agent])
    policy = experiment.parts.policy
    luck = [np.array([fold(view.policy_keys[agent], view.time)], np.uint64) for _ in range(2)]
    index = policy.explain(belief, view.clock, np.array(policy.params), luck[0])
    choice = type(policy).choose(belief, view.clock, np.array(policy.params), luck[1])
    return {
        "estimates": belief.estimates.tolist(),
        "index": None if index is None else index.tolist(),
        "choice": int(choice) + 1,
    }


def formula_of(policy: Policy) -> str:
    """What a policy goes by, in its own words, with the parameters it is played with."""
    given = (f"{item.name} = {getattr(policy, item.name):g}" for item in fields(policy))
    return "; ".join([(type(policy).__doc__ or "").partition("\n")[0].rstrip("."), *given])


def check_round(experiment: Experiment, run: int, round: int, agent: int) -> None:
    """BadInput unless there is a round to look into, run, round and agent numbered from 1."""
    if not 1 <= agent <= experiment.parts.agents:
        raise BadInput(f"agent {agent} does not exist; allowed: 1 to {experiment.parts.agents}")
    if experiment.parts.baseline is not None:
        raise BadInput(f"algorithm {experiment.algorithm!r} has no filter to step through; allowed: resilient")
    for name, value, most in (("run", run, experiment.runs), ("round", round, experiment.horizon)):
        if not 1 <= value <= most:
            raise BadInput(f"{name} {value} does not exist; allowed: 1 to {most}")


def view_round(experiment: Experiment, run: int, round: int) -> RoundView:
    """The view of a round, run and round numbered from 1; within an epoch, of the round with the decision."""
    stage = Run(experiment, run - 1, dense=False)  # the dense path lists no honest reports
    stage.advance((round - 1) // experiment.epoch * experiment.epoch)
    return play_round(stage)


def step(experiment: Experiment, run: int, round: int, agent: int) -> dict[str, Any]:
    """One round of one agent as plain data; runs, rounds, agents and arms are numbered from 1."""
    check_round(experiment, run, round, agent)
    parts = experiment.parts
    told = {
        "run": run,
        "round": (round - 1) // experiment.epoch * experiment.epoch + 1,
        "agent": agent,
        "lies": agent <= parts.byzantine,
        "filter": experiment.settings()["filter"],
        "consistency": parts.filter.consistency,
        "trims": parts.filter.trims,
        "worth": parts.policy.worth,
        "formula": formula_of(parts.policy),
    }
    return {**told, **_step(experiment, run, round, agent)}


def _step(experiment: Experiment, run: int, round: int, agent: int) -> dict[str, Any]:
    """What depends on what was told in the round."""
    if experiment.parts.contexts is not None:
        from byzmab.dashboard.lab.context_round_view import step_at  # compiles other loops

        return step_at(experiment, run, round, agent)
    view, me = view_round(experiment, run, round), agent - 1
    fates = fates_of(experiment, view, me)
    index = index_of(experiment, view, me)
    first = int(view.starts[me])
    return {
        "kappa": float(view.kappas[me]),
        "time": view.time,
        "f": max(0, int(view.fs[me])),
        "ignores": bool(view.fs[me] == NOBODY),
        "true_means": view.true_means[me].tolist(),
        "pulls": view.pulls[me].tolist(),
        "means": view.means[me].tolist(),
        "heard": [
            {
                "agent": int(view.senders[first + report]) + 1,
                "lies": bool(view.senders[first + report] < experiment.parts.byzantine),
                "age": view.time - int(view.sent[first + report]),
                "pulls": view.told_pulls[first + report].tolist(),
                "means": view.told_means[first + report].tolist(),
                "fates": [fates[arm][report] for arm in range(experiment.parts.arms)],
            }
            for report in range(int(view.starts[me + 1]) - first)
        ],
        **{name: numbers[me].tolist() for name, numbers in view.belief._asdict().items()},
        "index": None if index is None else index.tolist(),
        "choice": int(view.choices[me]) + 1,
        "everyone": believing_everyone(experiment, view, me),
    }
