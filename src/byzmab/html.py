"""Small pieces of HTML for notebooks: what an object's `_repr_html_` is made of."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDTH, HEIGHT, EDGE = 420, 160, 34  # of a curve, in pixels; EDGE is left for its labels


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a title; numbers stand to the right."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table><caption><b>{escape(title)}</b></caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def folded(summary: str, html: str) -> str:
    """What is seen after a click on its summary."""
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.4g}</td>'
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="text-align:right">{value:,}</td>'
    return f"<td>{escape(str(value))}</td>"


def curve(horizontal: Floats, mean: Floats, spread: Floats | None, below: str, beside: str) -> str:
    """A curve with its band as a drawing; `below` and `beside` name the axes."""
    top = float((mean if spread is None else mean + spread).max()) or 1.0
    right = float(horizontal[-1]) or 1.0
    high, low = mean if spread is None else mean + spread, mean if spread is None else mean - spread
    band = f"{_points(horizontal, high, right, top)} {_points(horizontal[::-1], low[::-1], right, top)}"
    line = _points(horizontal, mean, right, top)
    ink = 'fill="currentColor" font-size="11"'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{escape(beside)}">'
        f'<polygon points="{band}" fill="#1b6ca8" opacity="0.18"/>'
        f'<polyline points="{line}" fill="none" stroke="#1b6ca8" stroke-width="2"/>'
        f'<path d="M{EDGE} 4V{HEIGHT - EDGE / 2}H{WIDTH - 2}" fill="none" stroke="currentColor"/>'
        f'<text x="{WIDTH - 2}" y="{HEIGHT - 3}" text-anchor="end" {ink}>{escape(below)} {right:g}</text>'
        f'<text x="{EDGE + 6}" y="14" {ink}>{escape(beside)}</text>'
        f'<text x="{EDGE - 4}" y="14" text-anchor="end" {ink}>{top:.3g}</text></svg>'
    )


def _points(horizontal: Floats, vertical: Floats, right: float, top: float) -> str:
    """Corners in the coordinates of the drawing, in which the vertical axis points down."""
    bottom, width = HEIGHT - EDGE / 2, WIDTH - EDGE - 2
    return " ".join(
        f"{EDGE + width * across / right:.1f},{bottom - (bottom - 4) * max(up, 0.0) / top:.1f}"
        for across, up in zip(horizontal.tolist(), vertical.tolist(), strict=True)
    )
