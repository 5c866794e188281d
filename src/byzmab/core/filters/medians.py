"""The median of one's own mean and those that are told."""

import math

from byzmab.core.compiler import compiled
from byzmab.core.report import Floats

FEW = 9  # so many means that are told, and one's own, go through the network below


@compiled
def merged(own_mean: float, means: Floats, rank: int) -> float:
    """What stands at a rank once one's own mean is put among sorted ones."""
    below = means[rank - 1] if rank > 0 else -math.inf
    above = means[rank] if rank < means.size else math.inf
    return max(below, min(own_mean, above))


@compiled
def median_with(own_mean: float, means: Floats) -> float:
    """The median of one's own mean and sorted ones."""
    return (merged(own_mean, means, means.size // 2) + merged(own_mean, means, (means.size + 1) // 2)) / 2.0


@compiled
def in_order(a: float, b: float) -> tuple[float, float]:
    """Two numbers, the smaller one first."""
    return min(a, b), max(a, b)


@compiled
def at(means: Floats, index: int, otherwise: float) -> float:
    """A mean, or something else where there are not so many."""
    return means[index] if index < means.size else otherwise


@compiled
def median_of_few(own_mean: float, means: Floats) -> float:
    """The median of one's own mean and at most nine others, in any order.

    A sorting network: ten numbers in registers, compared in a fixed order, so that there is no branch to mistake. Its
    29 comparisons, the fewest known for ten, are tried on all zeros and ones by a test. Missing numbers are
    infinite, as many at either end, or one more above.
    """
    a, b, c = at(means, 0, math.inf), at(means, 1, -math.inf), at(means, 2, math.inf)
    d, e, f = at(means, 3, -math.inf), at(means, 4, math.inf), at(means, 5, -math.inf)
    g, h, i = at(means, 6, math.inf), at(means, 7, -math.inf), at(means, 8, math.inf)
    j = own_mean
    a, i = in_order(a, i)
    b, j = in_order(b, j)
    c, h = in_order(c, h)
    d, f = in_order(d, f)
    e, g = in_order(e, g)
    a, c = in_order(a, c)
    b, e = in_order(b, e)
    f, i = in_order(f, i)
    h, j = in_order(h, j)
    a, d = in_order(a, d)
    c, e = in_order(c, e)
    f, h = in_order(f, h)
    g, j = in_order(g, j)
    a, b = in_order(a, b)
    d, g = in_order(d, g)
    i, j = in_order(i, j)
    b, f = in_order(b, f)
    c, d = in_order(c, d)
    e, i = in_order(e, i)
    g, h = in_order(g, h)
    b, c = in_order(b, c)
    d, f = in_order(d, f)
    e, g = in_order(e, g)
    h, i = in_order(h, i)
    c, d = in_order(c, d)
    e, f = in_order(e, f)
    g, h = in_order(g, h)
    d, e = in_order(d, e)
    f, g = in_order(f, g)
    return e if means.size % 2 == 0 else (e + f) / 2.0
