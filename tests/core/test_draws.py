"""Draws are pure functions, and distributed as they say."""

import math

import numpy as np
import pytest

from byzmab.core import draws

COUNT = 40_000


def test_splitmix64_gives_its_published_first_numbers():
    """The first outputs of SplitMix64 seeded with 1234567, as in the reference implementation by Vigna."""
    states = [(1234567 + step * int(draws.GOLDEN)) % 2**64 for step in (1, 2, 3)]
    found = [int(draws.mix(np.uint64(state))) for state in states]
    assert found == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize(
    ("draw", "mean", "variance"),
    [
        (draws.uniform, 0.5, 1 / 12),
        (draws.normal, 0.0, 1.0),
        (lambda rng: draws.gamma(rng, 2.5), 2.5, 2.5),
        (lambda rng: draws.gamma(rng, 0.3), 0.3, 0.3),
        (lambda rng: draws.beta(rng, 2.0, 3.0), 0.4, 0.04),
        (lambda rng: draws.below(rng, 5), 2.0, 2.0),
    ],
)
def test_draws_have_their_mean_and_variance(draw, mean, variance):
    """Within five standard errors of the mean, and the variance within 5 %."""
    rng = np.array([42], np.uint64)
    values = np.array([draw(rng) for _ in range(COUNT)])
    assert values.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / COUNT))
    assert values.var() == pytest.approx(variance, rel=0.05)


def test_streams_of_neighbouring_keys_are_unrelated():
    values = np.array([draws.uniforms(np.uint64(key), 200) for key in range(50)])
    correlations = np.corrcoef(values) - np.eye(50)
    assert abs(correlations).max() < 0.4  # five standard errors of 1 / √200 and a little


def test_keeping_some_keeps_each_equally_often_and_in_order():
    kept = np.zeros(6)
    for state in range(6000):
        items = np.arange(6)
        draws.keep_some(np.array([state], np.uint64), items, 2)
        assert items[0] < items[1]
        kept[items[:2]] += 1
    assert kept / 6000 == pytest.approx(np.full(6, 1 / 3), abs=4 * math.sqrt(2 / 9 / 6000))


def test_runs_and_purposes_have_keys_of_their_own():
    keys = {int(draws.key_of(seed, run, purpose)) for seed in range(5) for run in range(20) for purpose in range(7)}
    assert len(keys) == 5 * 20 * 7
