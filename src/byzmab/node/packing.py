"""Statistics at contexts as bytes, on the wire and on the disk: for every arm b, then the lower triangle of G.

All numbers are 64-bit floats, little-endian: 8 (d + d (d + 1) / 2) bytes for an arm at d dimensions.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from byzmab.core.report import Floats

NUMBER = np.dtype("<f8")


@lru_cache(maxsize=16)
def _triangle(d: int) -> tuple[Any, Any]:
    """Rows and columns of a lower triangle."""
    rows, columns = np.tril_indices(d)
    return rows, columns


def bytes_per_arm(d: int) -> int:
    """How many bytes b and G of an arm take."""
    return NUMBER.itemsize * (d + d * (d + 1) // 2)


def pack(moments: Floats, grams: Floats) -> bytes:
    """The bytes of b, arms × d, and G, arms × d × d."""
    rows, columns = _triangle(moments.shape[1])
    return np.concatenate([moments, grams[:, rows, columns]], axis=1).astype(NUMBER).tobytes()


def unpack(packed: bytes, d: int) -> tuple[Floats, Floats]:
    """b and G of as many arms as were packed, or ValueError where the bytes are not of d dimensions."""
    numbers = np.frombuffer(packed, NUMBER).reshape(-1, bytes_per_arm(d) // NUMBER.itemsize).astype(np.float64)
    rows, columns = _triangle(d)
    grams = np.empty((len(numbers), d, d))
    grams[:, rows, columns] = grams[:, columns, rows] = numbers[:, d:]
    return numbers[:, :d].copy(), grams
