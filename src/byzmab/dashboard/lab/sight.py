"""One round looked into: what everybody heard, what the filter made of it, and what was chosen."""

from typing import Any, NamedTuple

import numpy as np

from byzmab.core.draws import fold
from byzmab.core.errors import BadInput
from byzmab.core.filters.fates import Fate
from byzmab.core.report import Belief, Floats, Integers, Words
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.stage import Stage


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
    truths: Floats  # arms: μ
    policy_keys: Words  # agents


def look(stage: Stage) -> Sight:
    """Play one round, in which there is a decision, and keep what it was decided on.

    A round ends with pulls, and where reports are tallies themselves these change with it. So tallies are taken
    before the round; lies and beliefs, which are made in it, after.
    """
    board = stage.board
    time, agents = int(board.record["time"]), int(board.record["agents"])
    pulls, means = board["pulls"].copy(), board["means"].copy()
    stage.play(time + 1)
    told_pulls, told_means = board["told_pulls"].copy(), board["told_means"].copy()
    if board.record["history"] == 1:
        told_pulls[:agents], told_means[:agents] = pulls, means
    starts = board["heard_starts"].copy()
    rows = board["heard_rows"][: starts[agents]]
    sent = board["heard_at"][: rows.size].copy() if board.record["memory"] else np.full(rows.size, board.record["sent"])
    return Sight(
        time,
        pulls,
        means,
        starts,
        board["heard"][: rows.size].copy(),
        sent,
        told_pulls[rows],
        told_means[rows],
        Belief(*(board[name].copy() for name in ("estimates", "weights", "doubts"))),
        board["choices"].copy(),
        board["kappas"],
        board["truths"],
        board["policy_keys"],
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
        )
        for arm in range(parts.arms)
    ]


def index_of(experiment: Experiment, sight: Sight, agent: int) -> Floats | None:
    """What every arm was worth to the policy, with the luck of that decision."""
    rng = np.array([fold(sight.policy_keys[agent], sight.time)], np.uint64)
    belief = Belief(*(numbers[agent] for numbers in sight.belief))
    return experiment.parts.policy.explain(belief, sight.time, rng)


def see(experiment: Experiment, run: int, round: int) -> Sight:
    """The round of a run, both numbered from 1; within an epoch, the one in which it was decided."""
    if experiment.parts.baseline is not None:
        raise BadInput(f"algorithm {experiment.algorithm!r} has no filter to step through; allowed: resilient")
    for name, value, most in (("run", run, experiment.runs), ("round", round, experiment.horizon)):
        if not 1 <= value <= most:
            raise BadInput(f"{name} {value} does not exist; allowed: 1 to {most}")
    stage = Stage(experiment, run - 1)
    stage.play((round - 1) // experiment.epoch * experiment.epoch)
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
        "truths": sight.truths.tolist(),
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
