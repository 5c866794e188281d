"""Contract checks that every plug-in must pass, ours and yours.

    from byzmab.testing import check
    check(MyAttack)

Raises AssertionError with one sentence where the contract is broken.
"""

import math
import warnings
from functools import singledispatch
from typing import Any

import numpy as np

from byzmab.attacks import Attack
from byzmab.baselines import Baseline
from byzmab.baselines.contexts import ContextBaseline
from byzmab.core.compiler import watching_compilation
from byzmab.core.draws import fold
from byzmab.core.errors import BadInput
from byzmab.core.filters import Filter
from byzmab.core.filters.base import CONSISTENT_MEANS
from byzmab.core.filters.fates import HEARD, TOLD, blank_fates
from byzmab.core.mistakes import check_functions
from byzmab.core.plugins import Plugin
from byzmab.core.policies import Policy
from byzmab.core.report import Belief, Heard, Middle
from byzmab.experiment.experiment import Experiment
from byzmab.graphs import Graph
from byzmab.simulation.context_contract import check_at_contexts, check_tells_statistics
from byzmab.simulation.run import simulate
from byzmab.simulation.single_run import Run, plain_and_dense
from byzmab.simulation.true_means import draw_means
from byzmab.worlds import Drift, Pull, Rewards
from byzmab.worlds.rewards import prepared_for

TRIALS = 200
SMALL = Experiment(agents=6, byzantine=1, f=1, arms=(0.6, 0.5, 0.2), horizon=60, runs=2)

WITH_CONTEXTS = SMALL.but(context=3, arms="random:3", filter="pooled", graph="erdos-renyi:0.8", byzantine=2)


@singledispatch
def check(plugin: Plugin) -> None:
    """Check a plug-in of any kind against its contract; a class is checked with its defaults."""
    if isinstance(plugin, type) and issubclass(plugin, Plugin):
        check(plugin.whole()())
        return
    raise AssertionError(f"{plugin!r} is no filter, policy, attack, graph, rewards, drift or algorithm")


LOOPS = ("believe_all", "choose_all", "lie_all", "draw_all", "pull_all", "move_all", "advance", "exchange")


def _check_in_use(experiment: Experiment) -> None:
    """It runs, on its own compilation alone, and with the same digits whatever the number of workers."""
    Run(SMALL, 0).advance(2)
    compiled: list[str] = []
    with watching_compilation(compiled.append):
        run = Run(experiment, 0)
        run.advance(2)
    loops = [name for name in compiled if name.startswith(LOOPS)]
    assert len(loops) <= 1, f"more than its own loop was compiled for a plug-in: {loops}"
    run.advance(experiment.horizon)
    played = run.state.pulls.sum(axis=1)
    assert (played == experiment.horizon + experiment.parts.arms).all(), "it changed the tallies, which are not its own"
    if not experiment.parts.moves:
        assert np.array_equal(run.state.true_means, draw_means(experiment, 0)), "it changed the arms' means"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these networks are too small for f, and that is no fault of the plug-in
        first, second = (simulate(experiment, workers=workers) for workers in (1, 2))
    assert np.array_equal(first.regret_values, second.regret_values), "two runs with the same seed differ"
    assert np.isfinite(first.regret_values).all(), "regret is not a number"


