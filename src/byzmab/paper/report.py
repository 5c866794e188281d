"""The report: one self-contained HTML file with every figure, claim and number, to be opened offline."""

import html
import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from byzmab.paper.claims import Claim
from byzmab.paper.draw import THIRDS, edges_of, positions
from byzmab.paper.figures import SOLO
from byzmab.paper.reproduction import FigureData, Reproduction
from byzmab.simulation.figure import ALONE, STYLES

DASHES = ("solid", "dash", "dashdot", "dot", "longdashdot")
PACKAGES = ("byzmab", "numpy", "numba", "xarray", "plotly")
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
.plot { width: 100%; height: 26rem; background: #fff; border: 1px solid var(--line); border-radius: 6px; }
.caption { font-size: .9rem; } details { background: var(--soft); padding: .4rem .8rem; border-radius: 6px; }
pre { overflow-x: auto; font-size: .8rem; }
@media (max-width: 40rem) {
  .plot { height: 20rem; } body { padding: 1rem .7rem 3rem; overflow-wrap: anywhere; }
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


def write_report(reproduction: Reproduction, path: Path) -> Path:
    """Write the report."""
    from plotly.offline import get_plotlyjs

    figures = "\n".join(_section(data, reproduction.claims) for data in reproduction.figures.values())
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Byzantine-resilient bandits: the paper, reproduced</title><style>{STYLE}</style>
<script>{get_plotlyjs()}</script></head>
<body><h1>Byzantine-Resilient Decentralized Multi-Armed Bandits: the paper, reproduced</h1>
<p>{html.escape(_provenance(reproduction))}</p>
<h2 id="claims">Claims</h2>{_verdicts(reproduction.claims)}
{figures}
<script>{SCRIPT}</script></body></html>
"""
    path.write_text(page, encoding="utf-8")
    return path


def _provenance(reproduction: Reproduction) -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    results = [result for data in reproduction.figures.values() for result in data.results.values()]
    settings = ""
    if results:
        first = results[0].experiment
        settings = f"{first.runs} runs, seed {first.seed}. "
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{settings}Made {when} in {reproduction.seconds:.0f} s on {machine}, with {versions}."


def _verdicts(claims: dict[str, Claim]) -> str:
    if not claims:
        return "<p>None of the paper's claims rests on these figures alone.</p>"
    rows = "".join(map(_row, claims.values()))
    headings = ("claim", "the paper says", "verdict", "test", "evidence: mean and 95 % interval")
    heading = "".join(f"<th>{name}</th>" for name in headings)
    return f'<div class="scroll"><table><tr>{heading}</tr>{rows}</table></div>'


def _row(item: Claim) -> str:
    evidence = "".join(f"<div>{html.escape(str(number))}</div>" for number in item.evidence)
    return (
        f"<tr><td>{item.id}</td><td>{html.escape(item.statement)} {_links(item)}</td>"
        f'<td class="verdict {item.verdict}">{item.verdict}</td><td>{html.escape(item.test)}</td>'
        f'<td class="evidence">{evidence}</td></tr>'
    )


def _links(item: Claim) -> str:
    return " ".join(f'<a href="#{id}">{id}</a>' for id in item.figures)


def _section(data: FigureData, claims: dict[str, Claim]) -> str:
    figure = data.figure
    mine = [item for item in claims.values() if figure.id in item.figures]
    said = "".join(
        f'<li>{item.id}: {html.escape(item.statement)} <span class="verdict {item.verdict}">{item.verdict}</span></li>'
        for item in mine
    )
    spec = json.dumps(_plot(data)).replace("</", "<\\/")
    title = html.escape(f"{figure.id}. {figure.title}")
    return f"""<h2 id="{figure.id}">{title}</h2>
<div class="plot" id="plot-{figure.id}" role="img" aria-label="{title}"></div>
<script type="application/json" id="data-plot-{figure.id}">{spec}</script>
<p class="caption">{html.escape(figure.caption())}</p>
{f"<ul>{said}</ul>" if said else ""}
<details><summary>the file that makes this figure</summary><pre>{html.escape(figure.source)}</pre></details>"""


def _plot(data: FigureData) -> dict[str, Any]:
    """A figure as Plotly's data and layout."""
    axes: dict[str, Any]
    layout: dict[str, Any] = {
        "margin": {"l": 60, "r": 20, "t": 20, "b": 50},
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "font": {"color": "#1a1a1a"},
        "hovermode": "x unified",
    }
    if data.figure.kind == "graph":
        return {
            "data": _graph_traces(data),
            "layout": {**layout, "hovermode": "closest", "showlegend": False, **_bare_axes()},
        }
    if data.figure.kind == "frequency":
        axes = {"xaxis": {"title": {"text": "arm, best first"}}, "yaxis": {"title": {"text": "share of pulls"}}}
        return {"data": _share_traces(data), "layout": {**layout, "barmode": "group", **axes}}
    axes = {
        "xaxis": {"title": {"text": "round t"}},
        "yaxis": {"title": {"text": "regret per normal agent"}, "rangemode": "tozero"},
    }
    return {"data": _curve_traces(data), "layout": {**layout, **axes}}


def _curve_traces(data: FigureData) -> list[dict[str, Any]]:
    rounds, traces = data.rounds().tolist(), []
    for place, (label, values) in enumerate(data.series().items()):
        color = ALONE[0] if label == SOLO else STYLES[place % len(STYLES)][0]
        dash = "dot" if label == SOLO else DASHES[place % len(DASHES)]
        mean = values.mean(axis=0)
        if len(values) > 1:
            std = values.std(axis=0, ddof=1)
            band = [*(mean + std).round(3).tolist(), *(mean - std).round(3).tolist()[::-1]]
            shade = {"fill": "toself", "fillcolor": color, "opacity": 0.15, "line": {"width": 0}, "hoverinfo": "skip"}
            group = {"legendgroup": label, "showlegend": False, "mode": "lines"}
            traces.append({"x": [*rounds, *rounds[::-1]], "y": band, **shade, **group})
        line = {"color": color, "dash": dash, "width": 2}
        traces.append(
            {
                "x": rounds,
                "y": mean.round(3).tolist(),
                "name": label,
                "legendgroup": label,
                "mode": "lines",
                "line": line,
            }
        )
    return traces


def _share_traces(data: FigureData) -> list[dict[str, Any]]:
    shares = data.shares()
    arms = list(range(1, shares.shape[2] + 1))
    return [
        {
            "type": "bar",
            "x": arms,
            "y": shares[:, third].mean(axis=0).round(5).tolist(),
            "name": name,
            "marker": {"color": color},
        }
        for third, (name, color) in enumerate(zip(THIRDS, ("#1b3a5c", "#7fa3c7", "#e8b98a"), strict=True))
    ]


def _graph_traces(data: FigureData) -> list[dict[str, Any]]:
    agents, byzantine, pairs = edges_of(data)
    places = positions(agents).round(4).tolist()
    x = [value for a, b in pairs for value in (places[a][0], places[b][0], None)]
    y = [value for a, b in pairs for value in (places[a][1], places[b][1], None)]
    names = [f"firm {agent + 1}, {'Byzantine' if agent < byzantine else 'honest'}" for agent in range(agents)]
    colors = ["#b0b0b0" if agent < byzantine else "#ffffff" for agent in range(agents)]
    marker = {"size": 30, "color": colors, "line": {"color": "#000", "width": 1.5}}
    nodes = {
        "text": [str(agent + 1) for agent in range(agents)],
        "hovertext": names,
        "hoverinfo": "text",
        "marker": marker,
    }
    return [
        {"x": x, "y": y, "mode": "lines", "line": {"color": "#777", "width": 1}, "hoverinfo": "skip"},
        {"x": [p[0] for p in places], "y": [p[1] for p in places], "mode": "markers+text", **nodes},
    ]


def _bare_axes() -> dict[str, Any]:
    bare = {"visible": False, "zeroline": False}
    return {"xaxis": {**bare, "scaleanchor": "y"}, "yaxis": bare}
