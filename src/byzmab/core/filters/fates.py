"""What became of each report in a filter, in words: for people who ask why an agent believes what it does.

A filter computes; here it is told. Whoever belongs to `kept` is what the estimate is made of. Without `guarded`, whose
weight also credits what was trimmed, the same filter with f = 0, hearing those alone, believes the same.
"""

from collections.abc import Iterable
from enum import StrEnum

from byzmab.core.report import Floats


class Fate(StrEnum):
    """What became of one report on one arm."""

    KEPT = "kept"  # part of the estimate
    TRIMMED = "trimmed"  # among the f largest or the f smallest: its own mean does not count
    IMPLAUSIBLE = "implausible"  # no honest agent would send it, says `screened`
    INCONSISTENT = "inconsistent"  # fails step A: too few pulls
    UNUSED = "unused"  # there were too few reports to use any, or the filter hears nobody
    SILENT = "silent"  # no pulls told
    EXPELLED = "expelled"  # proven to lie before, and heard no more
    HEARD = "heard"  # the filter, a user's own, does not tell


def without_extremes(reports: Iterable[int], pulls: Floats, means: Floats, f: int) -> dict[int, Fate]:
    """The fates of some reports when the f largest and the f smallest means are dropped, equal ones by pulls."""
    order = sorted(reports, key=lambda report: (means[report], pulls[report], report))
    if len(order) <= 2 * f:
        return dict.fromkeys(order, Fate.UNUSED)
    trimmed = {*order[:f], *order[len(order) - f :]}
    return {report: Fate.TRIMMED if report in trimmed else Fate.KEPT for report in order}
