"""What becomes of each report on an arm at a context, for people who ask."""

import numpy as np
from numpy.typing import NDArray

from byzmab.core.contexts.pairs import Pairs
from byzmab.core.filters.base import Filter
from byzmab.core.filters.fates import Fate


def fates_at(
    filter: Filter,
    pairs: Pairs,
    speaks: NDArray[np.bool_],  # reports: which tell something of the arm
    left_out: NDArray[np.bool_],  # reports: which contradict one's own data
    trusts: bool,
    f: int,  # before vetting
    kappa: float,
    time: int,
    expected: int,  # how many neighbours should tell something
) -> list[Fate]:
    """The fate of every report; unused are those of whom one does not trust, or hear."""
    out = int(left_out.sum())
    silent = max(0, expected - out - int((pairs.pulls > 0.0).sum()))
    if trusts and filter.hears:
        fates = filter.fates(*pairs, f - out, kappa, time, silent)
    else:
        fates = [Fate.UNUSED if says else Fate.SILENT for says in speaks]
    vetted = zip(fates, left_out & speaks, strict=True)
    return [Fate.IMPLAUSIBLE if contradicts else fate for fate, contradicts in vetted]
