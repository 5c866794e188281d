"""The report: one self-contained HTML file with every figure, claim and number, to be opened offline."""

import html
from pathlib import Path
from typing import Any

from byzmab.core.report import Floats
from byzmab.paper.claims import FAILS, HOLDS, INCONCLUSIVE, Claim, Measured, against_solo, steps
from byzmab.paper.draw import THIRD_COLORS, THIRDS, positions
from byzmab.paper.figures import SOLO, About
from byzmab.paper.reproduction import FigureData, Reproduction
from byzmab.results.figure import ALONE, STYLES
from byzmab.results.page import FRAME, LAYOUT, made, plot, rows, write_page
from byzmab.results.statistics import band
from byzmab.sweep.identity import algorithm_version

DASHES = ("solid", "dash", "dashdot", "longdash", "longdashdot", "6px,4px")  # none is dotted but solo
VERDICTS = (HOLDS, FAILS, INCONCLUSIVE)
TITLE = "Byzantine-resilient bandits: the paper, reproduced"
HEADING = "Byzantine-Resilient Decentralized Multi-Armed Bandits: the paper, reproduced"
COLUMNS = ("claim", "the paper says", "verdict", "test", "evidence: mean and 95 % interval")


def write_report(reproduction: Reproduction, path: Path) -> Path:
    """Write the report."""
    settings = _settings([data.about for data in reproduction.figures.values()])
    figures = "\n".join(_section(data, reproduction.claims) for data in reproduction.figures.values())
    body = f"""{_tally(reproduction.claims)}
{_contents(reproduction)}
<p>{html.escape(settings)}</p>
<p class="caption">{html.escape(made(reproduction.seconds))}</p>
<h2 id="claims">Claims</h2>{_verdicts(reproduction.claims)}
{figures}"""
    return write_page(path, TITLE, HEADING, body)


def _settings(figures: list[About]) -> str:
    """Runs, seed and horizon that most figures have, and those of all others."""
    groups: dict[str, list[str]] = {}
    for about in figures:
        groups.setdefault(about.in_words(), []).append(about.id)
    usual, *others = sorted(groups, key=lambda words: -len(groups[words])) or [""]
    sentences = [f"{', '.join(groups[words])}: {words}." for words in others]
    return " ".join([*sentences, f"{'All other figures' if others else 'All figures'}: {usual}."])


def _tally(claims: dict[str, Claim]) -> str:
    """How many claims hold, fail and stay open, with their names."""
    if not claims:
        return ""
    said = []
    for verdict in VERDICTS:
        names = [f'<a href="#{item.id}">{item.id}</a>' for item in claims.values() if item.verdict == verdict]
        words = f": {', '.join(names)}" if names else ""
        count = f"{len(names)} {_conjugated(verdict, len(names))}"
        said.append(f'<li><strong class="verdict {verdict}">{count}</strong>{words}</li>')
    return (
        f'<p>Of the paper\'s {len(claims)} claims that rest on these figures</p><ul class="tally">{"".join(said)}</ul>'
    )


def _conjugated(verdict: str, count: int) -> str:
    """1 holds, 2 hold; 1 is inconclusive."""
    if verdict == INCONCLUSIVE:
        return f"{'is' if count == 1 else 'are'} {verdict}"
    return verdict if count == 1 else verdict.removesuffix("s")


def _contents(reproduction: Reproduction) -> str:
    figures = (data.about for data in reproduction.figures.values())
    items = "".join(
        f'<li><a href="#{one.id}">{one.id}. {html.escape(one.title)}</a>, {_runs(one)}</li>' for one in figures
    )
    return f'<nav aria-label="Contents"><ul class="contents"><li><a href="#claims">Claims</a></li>{items}</ul></nav>'


def _runs(about: About) -> str:
    return "1 run" if about.runs == 1 else f"{about.runs} runs"


def _differences(data: FigureData) -> str:
    """The paired differences at the horizon with their intervals: what the verdicts rest on."""
    if data.about.kind not in ("regret", "agents"):
        return ""
    found = [*against_solo(data), *(steps(data) if data.about.kind == "regret" else [])]
    heading = ("at the horizon, paired run by run", "difference", "95 % interval")
    return rows(heading, "".join(map(_difference, found)))


def _difference(item: Measured) -> str:
    cells = html.escape(item.what), f"{item.mean:+.1f}", f"{item.low:+.1f} to {item.high:+.1f}"
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _verdicts(claims: dict[str, Claim]) -> str:
    if not claims:
        return "<p>None of the paper's claims rests on these figures alone.</p>"
    return rows(COLUMNS, "".join(map(_row, claims.values())))


def _row(item: Claim) -> str:
    evidence = "".join(f"<div>{html.escape(str(number))}</div>" for number in item.evidence)
    return (
        f'<tr id="{item.id}"><td>{item.id}</td><td>{html.escape(item.statement)} {_links(item)}</td>'
        f'<td class="verdict {item.verdict}">{item.verdict}</td><td>{html.escape(item.test)}</td>'
        f'<td class="evidence">{evidence}{_made_from(item)}</td></tr>'
    )


