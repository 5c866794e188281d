"""A report of your own agent with its header and witness marks, ready to be sealed."""

from typing import Any, NamedTuple

import numpy as np

from byzmab.node.wire import KINDS, MOST_PULLS, PROTOCOL, AnyReport, Mark


class Header(NamedTuple):
    """Who signs a report, for which network, and its version (epoch, seq)."""

    network: str
    sender: bytes
    epoch: int
    seq: int
    time: float
    reset: int


def signed_report(header: Header, report: Any, marks: list[Mark]) -> AnyReport:
    """A report with header and marks, ready to be sealed; arms without finite numbers are left out."""
    parts = report[:-1]  # pulls first
    finite = np.all([np.isfinite(part).all(axis=tuple(range(1, part.ndim))) for part in parts], axis=0)
    arms = [arm for arm, told in zip(report.arms, finite, strict=True) if told]
    pulls, *content = (part[finite] for part in parts)
    kind, counts = KINDS[type(report)], [int(min(max(count, 0.0), MOST_PULLS)) for count in pulls.tolist()]
    signed: AnyReport = kind(PROTOCOL, *header, arms, counts, *kind.content(*content), marks)
    return signed
