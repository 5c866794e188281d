"""Random draws that are pure functions of what they are for.

Every draw is a hash of (seed, run, purpose, agent, time, …), so neither the number of workers nor the order of
evaluation changes a digit. A plain transcription of the paper can be given the very same random numbers. The generator
is SplitMix64 (Steele, Lea & Flood 2014): a counter times an odd constant, then a finalizer.
"""

import math

import numpy as np

from byzmab.core.compiler import compiled, compiled_noinline
from byzmab.core.report import Floats, Integers, Words

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53  # from the upper 53 bits to [0, 1)

# What a draw is for.
REWARD, POLICY, GRAPH, SUBSET, ATTACK, ARMS, KAPPA = range(7)
SPREAD, DRIFT, CONTEXTS, LEANS = range(20, 24)


def key_of(seed: int, run: int, purpose: int) -> np.uint64:
    """The key of all draws of one run for one purpose."""
    words = np.random.SeedSequence(seed, spawn_key=(run, purpose)).generate_state(1, np.uint64)
    return words[0]  # type: ignore[no-any-return]


@compiled
def mix(word: np.uint64) -> np.uint64:
    """Scramble 64 bits."""
    word = np.uint64(word)
    word = (word ^ (word >> np.uint64(30))) * MIX_1
    word = (word ^ (word >> np.uint64(27))) * MIX_2
    return word ^ (word >> np.uint64(31))


@compiled
def fold(key: np.uint64, number: int) -> np.uint64:
    """The key of sub-stream `number` of a stream; also its number-th draw."""
    return mix(np.uint64(key) + GOLDEN * (np.uint64(number) + np.uint64(1)))


def key_within(key: np.uint64, *numbers: int) -> np.uint64:
    """The key of a sub-stream of a sub-stream …, for plain Python, to which numba hands words as ints."""
    for number in numbers:
        key = np.uint64(fold(key, number))
    return key


@compiled
def unit(word: np.uint64) -> float:
    """A uniform number on [0, 1) from 64 random bits."""
    return (np.uint64(word) >> np.uint64(11)) * UNIT


@compiled
def uniforms(key: np.uint64, count: int) -> Floats:
    """The first uniform numbers of a stream."""
    values = np.empty(count)
    for number in range(count):
        values[number] = unit(fold(key, number))
    return values


@compiled
def uniform(rng: Words) -> float:
    """The next uniform number on [0, 1) of a stream; `rng` holds its state in one cell."""
    rng[0] += GOLDEN
    return unit(mix(rng[0]))


@compiled
def below(rng: Words, bound: int) -> int:
    """A whole number from 0 to bound − 1, each equally likely."""
    return int(uniform(rng) * bound)


@compiled_noinline
def normal(rng: Words) -> float:
    """A standard normal number (Box & Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(rng)))
    return radius * math.cos(2.0 * math.pi * uniform(rng))


@compiled_noinline
def gamma(rng: Words, shape: float) -> float:
    """A Gamma(shape, 1) number (Marsaglia & Tsang 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(rng)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - uniform(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v


@compiled_noinline
def beta(rng: Words, a: float, b: float) -> float:
    """A Beta(a, b) number."""
    x = gamma(rng, a)
    y = gamma(rng, b)
    if x + y > 0.0:
        return x / (x + y)
    return 1.0 if uniform(rng) < a / (a + b) else 0.0  # shapes so small that both vanished: 0 or 1, nothing between


@compiled_noinline
def normals(key: np.uint64, rows: Integers, count: int) -> Floats:
    """Standard normal numbers: the first of each of so many sub-streams of the sub-stream of each row."""
    values, rng = np.empty((rows.size, count)), np.zeros(1, np.uint64)
    for row in range(rows.size):
        for number in range(count):
            rng[0] = fold(fold(key, rows[row]), number)
            values[row, number] = normal(rng)
    return values


@compiled
def keep_some(rng: Words, items: Integers, count: int) -> None:
    """Move `count` of the items, drawn without replacement, to the front in their order (Knuth's algorithm S)."""
    kept = 0
    for item in range(items.size):
        if uniform(rng) * (items.size - item) < count - kept:
            items[kept] = items[item]
            kept += 1
