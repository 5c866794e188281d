"""The figure of a comparison: regret against messages, one panel for each network."""

import math
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from byzmab.comparison.contestants import ALONE, Network
from byzmab.comparison.play import Leaderboard, Row
from byzmab.results.figure import ALONE as ALONE_STYLE
from byzmab.results.figure import STYLES, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
OURS = ("trimmed", "pooled", "screened", "guarded")
ROOM = 0.45  # for names on the right, as a share of a panel's width
NEAR = 0.16  # points so near, as a share of the width, are drawn side by side
BESIDE = 0.012  # how far apart these are
APART = 0.045  # between two names, as a share of the height
LETTERS = 80  # of the title above a panel
LABELLED = "1235"  # first digits of the regrets that are written at the axis; more would touch each other


class Point(NamedTuple):
    """An algorithm in a panel."""

    messages: float
    without: float  # regret without attack
    worst: float  # and under the worst
    name: str


def best_rows(comparison: Leaderboard, network: Network) -> list[Row]:
    """Of every algorithm on a network the row with the smaller regret under its worst attack."""
    best: dict[str, Row] = {}
    for row in comparison.rows:
        if row.network == network and row.worst is not None:
            before = best.get(row.contestant.name)
            if before is None or before.worst is None or row.worst.mean < before.worst.mean:
                best[row.contestant.name] = row
    return list(best.values())


def draw_comparison(comparison: Leaderboard) -> "Figure":
    """Regret under the worst attack, filled, and without one, hollow, against the messages of a run."""
    preset = comparison.preset
    columns = min(COLUMNS, len(preset.networks))
    lines = math.ceil(len(preset.networks) / columns)
    figure = new_figure(5.4 * columns, 0.6 + 5.0 * lines)
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axes, network in zip(panels, preset.networks, strict=False):
        _draw_panel(axes, best_rows(comparison, network), str(network))
    for axes in panels[len(preset.networks) :]:
        axes.set_visible(False)
    title = (
        f"horizon {preset.horizon}, {preset.runs} runs, the better of published and tuned constants; filled: under the "
        "worst attack, hollow: without attack; dotted: alone; points with as many messages are drawn side by side"
    )
    figure.suptitle(textwrap.fill(title, LETTERS * columns), fontsize=8)
    return figure


def _draw_panel(axes: "Axes", rows: list[Row], title: str) -> None:
    points = []
    for row in rows:
        assert row.worst is not None and row.without is not None and row.cost is not None
        if row.cost.messages == 0.0:  # nobody is heard
            axes.axhline(row.without.mean, color=ALONE_STYLE[0], linestyle=ALONE_STYLE[1], linewidth=1.5)
            if row.contestant.name != ALONE:
                label = f"{row.contestant.name} is alone"
                axes.text(0.35, row.without.mean, label, fontsize=7, va="bottom", transform=axes.get_yaxis_transform())
        else:
            points.append(Point(row.cost.messages, row.without.mean, row.worst.mean, row.contestant.name))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(lambda regret, _: f"{regret:g}" if f"{regret:g}"[0] in LABELLED else "")
    axes.tick_params(axis="y", which="both", labelsize=7)
    axes.set_xlabel("messages in a run")
    axes.set_ylabel("regret per normal agent")
    axes.set_title(title, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    if points:
        _draw_points(axes, sorted(points))


def _draw_points(axes: "Axes", points: list[Point]) -> None:
    """Lines from regret without attack to that under the worst, and names right of them with a line to each."""
    left, right = math.log(points[0].messages), math.log(points[-1].messages)
    width = max(right - left, 1.0)
    low, high = (math.log(end(end(point.without, point.worst) for point in points)) for end in (min, max))
    axes.set_xlim(math.exp(left - 0.05 * width), math.exp(right + ROOM * width))
    tall = max(high - low, 0.5)
    axes.set_ylim(math.exp(low - 0.05 * tall), math.exp(high + 0.25 * tall))  # with room for names above
    for group in _groups(points, NEAR * width):
        heights = [math.log(point.worst) for point in group]
        for index, (_, above) in enumerate(pairwise(list(heights))):
            heights[index + 1] = max(above, heights[index] + APART * tall)
        edge = math.exp(math.log(max(point.messages for point in group)) + (BESIDE * len(group) + 0.04) * width)
        for place, (point, height) in enumerate(zip(group, heights, strict=True)):
            color = STYLES[0][0] if point.name in OURS else STYLES[1][0]
            at = math.exp(math.log(point.messages) + BESIDE * place * width)
            axes.plot([at, at], [point.without, point.worst], color=color, linewidth=1.0, alpha=0.5)
            axes.plot(at, point.without, "o", color=color, fillstyle="none", markersize=4)
            axes.plot(at, point.worst, "o", color=color, markersize=4)
            line = {"arrowstyle": "-", "color": "#aaaaaa", "linewidth": 0.5}
            label = (edge, math.exp(height))
            text = axes.annotate(point.name, (at, point.worst), label, fontsize=7, va="center", arrowprops=line)
            text.set(color=color, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})


def _groups(points: list[Point], near: float) -> list[list[Point]]:
    """Points with about the same number of messages together, each group from low to high regret."""
    groups = [[points[0]]]
    for point in points[1:]:
        if math.log(point.messages) - math.log(groups[-1][0].messages) < near:
            groups[-1].append(point)
        else:
            groups.append([point])
    return [sorted(group, key=lambda point: point.worst) for group in groups]


def write_figure(comparison: Leaderboard, directory: Path) -> list[Path]:
    """The figure as PNG and PDF."""
    return save_figure(draw_comparison(comparison), directory / "comparison")
