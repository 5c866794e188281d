r"""Gaussian rewards, truncated to [0, 1]: what lies outside is drawn again.

Truncation alone would move the means towards ½. So the location m of the untruncated bell is not μ, but chosen such
that the truncated one has mean μ: m lies beyond μ as seen from ½, for μ near 0 or 1 even outside [0, 1].
"""

import math
from dataclasses import dataclass

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import normal, uniform
from byzmab.core.report import Floats, Words
from byzmab.worlds.rewards import Pull, Rewards, where_rising

LEAST, MOST = 0.001, 10.0  # σ
FARTHEST = math.asinh(1e12)  # of m, either way
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(80)
NEGLIGIBLE = 40.0  # nats below the peak of a density
FLAT = 2.0  # nats from one end of [0, 1] to the other, up to which uniform proposals are best


@compiled
def proposed_from_flat(location: float, sigma: float, rng: Words) -> float:
    """A number on [0, 1], for location ≤ ½ and densities that are nearly flat: uniform proposals."""
    peak = max(location, 0.0) - location
    while True:
        value = uniform(rng)
        drop = ((value - location) ** 2 - peak**2) / (2.0 * sigma**2)
        if uniform(rng) < math.exp(-drop):
            return value


@compiled
def proposed_from_tail(location: float, sigma: float, rng: Words) -> float:
    """A number on [0, 1], for location < 0: exponential proposals (Robert 1995)."""
    start = -location / sigma
    rate = (start + math.sqrt(start**2 + 4.0)) / 2.0
    while True:
        step = -math.log(1.0 - uniform(rng)) / rate
        if uniform(rng) < math.exp(-((start + step - rate) ** 2) / 2.0) and step * sigma <= 1.0:
            return step * sigma


@compiled
def proposed_from_bell(location: float, sigma: float, rng: Words) -> float:
    """A number on [0, 1], for a location within: the bell itself, until it falls inside."""
    while True:
        value = location + sigma * normal(rng)
        if 0.0 <= value <= 1.0:
            return value


@compiled
def reward(pull: Pull, params: Floats, rng: Words) -> float:
    """A truncated Gaussian number of mean μ; μ itself where that is 0 or 1."""
    if pull.mean <= 0.0 or pull.mean >= 1.0:
        return pull.mean
    sigma, mirrored = params[0], pull.prepared > 0.5
    location = 1.0 - pull.prepared if mirrored else pull.prepared
    if (1.0 - 2.0 * min(location, 0.0)) / (2.0 * sigma**2) <= FLAT:
        value = proposed_from_flat(location, sigma, rng)
    elif location < 0.0:
        value = proposed_from_tail(location, sigma, rng)
    else:
        value = proposed_from_bell(location, sigma, rng)
    return 1.0 - value if mirrored else value


def mean_of(locations: Floats, sigma: float) -> Floats:
    """The mean of a bell truncated to [0, 1], by Gauss–Legendre quadrature where its density is not negligible."""
    peaks = locations.clip(0.0, 1.0)
    slopes = np.abs(locations - peaks) / sigma**2
    # from the peak on the density falls by slope · d + d² / 2σ² nats
    reach = 2.0 * NEGLIGIBLE / (slopes + np.sqrt(slopes**2 + 2.0 * NEGLIGIBLE / sigma**2))
    low, high = np.maximum(peaks - reach, 0.0), np.minimum(peaks + reach, 1.0)
    points = low[..., None] + (high - low)[..., None] * (NODES + 1.0) / 2.0
    from_peak = points - peaks[..., None]
    # (x − m)² − (p − m)² without the difference of two large numbers
    drops = from_peak * (from_peak + 2.0 * (peaks - locations)[..., None]) / (2.0 * sigma**2)
    density = NODE_WEIGHTS * np.exp(-drops)
    return np.asarray(peaks + (density * from_peak).sum(axis=-1) / density.sum(axis=-1))


@dataclass(frozen=True)
class Gaussian(Rewards):
    """Gaussian of standard deviation σ truncated to [0, 1], its location chosen such that the mean is μ."""

    parameters = "gaussian:0.1, σ before truncation, in [0.001, 10]; 0.1 if not given"
    reward = staticmethod(reward)
    sigma: float = 0.1

    def __post_init__(self) -> None:
        if not LEAST <= self.sigma <= MOST:
            raise self.misunderstood(self.sigma)

    def prepare(self, means: Floats) -> Floats:
        """The location m for every mean."""
        return np.sinh(where_rising(lambda m: mean_of(np.sinh(m), self.sigma), means, -FARTHEST, FARTHEST))
