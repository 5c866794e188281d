"""What became of each report in a filter: for people who ask why an agent believes what it does.

`believe` itself tells, by the functions below, while it decides. Where nobody asks, `heard.fates` is None. numba knows
that from the type, so it compiles none of this into the loops of a simulation.
"""

from enum import StrEnum

import numpy as np

from byzmab.core.compiler import compiled
from byzmab.core.report import Fates


class Fate(StrEnum):
    """What became of one report on one arm."""

    KEPT = "kept"  # part of the estimate
    TRIMMED = "trimmed"  # among the f largest or the f smallest: its own mean does not count
    IMPLAUSIBLE = "implausible"  # no honest agent would send it, says `screened`
    INCONSISTENT = "inconsistent"  # fails step A: too few pulls
    UNUSED = "unused"  # there were too few reports to use any, or the filter hears nobody
    UNLIKE = "unlike"  # its arms are too far from the receiver's own to tell anything about them
    SILENT = "silent"  # no pulls told
    EXPELLED = "expelled"  # proven to lie before, and heard no more
    HEARD = "heard"  # the filter, a user's own, does not tell


TOLD = Fate.HEARD, Fate.KEPT, Fate.TRIMMED, Fate.IMPLAUSIBLE, Fate.UNUSED  # what a filter can tell, by its code
HEARD, KEPT, TRIMMED, IMPLAUSIBLE, UNUSED = range(len(TOLD))


def blank_fates(reports: int) -> Fates:
    """Return the fates of so many reports before a filter tells any."""
    return Fates(np.arange(reports), np.full(reports, HEARD))


@compiled
def tell(fates: Fates | None, report: int, fate: int) -> None:
    """Write the fate of a report; the latest one holds."""
    if fates is not None:
        fates.codes[fates.places[report]] = fate


@compiled
def tell_all(fates: Fates | None, fate: int) -> None:
    """Write one fate for all reports."""
    if fates is not None:
        for place in range(fates.codes.size):
            fates.codes[place] = fate


@compiled
def tell_trimmed(fates: Fates | None, size: int, f: int) -> None:
    """Of the first `size` reports, which stand in order, the f at either end are trimmed; 2f or fewer are unused."""
    if fates is not None:
        for report in range(size):
            kept = f <= report < size - f
            fates.codes[fates.places[report]] = UNUSED if size <= 2 * f else KEPT if kept else TRIMMED


@compiled
def move_place(fates: Fates | None, report: int, to: int) -> None:
    """Move the place of a report with it."""
    if fates is not None:
        fates.places[to] = fates.places[report]
