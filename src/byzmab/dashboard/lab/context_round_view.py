"""A view of one round with contexts: the pairs that reports became at the context, and what the filter made of them."""

from typing import Any, NamedTuple

import numpy as np

from byzmab.core.contexts.comparing import CAPS, WEIGHTS, vet
from byzmab.core.contexts.pairs import pairs_of
from byzmab.core.contexts.statistics import theta_of
from byzmab.core.contexts.trial import LEAD, LEAST_LEAD
from byzmab.core.draws import fold
from byzmab.core.filters.fates import Fate
from byzmab.core.model import Pairs, PairsHeard, fates_of
from byzmab.core.report import Belief, Floats, Integers, Words
from byzmab.dashboard.lab.round_view import NOBODY, fault_budgets
from byzmab.experiment.experiment import Experiment
from byzmab.simulation.context_world import context_parts
from byzmab.simulation.single_run import Run

PULLS, MEANS = 1, 6  # decimals of what is shown of a pair


class ContextRoundView(NamedTuple):
    """All that a round was decided on; agents and arms are numbered from 0."""

    time: int  # t: rounds played before it
    own: Floats  # agents × arms × numbers: see core/contexts/statistics.py
    contexts: Floats  # agents × d: x
    starts: Integers  # agents + 1: where each agent's reports begin
    senders: Integers  # reports: who told them
    sent: Integers  # reports: when
    told: Floats  # reports × arms × numbers
    terms: Floats  # agents × arms × 4 × capacity: how reports compare with one's own, and count
    factors: Floats  # agents × arms × (d² + 2d): the last d are the centre
    leads: Floats  # agents: of what they hear
    belief: Belief  # agents × arms
    choices: Integers  # agents
    kappas: Floats  # agents
    true_means: Floats  # agents × arms: μ at the context of each
    policy_keys: Words  # agents
    expected: Integers  # agents: how many neighbours should tell something
    fs: Integers  # agents: the fault budget; NOBODY where all reports are ignored


class HeardAt(NamedTuple):
    """What one agent made of what it heard on every arm."""

    pairs: list[Pairs]  # arms: those that the filter was given
    fates: list[list[Fate]]  # arms × reports
    f: int  # how many Byzantine agents it still assumed
    everyone: list[Pairs]  # arms: those of all reports, also those that contradict its own data


def play_round_at(stage: Run) -> ContextRoundView:
    """Play one round; return what it was decided on. A round ends with pulls, so statistics are taken before it."""
    state = stage.state
    time, agents = int(state.time), int(state.agents)
    own, leads = state.statistics.copy(), state.trial[:, LEAD].copy()
    stage.advance(time + 1)
    told = state.told_statistics.copy()
    if state.history == 1:
        told[:agents] = own
    starts = state.inbox_starts.copy()
    rows = state.inbox_rows[: starts[agents]]
    remembers = state.memory > 0
    return ContextRoundView(
        time,
        own,
        state.contexts.copy(),
        starts,
        state.inbox_senders[: rows.size].copy(),
        state.inbox_times[: rows.size].copy() if remembers else np.full(rows.size, state.sent),
        told[rows],
        state.terms.copy(),
        state.factors.copy(),
        leads,
        Belief(*(getattr(state, name).copy() for name in Belief._fields)),
        state.choices.copy(),
        state.kappas,
        state.context_means.copy(),
        state.policy_keys,
        np.diff(starts) * int(state.expects),
        fault_budgets(state),
    )


def heard_by(experiment: Experiment, view: ContextRoundView, agent: int) -> HeardAt:
    """What an agent made of the reports in its inbox."""
    parts, contexts = experiment.parts, context_parts(experiment)
    told, x, d = view.told[view.starts[agent] : view.starts[agent + 1]], view.contexts[agent], contexts.d
    ignored, f = view.fs[agent] == NOBODY, max(0, int(view.fs[agent]))
    count, terms = len(told), view.terms[agent]
    left_out, rows = np.zeros(terms.shape[2]), np.arange(count, dtype=np.uint64)
    work = np.zeros(terms.shape[2]), np.zeros(terms.shape[2])
    out = vet(told, rows, terms, view.time, d, f, left_out, work) if contexts.vetting and count and not ignored else 0
    goes = left_out[:count] > 0.0
    trusts = not ignored and (not contexts.vetting or view.leads[agent] >= LEAST_LEAD)
    found = HeardAt([], [], f - out, [])
    for arm in range(parts.arms):
        own, on_arm, speaks = view.own[agent, arm], told[:, arm], told[:, arm, 0] > 0.0
        heard, centre = speaks & ~goes, view.factors[agent, arm, -d:]
        weights = np.where(heard, terms[arm, WEIGHTS, :count], 0.0)
        pairs = pairs_of(own, on_arm, x, contexts.ridge, contexts.shares, heard, weights, centre)
        caps = np.where(speaks, terms[arm, CAPS, :count], 0.0)
        everyone = pairs_of(own, on_arm, x, contexts.ridge, contexts.shares, speaks, caps, theta_of(own, d))
        reading = f, float(view.kappas[agent]), view.time, int(view.expected[agent])
        found.pairs.append(pairs)
        found.everyone.append(everyone)
        found.fates.append(fates_of(parts.filter, PairsHeard(pairs, speaks, goes, trusts), *reading))
    return found


