"""Reports ordered once for all tell every receiver what a sorted inbox of its own would."""

import random
import statistics
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byzmab import Experiment
from byzmab.ordering.droppable import Droppable, Rule
from byzmab.ordering.extremes import Extremes, admit
from byzmab.ordering.shared_order import (
    SharedOrder,
    load_arm,
    mean_from_end,
    merge_droppable,
    merge_extremes,
    passing,
    queue_receivers,
)
from byzmab.simulation.single_run import Run

NO_RULE = Rule(0, np.inf, False)
counts = st.integers(1, 12).map(float)
means = st.integers(0, 9).map(lambda tenths: tenths / 9)  # few enough that many are equal


def make_extremes(room, agents):
    return Extremes(np.zeros(room), np.zeros(room), np.zeros(room, int), np.zeros(1, int), np.zeros(agents, int))


def make_droppable(normal, agents):
    floats = [np.zeros(size) for size in (4, normal, normal, agents + 1)]
    integers = [np.zeros(size, int) for size in (normal, 1, normal)]
    return Droppable(
        np.zeros(normal),
        np.zeros(normal),
        *integers,
        *floats,
        np.zeros(agents, int),
        np.zeros(normal),
        np.zeros(normal),
    )


@given(reports=st.lists(st.tuples(means, counts), max_size=30), side=st.integers(1, 6))
def test_the_extremes_are_the_lowest_and_the_highest_of_all_that_were_admitted(reports, side):
    extremes = make_extremes(2 * side, len(reports))
    for sender, (mean, count) in enumerate(reports):
        admit(extremes, sender, count, mean)
        expected = sorted(reports[: sender + 1])
        if len(expected) > 2 * side:
            expected = expected[:side] + expected[-side:]
        size = extremes.size[0]
        assert list(zip(extremes.means[:size], extremes.pulls[:size], strict=True)) == expected
        assert np.flatnonzero(extremes.held).tolist() == sorted(extremes.senders[:size].tolist())
        assert all(reports[extremes.senders[index]] == expected[index] for index in range(size))


@given(pulls=st.lists(counts, max_size=40), own=counts, kappa=st.floats(1, 2, exclude_max=True))
def test_as_many_pass_as_a_count_finds(pulls, own, kappa):
    assert passing(np.array(sorted(pulls, reverse=True)), kappa, own) == sum(kappa * count >= own for count in pulls)


class Network(NamedTuple):
    """Tallies on one arm, and for every agent its kappa, the lies it hears and the normal agents it does not hear."""

    liars: int
    pulls: list
    means: list
    kappas: list
    lies: list
    missing: list


