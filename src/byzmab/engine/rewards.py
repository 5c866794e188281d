"""Rewards on [0, 1] with a given mean: Bernoulli, Beta, or uniform around it."""

from typing import NamedTuple

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.draws import beta, unit
from byzmab.core.errors import BadInput, unknown
from byzmab.core.report import Words

BERNOULLI, BETA, UNIFORM = range(3)


class Family(NamedTuple):
    """A family of reward distributions, one for every mean."""

    kind: int
    param: float
    about: str
    allowed: str = ""


FAMILIES = {
    "bernoulli": Family(BERNOULLI, 0.0, "1 with probability μ, else 0"),
    "beta": Family(BETA, 4.0, "Beta(c μ, c (1 − μ))", "beta:4, the concentration c above 0; 4 if not given"),
    "uniform": Family(
        UNIFORM,
        0.5,
        "uniform on μ ± h, h cut so that it stays in [0, 1]",
        "uniform:0.5, h in (0, 0.5]; 0.5 if not given",
    ),
}


def parse_family(text: str) -> Family:
    """Read a family such as `beta:4`."""
    name, colon, param = text.partition(":")
    if name not in FAMILIES:
        raise unknown("rewards", name, FAMILIES)
    family = FAMILIES[name]
    if not colon:
        return family
    try:
        value = float(param)
    except ValueError:
        value = 0.0
    if family.kind == BERNOULLI or not 0.0 < value <= (0.5 if family.kind == UNIFORM else 1e9):
        raise BadInput(
            f"rewards parameter {text!r} is not understood; allowed: {family.allowed or f'{name}, without one'}"
        )
    return family._replace(param=value)


@compiled
def reward(kind: int, param: float, mean: float, word: np.uint64, rng: Words) -> float:
    """One reward, from 64 random bits; `rng` is room to work in."""
    if kind == BERNOULLI:
        return 1.0 if unit(word) < mean else 0.0
    if kind == UNIFORM:
        return mean + (2.0 * unit(word) - 1.0) * min(param, mean, 1.0 - mean)
    if mean <= 0.0 or mean >= 1.0:
        return mean
    rng[0] = word
    return beta(rng, param * mean, param * (1.0 - mean))