def _made_from(item: Claim) -> str:
    """The figures that a claim was decided from, as they were; those that were made alike together."""
    groups: dict[str, list[str]] = {}
    for id, about in item.made_from.items():
        groups.setdefault(about.in_words(), []).append(id)
    told = "; ".join(f"{', '.join(ids)}: {words}" for words, ids in groups.items()) or "4000 drawn graphs for each q"
    return f'<div class="from"><em>decided from {told}</em></div>'


def _links(item: Claim) -> str:
    return " ".join(f'<a href="#{id}">{id}</a>' for id in item.figures)


def _section(data: FigureData, claims: dict[str, Claim]) -> str:
    figure, version = data.about, algorithm_version()
    mine = [item for item in claims.values() if figure.id in item.figures]
    said = "".join(
        f'<li>{item.id}: {html.escape(item.statement)} <span class="verdict {item.verdict}">{item.verdict}</span></li>'
        for item in mine
    )
    title = f"{figure.id}. {figure.title}"
    older = "" if figure.version == version else "; made by another version of byzmab"
    return f"""<h2 id="{figure.id}">{html.escape(title)}</h2>
<p class="caption"><strong>{html.escape(figure.in_words() + older)}.</strong></p>
{plot(figure.id, title, _plot(data))}
<p class="caption">{html.escape(figure.caption)}</p>
{_differences(data)}
{f"<ul>{said}</ul>" if said else ""}
<details><summary>the file that makes this figure</summary><pre>{html.escape(figure.source)}</pre></details>"""


def _plot(data: FigureData) -> dict[str, Any]:
    """A figure as Plotly's data and layout."""
    axes: dict[str, Any]
    layout = {**LAYOUT, "hovermode": "x unified"}
    if data.about.kind == "graph":
        return {
            "data": _graph_traces(data),
            "layout": {**layout, "hovermode": "closest", "showlegend": False, **_bare_axes()},
        }
    if data.about.kind == "frequency":
        axes = {
            "xaxis": {**FRAME, "title": {"text": "arm, best first"}},
            "yaxis": {**FRAME, "title": {"text": "share of pulls"}},
        }
        return {"data": _share_traces(data), "layout": {**layout, "barmode": "group", **axes}}
    axes = {
        "xaxis": {**FRAME, "title": {"text": "round t"}},
        "yaxis": {**FRAME, "title": {"text": "regret per normal agent"}, "rangemode": "tozero"},
    }
    return {"data": _curve_traces(data), "layout": {**layout, **axes}}


def _curve_traces(data: FigureData) -> list[dict[str, Any]]:
    rounds, traces = data.rounds.tolist(), []
    for index, (label, values) in enumerate(data.curves.items()):
        color = ALONE[0] if label == SOLO else STYLES[index % len(STYLES)][0]
        dash = "dot" if label == SOLO else DASHES[index % len(DASHES)]
        mean, std = band(values)
        if std is not None:
            around = [*(mean + std).round(3).tolist(), *(mean - std).round(3).tolist()[::-1]]
            shade = {"fill": "toself", "fillcolor": color, "opacity": 0.15, "line": {"width": 0}, "hoverinfo": "skip"}
            group = {"legendgroup": label, "showlegend": False, "mode": "lines"}
            traces.append({"x": [*rounds, *rounds[::-1]], "y": around, **shade, **group})
        line = {"color": color, "dash": dash, "width": 3 if label == SOLO else 2}
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
    shares = data.shares
    arms = list(range(1, shares.shape[2] + 1))
    return [
        {
            "type": "bar",
            "x": arms,
            "y": shares[:, third].mean(axis=0).round(5).tolist(),
            "name": name,
            "marker": {"color": color},
            "error_y": {"array": _whiskers(shares[:, third]), "thickness": 0.8, "width": 2, "color": "#333"},
        }
        for third, (name, color) in enumerate(zip(THIRDS, THIRD_COLORS, strict=True))
    ]


def _whiskers(values: Floats) -> list[float]:
    """One standard deviation over runs, or none of a single run."""
    _, std = band(values)
    return [] if std is None else std.round(5).tolist()


def _graph_traces(data: FigureData) -> list[dict[str, Any]]:
    agents, liars, pairs = data.graph
    points = positions(agents).round(4).tolist()
    x = [value for a, b in pairs for value in (points[a][0], points[b][0], None)]
    y = [value for a, b in pairs for value in (points[a][1], points[b][1], None)]
    names = [f"firm {agent + 1}, {'Byzantine' if agent in liars else 'honest'}" for agent in range(agents)]
    colors = ["#b0b0b0" if agent in liars else "#ffffff" for agent in range(agents)]
    marker = {"size": 30, "color": colors, "line": {"color": "#000", "width": 1.5}}
    nodes = {
        "text": [str(agent + 1) for agent in range(agents)],
        "hovertext": names,
        "hoverinfo": "text",
        "marker": marker,
    }
    return [
        {"x": x, "y": y, "mode": "lines", "line": {"color": "#777", "width": 1}, "hoverinfo": "skip"},
        {"x": [p[0] for p in points], "y": [p[1] for p in points], "mode": "markers+text", **nodes},
    ]


def _bare_axes() -> dict[str, Any]:
    bare = {"visible": False, "zeroline": False}
    return {"xaxis": {**bare, "scaleanchor": "y"}, "yaxis": bare}