@st.composite
def networks(draw):
    """Drawn from a seed, so that examples are large: most agents reach some of the others, but not all."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    liars, normal, strange = draw(st.integers(0, 4)), draw(st.integers(1, 40)), draw(st.integers(0, 2))
    everyone = range(liars + normal)
    strangers = [{rng.randrange(liars, liars + normal) for _ in range(strange)} for _ in everyone]
    return Network(
        liars,
        [float(rng.randint(1, 8)) for _ in everyone],
        [rng.randint(0, 9) / 9 for _ in everyone],
        [rng.choice([1.0, 1.5, 1.9]) for _ in everyone],
        [[(rng.randint(0, 9) / 9, float(rng.randint(1, 8))) for _ in range(rng.randint(0, liars))] for _ in everyone],
        [sorted(strangers[agent] | ({agent} if agent >= liars else set())) for agent in everyone],
    )


def make_order(network, f):
    agents, liars = len(network.pulls), network.liars
    normal = agents - liars
    order = sorted(range(liars, agents), key=lambda agent: -network.pulls[agent])
    starts = np.cumsum([0, *map(len, network.missing)])
    room = min(2 * (max(f, 1) + 1 + max(map(len, network.missing))), normal)
    own = [np.zeros(agents), np.zeros(agents)]  # and told, where reports are tallies
    floats = [*own, *own, *(np.zeros(size) for size in (normal, normal, normal + 1, normal + 1, normal + 1))]
    integers = [np.zeros(size, int) for size in (normal, agents, agents, agents, agents, normal + 2, 1)]
    return SharedOrder(
        np.array([order]),
        starts,
        np.array([other for names in network.missing for other in names], int),
        np.zeros((0, 1)),
        np.zeros((0, 1)),
        make_extremes(room, agents),
        make_droppable(normal, agents),
        *floats,
        *integers,
        np.zeros(liars),
        np.zeros(liars),
        np.zeros(agents, int),
    )


@given(network=networks(), f=st.integers(0, 3), consistency=st.booleans())
def test_every_receiver_hears_what_a_sorted_inbox_of_its_own_would_hold(network, f, consistency):
    shared = make_order(network, f)
    load_arm(shared, np.array(network.pulls)[:, None], np.array(network.means)[:, None], 0)
    queue_receivers(shared, np.array(network.kappas), consistency)
    assert sorted(shared.queue) == list(range(len(network.pulls)))
    for receiver in shared.queue:
        own, kappa = network.pulls[receiver], network.kappas[receiver]
        honest = sorted(
            (network.means[other], network.pulls[other])
            for other in range(network.liars, len(network.pulls))
            if other not in network.missing[receiver] and (not consistency or kappa * network.pulls[other] >= own)
        )
        lies = sorted(network.lies[receiver])
        for index, (mean, count) in enumerate(lies):
            shared.lie_means[index], shared.lie_pulls[index] = mean, count
        heard_pulls, heard_means = np.zeros(len(network.pulls)), np.zeros(len(network.pulls))
        size, middle = merge_extremes(shared, receiver, len(lies), NO_RULE, heard_pulls, heard_means)
        told = list(zip(heard_means[:size], heard_pulls[:size], strict=True))
        everything = sorted(honest + lies)

        assert told == sorted(told)
        assert size + middle.size == len(everything)
        if middle.size:
            assert told[:f] == everything[:f]
            assert told[size - f :] == everything[len(everything) - f :]
        total = [(mean, min(count, own)) for mean, count in everything]
        one_by_one = [(mean, min(count, own)) for mean, count in told]
        for summed, worth in (
            (middle.means, lambda mean, count: mean),
            (middle.pulls, lambda mean, count: count),
            (middle.rewards, lambda mean, count: mean * count),
        ):
            expected = sum(worth(*report) for report in total) - sum(worth(*report) for report in one_by_one)
            assert summed == pytest.approx(expected, abs=1e-12)
        for rank in range(max(f, 1) + 1):
            for low in (True, False):
                found = mean_from_end(shared, receiver, rank, low)
                ordered = honest if low else honest[::-1]
                assert found == ordered[min(rank, len(honest) - 1)][0] if honest else np.isnan(found)


def honest_of(network, receiver):
    everyone = range(network.liars, len(network.pulls))
    return [(network.means[j], network.pulls[j]) for j in everyone if j not in network.missing[receiver]]


@given(
    network=networks(),
    f=st.integers(0, 3),
    limit=st.sampled_from([-1.0, 0.5, 2.0, np.inf]),
    by_pull=st.booleans(),
)
def test_what_a_receiver_may_drop_is_told_one_by_one_and_the_rest_together(network, f, limit, by_pull):
    shared = make_order(network, f)
    load_arm(shared, np.array(network.pulls)[:, None], np.array(network.means)[:, None], 0)
    queue_receivers(shared, np.array(network.kappas), False)
    rule = Rule(f + max(map(len, network.missing)), limit, by_pull)
    for receiver in shared.queue:
        own, lies = network.pulls[receiver], sorted(network.lies[receiver])
        for index, (mean, count) in enumerate(lies):
            shared.lie_means[index], shared.lie_pulls[index] = mean, count
        pulls, means = np.zeros(len(network.pulls)), np.zeros(len(network.pulls))
        size, middle = merge_droppable(shared, receiver, len(lies), rule, pulls, means)
        told, everything = Counter(zip(means[:size], pulls[:size], strict=True)), honest_of(network, receiver) + lies
        together = Counter(everything) - told
        centre = statistics.median([network.means[receiver], *(mean for mean, _ in everything)])

        assert middle.centre == pytest.approx(centre, abs=1e-15)
        assert list(zip(means[:size], pulls[:size], strict=True)) == sorted(told.elements())
        assert together.total() == middle.size == len(everything) - size
        assert middle.at_least_own == sum(count >= own for _, count in together.elements())
        assert middle.pulls == pytest.approx(sum(min(count, own) for _, count in together.elements()))
        assert middle.rewards == pytest.approx(sum(min(count, own) * mean for mean, count in together.elements()))
        assert all((mean - centre) ** 2 * min(count, own) <= limit for mean, count in together.elements())
        for g in range(f + 1 if middle.size > 0 else 0):
            counts_heard = sorted((count for _, count in everything), reverse=True)
            C = min(own, counts_heard[g])
            assert not by_pull or all(count <= C or own == C for _, count in together.elements())

            def key(report, C=C if by_pull else own, centre=middle.centre):
                mean, count = report
                return (min(count, C) * (mean - centre) if by_pull else mean, min(count, C))

            order, outer = sorted(map(key, everything)), sorted(map(key, told.elements()))
            assert outer[:g] == order[:g]
            assert outer[len(outer) - g :] == order[len(order) - g :]


@pytest.mark.parametrize("epoch", [1, 3])
def test_the_order_by_pulls_is_kept_from_round_to_round(epoch):
    experiment = Experiment(agents=20, byzantine=3, arms="random:5", horizon=60, runs=1, epoch=epoch)
    played = Run(experiment, 0, dense=True)
    for time in range(0, experiment.horizon, epoch):
        played.advance(time)
        before = played.state.pulls.copy()
        played.advance(time + 1)  # the first round of an epoch: reports are exchanged
        for arm, order in enumerate(played.state.by_pulls.reshape(5, 17)):
            assert sorted(order) == list(range(3, 20))
            assert (np.diff(before[order, arm]) <= 0).all()
