"""A page that needs nothing else: one HTML file with its style, its figures' data and Plotly inside."""

import html
import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from byzmab.results.outputs import write_text

PACKAGES = ("byzmab", "numpy", "numba", "xarray", "plotly")
LAYOUT: dict[str, Any] = {  # of every figure
    "margin": {"l": 60, "r": 20, "t": 20, "b": 50},
    "paper_bgcolor": "#fff",
    "plot_bgcolor": "#fff",
    "font": {"color": "#1a1a1a"},
}
FRAME: dict[str, Any] = {"showline": True, "mirror": True, "linecolor": "#999", "gridcolor": "#e6e6e6"}  # of an axis
STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --line: #d5d5d5; --soft: #f4f4f2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181c; --line: #3a3d43; --soft: #1f2227; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.2rem; margin: 3rem 0 .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line); }
td.evidence { font-size: .8rem; min-width: 15rem; } td.evidence div { white-space: nowrap; }
.verdict { font-weight: 600; white-space: nowrap; }
.holds { color: #1f7a3a; } .fails { color: #b3261e; } .inconclusive { color: #8a6100; }
@media (prefers-color-scheme: dark) {
  .holds { color: #6fd08c; } .fails { color: #ff8a80; } .inconclusive { color: #e6b94a; }
}
.plot { width: 100%; height: 26rem; background: #fff; }
.plot.tall { height: 46rem; }
.tally, .contents { padding-left: 1.2rem; margin: .4rem 0 1rem; } .contents { columns: 2; } nav { font-size: .95rem; }
@media (max-width: 40rem) { .contents { columns: 1; } }
.caption { font-size: .9rem; } details { background: var(--soft); padding: .4rem .8rem; border-radius: 6px; }
pre { overflow-x: auto; font-size: .8rem; }
@media (max-width: 40rem) {
  .plot, .plot.tall { height: 20rem; } body { padding: 1rem .7rem 3rem; overflow-wrap: anywhere; }
  table, tbody, tr, td { display: block; width: 100%; } tr:has(th) { display: none; }
  tr { border: 1px solid var(--line); border-radius: 6px; margin: .8rem 0; padding: .3rem; }
  td { border: 0; padding: .15rem .5rem; }
  td.evidence div { white-space: normal; }
}
"""
SCRIPT = """
for (const box of document.querySelectorAll(".plot")) {
  const spec = JSON.parse(document.getElementById("data-" + box.id).textContent);
  if (window.innerWidth < 640) { spec.layout.legend = {orientation: "h", y: -0.25}; spec.layout.margin.r = 10; }
  Plotly.newPlot(box, spec.data, spec.layout, {responsive: true, displaylogo: false});
}
"""


def write_page(path: Path, title: str, heading: str, body: str) -> Path:
    """Write a page; the body is HTML in which `plot` may stand."""
    from plotly.offline import get_plotlyjs

    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{STYLE}</style>
<script>{get_plotlyjs()}</script></head>
<body><h1>{html.escape(heading)}</h1>
{body}
<script>{SCRIPT}</script></body></html>
"""
    return write_text(path, page)


def plot(name: str, label: str, spec: dict[str, Any], tall: bool = False) -> str:
    """A figure, from Plotly's data and layout; `label` is what it shows, for those who do not see it."""
    data = json.dumps(spec).replace("</", "<\\/")
    kind = "plot tall" if tall else "plot"
    return f"""<div class="{kind}" id="plot-{name}" role="img" aria-label="{html.escape(label)}"></div>
<script type="application/json" id="data-plot-{name}">{data}</script>"""


def rows(headings: Sequence[str], body: str) -> str:
    """A table, from its headings and the HTML of its rows; it scrolls where it is too wide."""
    heading = "".join(f"<th>{html.escape(name)}</th>" for name in headings)
    return f'<div class="scroll"><table><tr>{heading}</tr>{body}</table></div>'


def made(seconds: float) -> str:
    """When, where and with what a page was made."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"Made {when} in {seconds:.0f} s on {machine}, with {versions}."
