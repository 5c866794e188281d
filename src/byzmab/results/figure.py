"""Regret figures: mean over runs with a band of one standard deviation."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from byzmab.core.report import Floats, Integers
from byzmab.extras import needs_extra
from byzmab.results.outputs import in_place
from byzmab.results.statistics import band

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from byzmab.results.result import Result

# The colours of the pages (style.css), which colour-blind readers tell apart, each with its own dashes. None is dotted
# but the curve of agents alone, which is grey and thicker, too.
STYLES: list[tuple[str, str | tuple[int, tuple[int, ...]]]] = [
    ("#6b52ff", "-"),
    ("#d55e00", "--"),
    ("#185e2d", "-."),
    ("#05006d", (0, (8, 3))),
    ("#1aa2ff", (0, (5, 1, 1, 1, 1, 1))),
    ("#af32ae", (0, (3, 2))),
]
ALONE: tuple[str, tuple[int, tuple[int, int]]] = ("#767c88", (0, (1, 1)))
WIDTH, WIDTH_ALONE = 1.8, 2.6
FIGURES = (".png", ".pdf")
TRUETYPE = 42  # fonts in a PDF: journals refuse Type 3, matplotlib's usual ones


def new_figure(width: float = 6.0, height: float = 4.0) -> "Figure":
    """A figure fit for a paper, in inches, made without a display."""
    with needs_extra("study"):
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=150, layout="constrained")


def new_axes() -> "Axes":
    """The axes of a figure that has only those; in a notebook, of one that the notebook shows."""
    if "ipykernel" not in sys.modules:
        return new_figure().subplots()
    with needs_extra("study"):
        from matplotlib import pyplot

    return pyplot.subplots(figsize=(6.0, 4.0), layout="constrained")[1]


def draw_band(axes: "Axes", rounds: Integers, values: Floats, label: str, alone: bool = False) -> None:
    """One curve, from values by run and round, with its band."""
    color, dashes = ALONE if alone else STYLES[len(axes.lines) % len(STYLES)]
    mean, std = band(values)
    axes.plot(rounds, mean, color=color, linestyle=dashes, linewidth=WIDTH_ALONE if alone else WIDTH, label=label)
    if std is not None:
        axes.fill_between(rounds, mean - std, mean + std, color=color, alpha=0.15, linewidth=0)


def dress(axes: "Axes", horizon: int) -> None:
    """Labels, limits and legend of a regret figure."""
    axes.set_xlabel("round $t$")
    axes.set_ylabel("regret per normal agent")
    axes.set_xlim(0, horizon)
    axes.set_ylim(bottom=0, auto=True)  # a curve drawn later may be higher
    frame(axes)
    axes.legend(frameon=False, loc="upper left")


def frame(axes: "Axes") -> None:
    """A thin frame all around."""
    axes.spines[:].set(linewidth=0.6, color="#999999")


def draw_regret(result: "Result", axes: "Axes | None" = None, label: str | None = None) -> "Axes":
    """Draw one result; several calls on the same axes give several curves."""
    axes = new_axes() if axes is None else axes
    label = label or ", ".join(word for word in result.experiment.algorithm_in_words() if word != "-")
    draw_band(axes, result.rounds, result.network_regret, label)
    dress(axes, int(axes.dataLim.x1))  # of the longest curve
    return axes


def save_figure(drawn: "Axes | Figure", stem: Path) -> list[Path]:
    """Write a figure, or that of some axes, as PNG and PDF with whole fonts; the files written."""
    from matplotlib import rc_context

    figure = drawn.get_figure(root=True)
    assert figure is not None
    files = [stem.with_suffix(suffix) for suffix in FIGURES]
    with rc_context({"pdf.fonttype": TRUETYPE}):
        for file in files:
            with in_place(file) as path:
                figure.savefig(path)
    return files
