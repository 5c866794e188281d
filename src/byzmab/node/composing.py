"""A report of one's own agent with its header and witness marks, ready to be sealed."""

import math
from typing import NamedTuple

import numpy as np

from byzmab.core.contexts.reports import ContextReport
from byzmab.core.report import Report
from byzmab.node.packing import pack
from byzmab.node.wire import MOST_PULLS, PROTOCOL, AnyReport, Mark, SignedContextReport, SignedReport


class Header(NamedTuple):
    """Who signs a report, for which network, and its version (epoch, seq)."""

    network: str
    sender: bytes
    epoch: int
    seq: int
    time: float
    reset: int


def signed_report(header: Header, report: Report | ContextReport, marks: list[Mark]) -> AnyReport:
    """A report with header and marks, ready to be sealed; arms without finite numbers are left out."""
    if isinstance(report, ContextReport):
        return _signed_statistics(header, report, marks)
    rows = [
        (arm, int(min(max(count, 0.0), MOST_PULLS)), mean)
        for arm, count, mean in zip(report.arms, report.pulls.tolist(), report.means.tolist(), strict=True)
        if math.isfinite(count) and math.isfinite(mean)
    ]
    arms, pulls, means = [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
    return SignedReport(PROTOCOL, *header, arms, pulls, means, marks)


def _signed_statistics(header: Header, report: ContextReport, marks: list[Mark]) -> SignedContextReport:
    finite = np.isfinite(report.pulls) & np.isfinite(report.moments).all(1) & np.isfinite(report.grams).all((1, 2))
    arms = [arm for arm, told in zip(report.arms, finite, strict=True) if told]
    pulls = [int(min(max(count, 0.0), MOST_PULLS)) for count in report.pulls[finite].tolist()]
    statistics = pack(report.moments[finite], report.grams[finite])
    return SignedContextReport(PROTOCOL, *header, arms, pulls, report.moments.shape[1], statistics, marks)
