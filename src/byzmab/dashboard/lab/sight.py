"""One round looked into: what everybody heard, what the filter made of it, and what was chosen."""

from typing import Any, NamedTuple

import numpy as np

from byzmab.core.draws import fold
from byzmab.core.errors import BadInput
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Belief, Floats, Integers, Words
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.single_run import Run


class Sight(NamedTuple):
    """All that a round was decided on; agents and arms are numbered from 0."""

    time: int  # t: rounds played before it
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
    true_means: Floats  # arms: μ
    policy_keys: Words  # agents
    expected: Integers  # agents: how many neighbours should tell something


def look(stage: Run) -> Sight:
    """Play one round, in which there is a decision, and keep what it was decided on.

    A round ends with pulls, and where reports are tallies themselves these change with it. So tallies are taken
    before the round; lies and beliefs, which are made in it, after.
    """
    state = stage.state
    time, agents = int(state.record["time"]), int(state.record["agents"])
    pulls, means = state["pulls"].copy(), state["means"].copy()
    stage.advance(time + 1)
    told_pulls, told_means = state["told_pulls"].copy(), state["told_means"].copy()
    if state.record["history"] == 1:
        told_pulls[:agents], told_means[:agents] = pulls, means
    starts = state["inbox_starts"].copy()
    rows = state["inbox_rows"][: starts[agents]]
    sent = (
        state["inbox_times"][: rows.size].copy() if state.record["memory"] else np.full(rows.size, state.record["sent"])
    )
    return Sight(
        time,
        pulls,
        means,
        starts,
        state["inbox_senders"][: rows.size].copy(),
        sent,
        told_pulls[rows],
        told_means[rows],
        Belief(*(state[name].copy() for name in ("estimates", "weights", "doubts"))),
        state["choices"].copy(),
        state["kappas"],
        state["true_means"],
        state["policy_keys"],
        np.diff(starts) * int(state.record["expects"]),
    )


def fates_of(experiment: Experiment, sight: Sight, agent: int) -> list[list[Fate]]:
    """What became of every report that an agent heard: by arm, then by report."""
    parts, reports = experiment.parts, slice(sight.starts[agent], sight.starts[agent + 1])
    return [
        parts.filter.fates(
            float(sight.pulls[agent, arm]),
            float(sight.means[agent, arm]),
            sight.told_pulls[reports, arm],
            sight.told_means[reports, arm],
            parts.f,
            float(sight.kappas[agent]),
            sight.time,
            max(0, sight.expected[agent] - int((sight.told_pulls[reports, arm] > 0.0).sum())),
        )
        for arm in range(parts.arms)
    ]


def index_of(experiment: Experiment, sight: Sight, agent: int) -> Floats | None:
    """What every arm was worth to the policy, with the luck of that decision."""
    rng = np.array([fold(sight.policy_keys[agent], sight.time)], np.uint64)
    belief = Belief(*(numbers[agent] for numbers in sight.belief))
    policy = experiment.parts.policy
    return policy.explain(belief, sight.time, np.array(policy.params), rng)


def see(experiment: Experiment, run: int, round: int) -> Sight:
    """The round of a run, both numbered from 1; within an epoch, the one in which it was decided."""
    if experiment.parts.baseline is not None:
        raise BadInput(f"algorithm {experiment.algorithm!r} has no filter to step through; allowed: resilient")
    for name, value, most in (("run", run, experiment.runs), ("round", round, experiment.horizon)):
        if not 1 <= value <= most:
            raise BadInput(f"{name} {value} does not exist; allowed: 1 to {most}")
    stage = Run(experiment, run - 1)
    stage.advance((round - 1) // experiment.epoch * experiment.epoch)
    return look(stage)


def step(experiment: Experiment, run: int, round: int, agent: int) -> dict[str, Any]:
    """One round of one agent as plain data; runs, rounds, agents and arms are numbered from 1."""
    parts = experiment.parts
    if not 1 <= agent <= parts.agents:
        raise BadInput(f"agent {agent} does not exist; allowed: 1 to {parts.agents}")
    sight, me = see(experiment, run, round), agent - 1
    fates = fates_of(experiment, sight, me)
    index = index_of(experiment, sight, me)
    first = int(sight.starts[me])
    return {
        "run": run,
        "round": sight.time + 1,
        "agent": agent,
        "lies": me < experiment.byzantine,
        "time": sight.time,
        "f": parts.f,
        "kappa": float(sight.kappas[me]),
        "consistency": parts.filter.consistency,
        "worth": parts.policy.worth,
        "formula": (type(parts.policy).__doc__ or "").partition("\n")[0],
        "truths": sight.true_means.tolist(),
        "pulls": sight.pulls[me].tolist(),
        "means": sight.means[me].tolist(),
        "heard": [
            {
                "agent": int(sight.senders[first + place]) + 1,
                "lies": bool(sight.senders[first + place] < experiment.byzantine),
                "age": sight.time - int(sight.sent[first + place]),
                "pulls": sight.told_pulls[first + place].tolist(),
                "means": sight.told_means[first + place].tolist(),
                "fates": [fates[arm][place] for arm in range(parts.arms)],
            }
            for place in range(int(sight.starts[me + 1]) - first)
        ],
        **{name: numbers[me].tolist() for name, numbers in sight.belief._asdict().items()},
        "index": None if index is None else index.tolist(),
        "choice": int(sight.choices[me]) + 1,
    }
