"""The report of a tournament: one self-contained HTML file with its maps and worst cases."""

import html
from pathlib import Path
from typing import Any

from byzmab.core.liars import f_as_given
from byzmab.experiment.assumptions import EXPULSION
from byzmab.experiment.parts import audits_with
from byzmab.results.outputs import Work
from byzmab.results.page import LAYOUT, made, plot, rows, write_page
from byzmab.sweep.identity import what_determines
from byzmab.tournament.draw import COLORS, MOST, cell_at, colours, columns_of, rows_of
from byzmab.tournament.field import Cell, Field
from byzmab.tournament.standings import Standings

TITLE = "A tournament of filters"
COLUMNS = ("filter", "regret over solo", "with policy", "against", "on", "agents", "cells above solo")


def work_of(field: Field) -> Work:
    """What a tournament makes in its directory; runs, filters, policies, attacks and graphs may be added to it."""
    settings = {name: value for name, value in what_determines(field.base).items() if name not in Cell._fields}
    axes = (field.filters, field.policies, field.attacks, field.graphs, field.agents)
    grows = {"runs": field.base.runs, **dict(zip(Cell._fields, map(list, axes), strict=True))}
    return Work("byzmab tournament", ("report.html", "tournament-*.png", "tournament-*.pdf"), settings, grows)


def write_report(standings: Standings, path: Path) -> Path:
    """Write the report."""
    base = standings.field.base
    settings = (
        f"{len(standings.scores)} matches, {base.runs} runs each, horizon {base.horizon}, "
        f"{base.parts.byzantine} liars, f = {f_as_given(base.parts.f)}, seed {base.seed}. "
    )
    maps = "".join(_section(standings, agents) for agents in standings.field.agents)
    body = f"""<p>{html.escape(settings + made(standings.seconds))}</p>
<h2 id="worst">Which filter, against the worst that can happen?</h2>
<p>Every filter's worst case in this tournament: its largest regret relative to that of the same agents alone;
and the number of cells in which it is above 1 by more than two standard errors. Only these are red.</p>
{_expulsion(standings)}{rows(COLUMNS, _worst(standings))}
{maps}"""
    return write_page(path, TITLE, TITLE, body)


def _expulsion(standings: Standings) -> str:
    """Return why regret can fall as the number of Byzantine agents rises, where agents audit."""
    field = standings.field
    audits = any(audits_with(filter, field.base.audit) for filter in field.filters)
    return f"<p>{EXPULSION}</p>" if audits else ""


def _worst(standings: Standings) -> str:
    lines, above = [], standings.above_solo()
    for name, cell in sorted(standings.worst().items(), key=lambda item: standings.scores[item[1]].ratio):
        score = standings.scores[cell]
        error = "" if score.stderr is None else f" ± {score.stderr:.2f}"
        colour = "fails" if score.surely_hurts else "holds"
        verdict = f"{len(above[name])} of {standings.cells_of(name)}"
        parts = (name, f"{score.ratio:.2f}{error}", cell.policy, cell.attack, cell.graph, str(cell.agents), verdict)
        cells = "".join(f"<td>{html.escape(part)}</td>" for part in parts)
        lines.append(f'<tr class="{colour}">{cells}</tr>')
    return "".join(lines)


def _section(standings: Standings, agents: int) -> str:
    label = f"Regret relative to solo of {agents} agents, by filter and policy, attack and graph"
    return f"""<h2 id="agents-{agents}">{agents} agents</h2>
{plot(f"agents-{agents}", label, _map(standings, agents), tall=True)}
<p class="caption">Regret at the horizon over that of the same agents alone. Red: above 1 by more than two
standard errors. Framed: the filter's worst case on this map. Hover over a cell for its standard error.</p>"""


def _map(standings: Standings, agents: int) -> dict[str, Any]:
    down, across = rows_of(standings), columns_of(standings)
    worst = set(standings.worst(agents=agents).values())
    texts, frames = [], []
    for y, row in enumerate(down):
        line = []
        for x, column in enumerate(across):
            cell = cell_at(row, column, agents)
            score = standings.scores[cell]
            error = "" if score.stderr is None else f" ± {score.stderr:.3f}"
            line.append(f"{', '.join(row)}<br>{column[1]} on {column[0]}<br>{score.ratio:.3f}{error}")
            if cell in worst:
                frames.append({"type": "rect", "x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.48, "y1": y + 0.48})
        texts.append(line)
    heat = {
        "type": "heatmap",
        "z": colours(standings, agents).round(4).tolist(),
        "text": texts,
        "hoverinfo": "text",
        "colorscale": [list(color) for color in COLORS],
        "zmin": 0.0,
        "zmax": MOST,
        "colorbar": {"title": {"text": "over solo"}},
    }
    ticks = {"tickmode": "array", "automargin": True, "tickfont": {"size": 10}}
    layout = {
        **LAYOUT,
        "shapes": [{**frame, "line": {"color": "#000", "width": 2}} for frame in frames],
        "xaxis": {
            **ticks,
            "tickvals": list(range(len(across))),
            "ticktext": [f"{attack}, {graph}" for graph, attack in across],
            "tickangle": -60,
        },
        "yaxis": {
            **ticks,
            "tickvals": list(range(len(down))),
            "ticktext": [", ".join(row) for row in down],
            "autorange": "reversed",
        },
    }
    return {"data": [heat], "layout": layout}
