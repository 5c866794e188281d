"""What policies choose."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byzmab import Belief
from byzmab.core.policies import POLICIES
from byzmab.core.policies.base import argmax_at_random
from byzmab.core.policies.kl_ucb import bernoulli_kl, largest_mean
from byzmab.core.policies.moss import ceiling_of_log


def belief_of(estimates, weights=None, doubts=None, own=None):
    """A belief; own data, (means, pulls), are next to nothing unless given, so that they limit no doubt."""
    estimates = np.array(estimates, float)
    weights = np.full(estimates.size, 10.0) if weights is None else np.array(weights, float)
    doubts = np.zeros(estimates.size) if doubts is None else np.array(doubts, float)
    own_means, own_pulls = (np.ones(estimates.size), np.full(estimates.size, 1e-3)) if own is None else own
    return Belief(estimates, weights, doubts, np.array(own_means, float), np.array(own_pulls, float))


def choose(policy, estimates, weights=None, doubts=None, time=100, state=1, own=None):
    rng = np.array([state], np.uint64)
    policy = POLICIES.resolve(policy)
    return policy.choose(belief_of(estimates, weights, doubts, own), time, np.array(policy.params), rng)


@given(
    st.sampled_from(["ucb", "tuned", "kl-ucb", "moss", "thompson", "thompson-normal"]),
    st.lists(
        st.tuples(*(st.floats(0, 1), st.floats(1, 500), st.floats(0, 2), st.floats(0, 1))), min_size=2, max_size=6
    ),
    st.integers(2, 10_000),
)
def test_a_doubt_raises_an_index_to_the_bound_of_own_data_and_no_further(policy, arms, time):
    """i + min(d, max(0, u − i)): between the index without doubt and the larger of it and the own bound."""
    estimates, weights, doubts, own_means = np.array(arms).T.copy()
    own = own_means, np.maximum(weights / 3, 1.0)
    plugin, nothing = POLICIES.resolve(policy), np.zeros(len(arms))

    def index(*belief):
        rng = np.array([9], np.uint64)
        return plugin.explain(belief_of(*belief), time, np.array(plugin.params), rng)

    doubted, trusted = index(estimates, weights, doubts, own), index(estimates, weights, nothing, own)
    alone = index(*own, nothing, own)
    if not policy.startswith("thompson"):  # where an arm's draws depend on those before it
        expected = trusted + np.minimum(doubts, np.maximum(0.0, alone - trusted))
        assert doubted == pytest.approx(expected)
    assert (doubted >= trusted).all()
    assert (doubted <= trusted + doubts + 1e-12).all()


@pytest.mark.parametrize("policy", ["ucb", "tuned", "kl-ucb", "moss", "thompson", "thompson-normal"])
def test_no_doubt_brings_back_an_arm_that_own_data_rule_out(policy):
    """The second arm is worse by far, after 10 000 own pulls; liars leave it a doubt of 1."""
    own = [0.6, 0.3], [10_000, 10_000]
    for state in range(20):
        assert choose(policy, [0.6, 0.3], [20_000] * 2, [0.0, 1.0], time=20_000, state=state, own=own) == 0


def test_with_nobody_heard_ucb_is_ucb1():
    rng = np.random.default_rng(0)
    for _ in range(200):
        means, pulls, time = rng.random(5), rng.integers(1, 200, 5), int(rng.integers(2, 10_000))
        assert choose("ucb", means, pulls, time=time) == np.argmax(means + np.sqrt(2 * math.log(time) / pulls))


def test_moss_explores_by_the_share_of_the_evidence():
    """z + √(α ln(1 + W/w) / w) + d: whatever the time, and with α after the colon."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        means, weights, doubts = rng.random(5), rng.integers(1, 200, 5), 0.1 * rng.random(5)
        for text, alpha in (("moss", 0.25), ("moss:2", 2.0)):
            index = means + np.sqrt(alpha * np.log1p(weights.sum() / weights) / weights) + doubts
            assert choose(text, means, weights, doubts, time=int(rng.integers(10_000))) == np.argmax(index)


def test_moss_leaves_alone_what_it_knows_better_than_ucb_does():
    """Of an arm that holds nearly all evidence the bonus is √(α ln 2 / w), however late it is."""
    heavy, light = 10_000.0, 100.0
    policy = POLICIES.resolve("moss")
    belief = belief_of([0.0, 0.0], [heavy, light])
    bonus = policy.explain(belief, 10_000, np.array(policy.params), np.zeros(1, np.uint64))
    assert bonus[0] == pytest.approx(math.sqrt(0.25 * math.log(2.01) / heavy))
    assert bonus[1] < math.sqrt(0.25 * math.log(10_000) / light)


@pytest.mark.parametrize("policy", ["ucb", "tuned", "greedy", "kl-ucb", "moss"])
def test_ties_are_broken_uniformly(policy):
    """Three tied arms of four: each is chosen a third of the time, within four standard errors."""
    trials = 3000
    counts = Counter(choose(policy, [0.5, 0.5, 0.1, 0.5 + 1e-14], state=7 * state) for state in range(trials))
    assert set(counts) == {0, 1, 3}
    for arm in counts:
        assert counts[arm] / trials == pytest.approx(1 / 3, abs=4 * math.sqrt(2 / 9 / trials))


