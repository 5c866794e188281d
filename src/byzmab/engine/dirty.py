"""Dirty arms: on which arms a report changed in this round, a bit for each arm in words of 64."""

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.report import Words

WORD = 64  # arms in a word
NO_BITS, ALL_BITS = np.uint64(0), np.uint64(2**64 - 1)


@compiled
def bit_of(arm: int) -> np.uint64:
    """Return the word in which the bit of an arm is set."""
    return np.uint64(1) << (np.uint64(arm) & np.uint64(63))


@compiled
def span_of(word: int, arms: int) -> tuple[int, int]:
    """Return the first arm of a word, and the one after its last."""
    return WORD * word, min(arms, WORD * (word + 1))


@compiled
def mark(dirty: Words, arm: int) -> None:
    """Set the bit of an arm."""
    dirty[np.uint64(arm) >> np.uint64(6)] |= bit_of(arm)


@compiled
def is_marked(dirty: Words, arm: int) -> bool:
    """Return whether the bit of an arm is set."""
    return bool(dirty[np.uint64(arm) >> np.uint64(6)] & bit_of(arm))


@compiled
def fill(dirty: Words, bits: np.uint64) -> None:
    """Set every word to the same bits: to all of them or to none."""
    for word in range(dirty.size):
        dirty[word] = bits
