"""Heat maps of a tournament: blue where cooperation helps, red where agents surely did worse than alone."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.results.figure import new_figure, save_figure
from byzmab.tournament.field import Cell
from byzmab.tournament.standings import Standings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# below 1 the darker the better, at 1 nearly white, above it red at once
COLORS = ((0.0, "#1b4f8a"), (0.45, "#9fc3e6"), (0.5, "#f7f7f7"), (0.501, "#f4b6a6"), (1.0, "#a50f15"))
MOST = 2.0  # ratios beyond are drawn alike
SHADES = 2001  # so many that 1 itself, being alone, has one of its own
LONGEST = 24  # characters of an attack's name below a column; what a search found has many parameters


def rows_of(standings: Standings) -> list[tuple[str, str]]:
    """Filter and policy of every row."""
    return [(filter, policy) for filter in standings.field.filters for policy in standings.field.policies]


def columns_of(standings: Standings) -> list[tuple[str, str]]:
    """Graph and attack of every column."""
    return [(graph, attack) for graph in standings.field.graphs for attack in standings.field.attacks]


def cell_at(row: tuple[str, str], column: tuple[str, str], agents: int) -> Cell:
    """The cell in a row and a column of the map for so many agents."""
    return Cell(row[0], row[1], column[1], column[0], agents)


def colours(standings: Standings, agents: int) -> Floats:
    """Return what the map is coloured by."""
    return np.array(
        [
            [standings.scores[cell_at(row, column, agents)].shade for column in columns_of(standings)]
            for row in rows_of(standings)
        ]
    )


def shades() -> Any:
    """The colours of ratios from 0 to MOST."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("help and harm", COLORS, N=SHADES)


def short(name: str) -> str:
    """A name that fits below a column."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def draw_map(standings: Standings, agents: int) -> "Figure":
    """One map: filters and policies down, graphs and attacks across, each filter's worst case framed."""
    from matplotlib.patches import Rectangle

    rows, columns = rows_of(standings), columns_of(standings)
    figure = new_figure(max(7.0, 2.6 + 0.5 * len(columns)), 2.2 + 0.36 * len(rows))
    axes = figure.subplots()
    values = colours(standings, agents)
    image = axes.imshow(values, cmap=shades(), vmin=0.0, vmax=MOST, aspect="auto")
    worst = set(standings.worst(agents=agents).values())
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            cell = cell_at(row, column, agents)
            score = standings.scores[cell]
            dark = score.ratio < 0.5 or score.ratio > 1.5
            error = "" if score.stderr is None else f"\n±{score.stderr:.2f}"
            text = f"{score.ratio:.2f}{error}"
            axes.text(x, y, text, ha="center", va="center", fontsize=5.5, color="white" if dark else "black")
            if cell in worst:
                axes.add_patch(Rectangle((x - 0.47, y - 0.47), 0.94, 0.94, fill=False, linewidth=2.0))
    axes.set_xticks(range(len(columns)), [short(attack) for _, attack in columns], rotation=45, ha="right", fontsize=7)
    axes.set_yticks(range(len(rows)), [f"{filter}, {policy}" for filter, policy in rows], fontsize=7)
    _separate(axes, standings)
    figure.colorbar(image, ax=axes, label="regret relative to solo", extend="max", fraction=0.02, pad=0.01)
    figure.suptitle(_title(standings, agents), fontsize=8)
    return figure


def _title(standings: Standings, agents: int) -> str:
    base = standings.field.base
    return (
        f"{agents} agents, {base.parts.byzantine} of them lie, horizon {base.horizon}, {base.runs} runs\n"
        "regret over that of solo, ± standard error; red: above 1 by more than two; framed: the filter's worst case"
    )


def _separate(axes: Any, standings: Standings) -> None:
    """Lines between graphs and between filters, and the graphs' names above."""
    attacks, policies = len(standings.field.attacks), len(standings.field.policies)
    graphs = standings.field.graphs
    above = axes.secondary_xaxis("top")
    above.set_xticks([(index + 0.5) * attacks - 0.5 for index in range(len(graphs))], graphs, fontsize=8)
    above.tick_params(length=0)
    for index in range(1, len(graphs)):
        axes.axvline(index * attacks - 0.5, color="black", linewidth=1.2)
    for index in range(1, len(standings.field.filters)):
        axes.axhline(index * policies - 0.5, color="black", linewidth=1.2)


def write_maps(standings: Standings, directory: Path) -> list[Path]:
    """Every map as PNG and PDF."""
    return [
        path
        for agents in standings.field.agents
        for path in save_figure(draw_map(standings, agents), directory / f"tournament-{agents}")
    ]