def believing_everyone_at(
    experiment: Experiment, view: ContextRoundView, agent: int, everyone: list[Pairs]
) -> dict[str, Any]:
    """What an agent would have held true, and pulled, had it added up all that it was told."""
    estimates, weights = np.empty(len(everyone)), np.empty(len(everyone))
    for arm, pairs in enumerate(everyone):
        pulls = np.append(pairs.pulls, pairs.own_pulls)
        weights[arm] = pulls.sum()
        estimates[arm] = pulls @ np.append(pairs.means, pairs.own_mean) / weights[arm]
    own = view.belief.own_estimates[agent], view.belief.own_weights[agent]
    belief, policy = Belief(estimates, weights, np.zeros(len(everyone)), *own), experiment.parts.policy
    luck = [np.array([fold(view.policy_keys[agent], view.time)], np.uint64) for _ in range(2)]
    index = policy.explain(belief, float(view.time), np.array(policy.params), luck[0])
    choice = type(policy).choose(belief, float(view.time), np.array(policy.params), luck[1])
    return {
        "estimates": estimates.tolist(),
        "index": None if index is None else index.tolist(),
        "choice": int(choice) + 1,
    }


def step_at(experiment: Experiment, run: int, round: int, agent: int) -> dict[str, Any]:
    """One round of one agent as plain data, in the words of `round_view.step`: pulls and means are those of pairs."""
    stage, me, parts = Run(experiment, run - 1), agent - 1, experiment.parts
    stage.advance(round - 1)
    view = play_round_at(stage)
    heard, first = heard_by(experiment, view, me), int(view.starts[me])
    belief = Belief(*(numbers[me] for numbers in view.belief))
    rng = np.array([fold(view.policy_keys[me], view.time)], np.uint64)
    index = parts.policy.explain(belief, float(view.time), np.array(parts.policy.params), rng)
    pulls = np.array([pairs.pulls for pairs in heard.everyone]).round(PULLS)  # arms × reports
    means = np.array([pairs.means for pairs in heard.everyone]).round(MEANS)
    for arm, pairs in enumerate(heard.pairs):  # those that were used as the filter had them
        used = pairs.pulls > 0.0
        pulls[arm, used], means[arm, used] = pairs.pulls[used].round(PULLS), pairs.means[used].round(MEANS)
    return {
        "context": view.contexts[me].tolist(),
        "trusts": bool(not experiment.vetting or view.leads[me] >= LEAST_LEAD),
        "kappa": float(view.kappas[me]),
        "time": view.time,
        "f": heard.f,
        "ignores": bool(view.fs[me] == NOBODY),
        "true_means": view.true_means[me].tolist(),
        "pulls": [round_(pairs.own_pulls) for pairs in heard.pairs],
        "means": [float(pairs.own_mean) for pairs in heard.pairs],
        "heard": [
            {
                "agent": int(view.senders[first + report]) + 1,
                "lies": bool(view.senders[first + report] < parts.byzantine),
                "age": view.time - int(view.sent[first + report]),
                "pulls": pulls[:, report].tolist(),
                "means": means[:, report].tolist(),
                "fates": [heard.fates[arm][report] for arm in range(parts.arms)],
            }
            for report in range(int(view.starts[me + 1]) - first)
        ],
        **{name: numbers.tolist() for name, numbers in belief._asdict().items()},
        "index": None if index is None else index.tolist(),
        "choice": int(view.choices[me]) + 1,
        "everyone": believing_everyone_at(experiment, view, me, heard.everyone),
    }


def round_(pulls: float) -> float:
    """Pulls of a pair as they are shown."""
    return float(np.round(pulls, PULLS))