def _reports(rng: np.random.Generator, count: int, own_pulls: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(own_pulls, 3 * own_pulls + 1, count).astype(float), rng.random(count)


@check.register
def check_filter(filter: Filter) -> None:
    """Alone it believes itself; numbers stay finite; the order of reports does not matter; every fate is told."""
    rng, params = np.random.default_rng(0), np.array(filter.params, np.float64)
    believe = type(filter).believe
    for trial in range(TRIALS):
        steps = 4 if trial % 2 else 10**6  # of means: few of them make equal and equally distant ones
        own_pulls, own_mean, f = int(rng.integers(1, 100)), round(rng.random() * steps) / steps, int(rng.integers(0, 4))
        rest = float(own_pulls), own_mean, f, rng.uniform(1, 2), int(rng.integers(0, 10_000)), 0, params
        alone = believe(Heard(np.empty(0), np.empty(0), *rest))
        assert np.allclose(alone, (own_mean, own_pulls, 0.0)), (
            f"alone it believes {alone}, not (own mean, own pulls, 0)"
        )
        pulls, means = _reports(rng, int(rng.integers(1, 12)), own_pulls)
        means, order = np.round(means * steps) / steps, rng.permutation(pulls.size)
        belief = believe(Heard(pulls.copy(), means.copy(), *rest))
        shuffled = believe(Heard(pulls[order], means[order], *rest))
        assert np.isfinite(belief).all(), f"the belief {belief} is not finite"
        assert belief[1] > 0, f"the weight {belief[1]} is not positive"
        assert belief[2] >= 0, f"the doubt {belief[2]} is negative"
        assert np.allclose(belief, shuffled), "the order of the reports changes the belief"
        _check_fates(filter, Heard(pulls, means, *rest), belief)
    _check_depends_on(filter)
    if filter.believe_dense is not None:
        _check_dense(filter)
        _check_dense_in_use(filter)
    if filter.digest is not None:
        _check_digest(filter)
    for time_varying in (False, True):
        _check_in_use(SMALL.but(filter=filter, graph="erdos-renyi:0.8", time_varying=time_varying))


def _check_fates(filter: Filter, heard: Heard, belief: tuple[float, float, float]) -> None:
    """Telling the fates changes no belief, and every report has one fate, whatever the order of the reports."""
    told: list[Any] = []
    for order in (np.arange(heard.pulls.size), np.arange(heard.pulls.size)[::-1]):
        fates = blank_fates(heard.pulls.size)
        believed = type(filter).believe(heard._replace(pulls=heard.pulls[order], means=heard.means[order], fates=fates))
        assert told or np.allclose(believed, belief), "it believes something else where somebody asks for fates"
        codes = fates.codes.tolist()
        assert all(0 <= code < len(TOLD) for code in codes), f"it tells fates that there are not: {codes}"
        assert HEARD not in codes or not any(codes), (
            f"it does not tell one fate for each of {len(codes)} reports: {codes}"
        )
        told.append(sorted(zip(heard.means[order].tolist(), codes, strict=True)))
    assert told[0] == told[1], f"the order of the reports changes their fates: {told[0]}, {told[1]}"


def _check_depends_on(filter: Filter) -> None:
    """Following changes, as `depends_on` allows, gives the beliefs that believing anew in every round gives."""
    for attack in ("constant", "adaptive", "gaussian"):
        # arms enough that on some of them nothing changes but what Byzantine agents claim
        following, anew = (Run(SMALL.but(filter=filter, attack=attack, arms="random:12"), 0) for _ in range(2))
        anew.state.stable_inbox = 0
        for time in range(1, SMALL.horizon):
            for run in (following, anew):
                run.advance(time)
            same = np.array_equal(following.state.estimates, anew.state.estimates)
            assert same and np.array_equal(following.state.weights, anew.state.weights), (
                "the belief depends on more than `depends_on` declares"
            )


def _check_dense(filter: Filter) -> None:
    """Sorted reports, those that are not dropped summed up, give the belief that all of them give one by one."""
    rng, params = np.random.default_rng(1), np.array(filter.params, np.float64)
    for _ in range(TRIALS):
        own_pulls, own_mean, f = int(rng.integers(1, 100)), rng.random(), int(rng.integers(0, 4))
        settings = float(own_pulls), own_mean, f, rng.uniform(1, 2), int(rng.integers(0, 10_000)), 0, params
        count = int(rng.integers(0, 40))
        least = own_pulls if filter.consistency else 1
        pulls, means = rng.integers(least, 3 * own_pulls + 1, count).astype(float), rng.integers(0, 20, count) / 19
        order = np.lexsort((pulls, means))
        pulls, means = pulls[order], means[order]
        heard = Heard(pulls, means, *settings)
        belief = type(filter).believe(heard._replace(pulls=pulls.copy(), means=means.copy()))
        told = _told(filter, heard, f + int(rng.integers(0, 3)))
        worth = np.minimum(pulls[~told], own_pulls)
        centre = math.nan if filter.drops is None else float(np.median([own_mean, *means]))
        middle = Middle(
            worth.size,
            means[~told].sum(),
            worth.sum(),
            (worth * means[~told]).sum(),
            int((pulls[~told] >= own_pulls).sum()),
            centre,
        )
        dense = type(filter).believe_dense(heard._replace(pulls=pulls[told], means=means[told]), middle)
        assert np.allclose(dense, belief, rtol=1e-12, atol=1e-12), (
            f"`believe_dense` gives {dense} where `believe` gives {belief}"
        )


def _told(filter: Filter, heard: Heard, side: int) -> np.ndarray:
    """Which of sorted reports are told one by one: so many on either side, and what else the filter says it drops."""
    pulls, means, size = heard.pulls, heard.means, heard.pulls.size
    told = np.zeros(size, bool)
    limit, by_pull = (math.inf, False) if filter.drops is None else type(filter).drops(heard.params, heard.time)
    shift = means - np.median([heard.own_mean, *means])
    told |= shift**2 * np.minimum(pulls, heard.own_pulls) > limit
    largest = np.sort(pulls)[::-1]
    for g in range(min(heard.f + 1, size)):  # so many may be trimmed
        cap = min(heard.own_pulls, largest[g])
        order = np.lexsort((pulls, np.minimum(pulls, cap) * shift if by_pull else means))
        told[order[:side]] = told[order[max(size - side, 0) :]] = True
        told |= by_pull and (pulls > cap) & (cap < heard.own_pulls) | (pulls == largest[g])
    return told


def _check_dense_in_use(filter: Filter) -> None:
    """A network makes the same choices with reports ordered once for all as with every inbox by itself."""
    for graph in ("complete", "erdos-renyi:0.8"):
        experiment = SMALL.but(agents=14, byzantine=2, f=2, filter=filter, graph=graph, attack="gaussian")
        plain, dense = plain_and_dense(experiment)
        for time in range(1, SMALL.horizon):
            for run in (plain, dense):
                run.advance(time)
            assert np.array_equal(plain.state.choices, dense.state.choices), (
                "`believe_dense` leads to other choices than `believe`"
            )


def _check_digest(filter: Filter) -> None:
    """What it makes of the reports does not depend on one's own tally, and gives the belief that they give."""
    rng, params = np.random.default_rng(2), np.array(filter.params, np.float64)
    assert filter.consistency and filter.depends_on == CONSISTENT_MEANS, (
        "`digest` is for filters with step A that look at the means alone"
    )
    for _ in range(TRIALS):
        own_pulls, own_mean, f = int(rng.integers(1, 100)), rng.random(), int(rng.integers(0, 4))
        pulls, means = _reports(rng, int(rng.integers(0, 12)), own_pulls)
        rest = f, rng.uniform(1, 2), int(rng.integers(0, 10_000)), 0, params
        before = Heard(pulls.copy(), means.copy(), float(rng.integers(1, own_pulls + 1)), rng.random(), *rest)
        alone = Heard(np.empty(0), np.empty(0), float(own_pulls), own_mean, *rest)
        belief = type(filter).believe(Heard(pulls, means, float(own_pulls), own_mean, *rest))
        digested = type(filter).believe_digest(alone, *type(filter).digest(before))
        assert np.allclose(digested, belief), f"`believe_digest` gives {digested} where `believe` gives {belief}"


@check.register
def check_policy(policy: Policy) -> None:
    """It chooses an arm that exists, the same one on the same draws, and every arm when all are alike."""
    rng = np.random.default_rng(0)
    choose, params = type(policy).choose, np.array(policy.params, np.float64)
    for _ in range(TRIALS):
        arms, time = int(rng.integers(2, 9)), int(rng.integers(0, 10_000))
        own = rng.random(arms), rng.uniform(1, 1000, arms)
        belief = Belief(rng.random(arms), rng.uniform(1, 1000, arms), rng.random(arms) * 0.1, *own)
        state = rng.integers(0, 2**63, 1).astype(np.uint64)
        first, second = (choose(belief, time, params, state.copy()) for _ in range(2))
        assert 0 <= first < arms, f"it chose arm {first} of {arms}"
        assert first == second, "it chose differently on the same draws"
        alone, doubted = (Belief(*own, doubts, *own) for doubts in (np.zeros(arms), belief.doubts))
        first, second = (choose(each, time, params, state.copy()) for each in (alone, doubted))
        assert first == second, (
            "a doubt raised an index above the bound from own data; add doubts by `byzmab.with_doubt`"
        )
    alike = Belief(np.full(3, 0.5), np.full(3, 10.0), np.zeros(3), np.full(3, 0.5), np.full(3, 10.0))
    chosen = {choose(alike, 100, params, rng.integers(0, 2**63, 1).astype(np.uint64)) for _ in range(TRIALS)}
    assert chosen == {0, 1, 2}, f"of three arms that are alike it chose only {sorted(chosen)}"
    _check_in_use(SMALL.but(policy=policy))


@check.register
def check_attack(attack: Attack) -> None:
    """It lies to any filter on any graph, also if a Byzantine agent has no neighbour, and does not change the world."""
    assert attack.lie is not None or attack.lie_at is not None, "it provides neither `lie` nor `lie_at`"
    if attack.lie_at is not None:
        check_at_contexts(WITH_CONTEXTS.but(attack=attack))
        check_tells_statistics(WITH_CONTEXTS.but(attack=attack))
    if attack.lie is None:
        return
    for graph in ("complete", "erdos-renyi:0.4", "star:1"):
        for filter in ("trimmed", "pooled"):
            for time_varying in (False, True):
                _check_in_use(
                    SMALL.but(
                        attack=attack, graph=graph, filter=filter, byzantine=2, time_varying=time_varying, memory=2
                    )
                )
    run = Run(SMALL.but(attack=attack), 0)
    run.advance(SMALL.horizon)
    assert np.isfinite(run.state.told_pulls).all(), "it claims counts that are not finite"
    if not attack.sees_edges:
        _check_sees_edges(attack)
    if not attack.equivocates:
        _check_equivocates(attack)


def _check_sees_edges(attack: Attack) -> None:
    """It tells the same lies on a dense graph, of which it sees no list of edges, as where they are all listed."""
    experiment = SMALL.but(agents=14, byzantine=3, f=2, attack=attack, graph="erdos-renyi:0.8")
    listed, dense = (Run(experiment, 0, dense=dense) for dense in (False, True))
    for time in range(1, SMALL.horizon):
        for run in (listed, dense):
            run.advance(time)
        for told in ("told_pulls", "told_means"):
            assert np.array_equal(getattr(listed.state, told), getattr(dense.state, told)), (
                "its lies depend on who hears whom, which `sees_edges` denies"
            )


def _check_equivocates(attack: Attack) -> None:
    """Each Byzantine agent tells everyone the same, round by round."""
    run = Run(SMALL.but(byzantine=2, attack=attack), 0)
    state = run.state
    for time in range(1, SMALL.horizon):
        run.advance(time)
        entries = int(state.inbox_starts[-1])
        for liar in range(2):
            rows = state.inbox_rows[:entries][state.inbox_senders[:entries] == liar]
            for told in (state.told_pulls, state.told_means):
                assert (told[rows] == told[rows[0]]).all(), (
                    "its lies depend on the receiver, which `equivocates` denies"
                )


@check.register
def check_graph(graph: Graph) -> None:
    """Neighbours exist, ascend, and are never oneself; the same draws give the same graph."""
    agents = graph.size() or SMALL.parts.agents
    params = np.array(graph.params, np.float64)
    neighbours = type(graph).neighbours
    degrees = graph.degrees(agents, 1)
    assert degrees.shape == (agents,), "there is not one degree for every agent"
    for trial in range(TRIALS):
        for receiver in range(agents):
            lists = []
            for _ in range(2):
                out = np.full(agents, -1)
                count = neighbours(receiver, agents, 1, params, np.array([trial], np.uint64), out)
                lists.append(out[:count].tolist())
            found = lists[0]
            assert found == lists[1], "the same draws gave two graphs"
            assert all(0 <= other < agents for other in found), (
                f"agent {receiver} hears one that does not exist: {found}"
            )
            assert receiver not in found, f"agent {receiver} hears itself"
            assert found == sorted(set(found)), f"the neighbours {found} do not ascend"
    for time_varying in (False, True):
        _check_in_use(SMALL.but(graph=graph, agents=agents, time_varying=time_varying))


DRAWN = 1000  # rewards of one mean
ERRORS = 5.0  # standard errors by which their average may be off
MEANS = np.array([0.0, 0.02, 0.3, 0.5, 0.55, 0.9, 1.0])


@check.register
def check_rewards(rewards: Rewards) -> None:
    """Rewards are in [0, 1], the same on the same random numbers, and their mean is the one that was asked for."""
    reward, params = type(rewards).reward, np.array(rewards.params, np.float64)
    for arm, (mean, prepared) in enumerate(zip(MEANS, prepared_for(rewards, MEANS), strict=True)):
        total = 0.0
        for number in range(DRAWN):
            pull = Pull(0, number % 5, arm, number, float(mean), float(prepared))
            luck = fold(np.uint64(arm), number)
            first, second = (reward(pull, params, np.array([luck], np.uint64)) for _ in range(2))
            assert 0.0 <= first <= 1.0, f"the reward {first} is no number from 0 to 1"
            assert first == second, "the same luck gave two rewards"
            total += first
        # of all numbers in [0, 1] with this mean, those of 0 and 1 alone vary most
        most = ERRORS * math.sqrt(mean * (1.0 - mean) / DRAWN) + 1e-9
        near = abs(total / DRAWN - mean) <= most or not rewards.unbiased
        assert near, f"where a mean of {mean} was asked for, it is about {total / DRAWN}"
    _check_in_use(SMALL.but(rewards=rewards))
    _check_in_use(SMALL.but(rewards=["bernoulli", rewards]))


@check.register
def check_drift(drift: Drift) -> None:
    """What it adds to the means is a number, follows from seed and round, and leaves the given means as they are."""
    move, params, given = type(drift).move, np.array(drift.params, np.float64), np.array([0.6, 0.5, 0.2])
    lists = []
    for _ in range(2):
        shifts, means = np.zeros(given.size), given.copy()
        for time in range(1, TRIALS):
            move(means, time, params, np.array([fold(np.uint64(7), time)], np.uint64), shifts)
            assert np.isfinite(shifts).all(), f"in round {time} it adds {shifts}, which are not all numbers"
            assert np.array_equal(means, given), "it changed the means that are given"
        lists.append(shifts)
    assert np.array_equal(lists[0], lists[1]), "the same rounds gave two drifts"
    _check_in_use(SMALL.but(drift=drift))


HEARS_NOBODY = 2  # in the graph of two who hear each other, from this agent on


@check.register
def check_algorithm(algorithm: Baseline) -> None:
    """It decides from what each agent saw and heard alone, by f only where it `trims`, and tells numbers."""
    if isinstance(algorithm, ContextBaseline):
        check_functions(algorithm.kind, algorithm.functions())
        check_at_contexts(WITH_CONTEXTS.but(algorithm=algorithm, filter=SMALL.filter))
        return
    given = SMALL.but(algorithm=algorithm)
    _check_in_use(given)
    _check_in_use(given.but(attack="adaptive"))
    for settings in (
        {"graph": "erdos-renyi:0.4"},
        {"graph": "erdos-renyi:0.8", "time_varying": True},
        {"graph": "star:1"},
    ):
        for experiment in _allowed([given], **settings):
            _check_in_use(experiment)
    run = Run(given, 0)
    for time in range(1, SMALL.horizon):
        run.advance(time)
        told = np.stack([told[: SMALL.agents] for told in (run.state.told_pulls, run.state.told_means)])
        assert np.isfinite(told).all(), "it tells numbers that are not finite"
    if not algorithm.trims:
        _check_alike([given.but(f=f) for f in (0, 1)], 0, "f changes its choices, which `trims` denies")
    attacked = [given.but(f=0, attack=f"constant:{mean}") for mean in (0.1, 0.9)]
    _check_alike(
        _allowed(attacked, graph="edges:6:1-2"), HEARS_NOBODY, "an agent that hears nobody chooses by what others heard"
    )


def _allowed(experiments: list[Experiment], **settings: Any) -> list[Experiment]:
    """Experiments with other settings; none where the algorithm's own `check` refuses these."""
    try:
        return [experiment.but(**settings) for experiment in experiments]
    except BadInput:
        return []


def _check_alike(experiments: list[Experiment], first: int, broken: str) -> None:
    """Agents from the first one on choose alike in all experiments, round by round."""
    runs = [Run(experiment, 0) for experiment in experiments]
    for time in range(1, SMALL.horizon):
        for run in runs:
            run.advance(time)
        choices = [run.state.choices[first:].tolist() for run in runs]
        assert choices[1:] == choices[:-1], broken