def test_at_times_zero_and_one_the_bounds_are_greedy():
    for time in (0, 1):
        assert choose("ucb", [0.4, 0.6], [1, 1000], time=time) == 1
    assert choose("ucb", [0.4, 0.6], [1, 1000], time=2) == 0


def test_doubt_makes_an_arm_worth_a_look():
    assert choose("ucb", [0.5, 0.45]) == 0
    for policy in ("ucb", "tuned", "kl-ucb", "moss"):
        assert choose(policy, [0.5, 0.45], [1e6, 1e6], [0.0, 0.1]) == 1


def test_softmax_draws_among_the_three_largest_with_odds_e_to_the_estimate():
    trials = 6000
    estimates = [0.9, 0.2, 0.6, 0.1]
    counts = Counter(choose("softmax", estimates, state=13 * state) for state in range(trials))
    odds = {arm: math.exp(estimates[arm]) for arm in (0, 1, 2)}
    assert set(counts) == set(odds)
    for arm, weight in odds.items():
        share = weight / sum(odds.values())
        assert counts[arm] / trials == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / trials))


def test_softmax_with_two_arms_has_two_places():
    assert {choose("softmax", [0.9, 0.2], state=state) for state in range(50)} == {0, 1}


@given(z=st.floats(0, 1), w=st.floats(1, 1e6), log_time=st.floats(0, 20))
def test_the_kl_bound_solves_its_equation(z, w, log_time):
    """Within the 1e-12 up to which indices are ties anyway."""
    q = largest_mean(z, w, log_time)
    assert z <= q <= 1.0
    assert w * bernoulli_kl(z, max(q - 1e-12, z)) <= log_time + 1e-9
    if q < 1.0 - 1e-9:
        assert w * bernoulli_kl(z, q + 1e-12) >= log_time - 1e-9


def test_thompson_samples_its_posterior():
    """Two arms with Beta posteriors: the chance that the second is chosen, against numerical integration."""
    trials = 4000
    chosen = sum(choose("thompson", [0.5, 0.6], [20, 30], state=3 * state) for state in range(trials))
    rng = np.random.default_rng(0)
    expected = (rng.beta(1 + 18, 1 + 12, 10**6) > rng.beta(1 + 10, 1 + 10, 10**6)).mean()
    assert chosen / trials == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / trials) + 0.002)


def test_tuned_is_ucb_with_an_eighth_of_the_width():
    rng = np.random.default_rng(1)
    for _ in range(200):
        means, pulls, time = rng.random(4), rng.integers(1, 200, 4), int(rng.integers(2, 10_000))
        chosen = choose("ucb:0.25", means, pulls, time=time)
        assert chosen == choose("tuned", means, pulls, time=time)
        assert chosen == np.argmax(means + np.sqrt(math.log(time) / (4 * pulls)))


def test_softmax_has_as_many_places_as_asked_for_and_cools_down():
    assert {choose("softmax:1", [0.9, 0.2, 0.8], state=state) for state in range(50)} == {0}
    assert {choose("softmax:4", [0.9, 0.2, 0.6, 0.1, 0.0], state=5 * state) for state in range(200)} == {0, 1, 2, 3}
    assert {choose("softmax:3,0.01", [0.9, 0.2, 0.6], state=state) for state in range(50)} == {0}


def test_a_strong_prior_pulls_samples_towards_it():
    chosen = sum(choose("thompson:1000,1", [0.1, 0.9], [1, 10_000], state=3 * state) for state in range(100))
    assert chosen == 0  # the arm of which little is known is as good as the prior says


def test_a_larger_constant_explores_more_by_relative_entropy():
    assert choose("kl-ucb:0.1", [0.5, 0.7], [10, 1000]) == 1
    assert choose("kl-ucb:3", [0.5, 0.7], [10, 1000]) == 0


@given(st.floats(1.0, 1e300))
def test_a_logarithm_is_never_above_its_ceiling(value):
    """By which `moss` leaves out arms that cannot win."""
    assert math.log(value) < ceiling_of_log(value) < math.log(value) + 0.0009


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(1, 40), st.sampled_from([0.0, 0.1, 2.0]), st.floats(0, 1)),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 9),
    st.integers(0, 2**32),
)
def test_moss_chooses_among_the_largest_of_all_indices_however_many_arms_it_leaves_out(few, copies, state):
    """With as many arms as make several blocks, and many that are tied."""
    estimates, weights, doubts, own_means = np.array(few * copies).T.copy()
    belief = belief_of(estimates, weights, doubts, (own_means, np.maximum(weights / 3, 1.0)))
    params = np.array([0.25])
    rng, other = np.array([state], np.uint64), np.array([state], np.uint64)
    index = POLICIES.resolve("moss").explain(belief, 9, params, other)
    assert POLICIES.resolve("moss").choose(belief, 9, params, rng) == argmax_at_random(index, other)
    assert rng == other
