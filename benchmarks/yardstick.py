"""The yardstick: a bare single-agent UCB1 loop in numba, four arms, nothing else."""

import math
import time

import numba
import numpy as np


@numba.njit
def bare_ucb1(means, horizon, seed):
    np.random.seed(seed)
    arms = means.size
    pulls = np.ones(arms)
    sums = np.zeros(arms)
    for arm in range(arms):
        sums[arm] = 1.0 if np.random.random() < means[arm] else 0.0
    for t in range(1, horizon + 1):
        log_t = math.log(t)
        best, chosen = -1.0, 0
        for arm in range(arms):
            index = sums[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            if index > best:
                best, chosen = index, arm
        pulls[chosen] += 1.0
        if np.random.random() < means[chosen]:
            sums[chosen] += 1.0
    return pulls


def bare_rate(horizon=1_000_000):
    """Steps per second of the bare loop."""
    means = np.array([0.5, 0.45, 0.4, 0.3])
    bare_ucb1(means, 10, 0)
    began = time.perf_counter()
    bare_ucb1(means, horizon, 0)
    return horizon / (time.perf_counter() - began)


def alternate(measure, rounds=7):
    """Measure the yardstick and something else in turn; the median rate of both, and of their ratio."""
    pairs = [(bare_rate(), measure()) for _ in range(rounds)]
    ratios = sorted(bare / rate for bare, rate in pairs)
    bare, rate = (sorted(column)[rounds // 2] for column in zip(*pairs, strict=True))
    return bare, rate, ratios[rounds // 2]
