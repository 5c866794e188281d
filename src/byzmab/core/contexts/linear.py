"""Linear algebra of small symmetric matrices, compiled. A matrix is flat: entry (a, b) of d × d stands at a d + b."""

import math

from byzmab.core.compiler import compiled_borrowing, compiled_borrowing_noinline
from byzmab.core.report import Floats


@compiled_borrowing
def dot(left: Floats, right: Floats) -> float:
    """The inner product of two vectors."""
    even, odd, half = 0.0, 0.0, left.size // 2  # two sums, so that one addition need not wait for the other
    for index in range(half):
        even += left[2 * index] * right[2 * index]
        odd += left[2 * index + 1] * right[2 * index + 1]
    if 2 * half < left.size:
        even += left[left.size - 1] * right[left.size - 1]
    return even + odd


@compiled_borrowing
def trace_of(left: Floats, right: Floats, d: int) -> float:
    """The trace of the product of two symmetric matrices, of which the lower triangles are read."""
    total = 0.0
    for a in range(d):
        row = 0.0
        for b in range(a):
            row += left[a * d + b] * right[a * d + b]
        total += 2.0 * row + left[a * d + a] * right[a * d + a]
    return total


@compiled_borrowing
def form(matrix: Floats, left: Floats, right: Floats) -> float:
    """(left − right)ᵀ matrix (left − right) of a symmetric matrix, of which the lower triangle is read."""
    d, total = left.size, 0.0
    for a in range(d):
        row, entry = 0.0, left[a] - right[a]
        for b in range(a):
            row += matrix[a * d + b] * (left[b] - right[b])
        total += entry * (2.0 * row + matrix[a * d + a] * entry)
    return total


@compiled_borrowing
def between(left: Floats, matrix: Floats, right: Floats) -> float:
    """leftᵀ matrix right."""
    d, total = left.size, 0.0
    for a in range(d):
        row = 0.0
        for b in range(d):
            row += matrix[a * d + b] * right[b]
        total += left[a] * row
    return total


@compiled_borrowing_noinline
def multiply(matrix: Floats, vector: Floats, out: Floats) -> None:
    """Write matrix · vector to `out`."""
    d = vector.size
    for a in range(d):
        total = 0.0
        for b in range(d):
            total += matrix[a * d + b] * vector[b]
        out[a] = total


@compiled_borrowing_noinline
def add_outer(matrix: Floats, vector: Floats, factor: float) -> None:
    """Add factor · vector vectorᵀ to a matrix, in place."""
    d = vector.size
    for a in range(d):
        for b in range(d):
            matrix[a * d + b] += factor * vector[a] * vector[b]


@compiled_borrowing_noinline
def factorize(matrix: Floats, d: int) -> bool:
    """Put the Cholesky factor, lower triangle, in a matrix's place; False if it is not positive definite.

    On its diagonal are the reciprocals, so that solving with it needs no division.
    """
    for a in range(d):
        for b in range(a + 1):
            total = matrix[a * d + b]
            for c in range(b):
                total -= matrix[a * d + c] * matrix[b * d + c]
            if a > b:
                matrix[a * d + b] = total * matrix[b * d + b]
            elif 0.0 < total < math.inf:
                matrix[a * d + a] = 1.0 / math.sqrt(total)
            else:
                return False
    return True


@compiled_borrowing_noinline
def solve(factor: Floats, right: Floats, out: Floats) -> None:
    """Write the solution of (L Lᵀ) out = right to `out`, L being what `factorize` made."""
    d = right.size
    for a in range(d):
        total = right[a]
        for c in range(a):
            total -= factor[a * d + c] * out[c]
        out[a] = total * factor[a * d + a]
    for a in range(d - 1, -1, -1):
        total = out[a]
        for c in range(a + 1, d):
            total -= factor[c * d + a] * out[c]
        out[a] = total * factor[a * d + a]


@compiled_borrowing_noinline
def invert(factor: Floats, d: int, inverse: Floats) -> None:
    """Write (L Lᵀ)⁻¹ to `inverse`, symmetric to the last digit."""
    for column in range(d):
        for a in range(d):  # L y = e, and y is 0 above the column
            total = 1.0 if a == column else 0.0
            for c in range(column, a):
                total -= factor[a * d + c] * inverse[column * d + c]
            inverse[column * d + a] = total * factor[a * d + a]
        for a in range(d - 1, column - 1, -1):  # Lᵀ z = y, from the column on
            total = inverse[column * d + a]
            for c in range(a + 1, d):
                total -= factor[c * d + a] * inverse[column * d + c]
            inverse[column * d + a] = total * factor[a * d + a]
    for a in range(d):
        for b in range(a):
            inverse[a * d + b] = inverse[b * d + a]
