"""Small multiples: regret at the horizon over what was varied."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from byzmab.results.figure import STYLES, frame, new_figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4
MOST_CURVES = len(STYLES)


def draw_multiples(table: "pandas.DataFrame", varied: Sequence[str]) -> "Figure":
    """A panel for every combination of what is neither the axis nor the curves.

    The axis is the setting with most values, of numbers if there is one; the curves are the next with few values.
    """
    across = _across(table, varied)
    others = sorted((name for name in varied if name != across), key=lambda name: -table[name].nunique())
    curves = next((name for name in others if table[name].nunique() <= MOST_CURVES), None)
    panels = [name for name in varied if name not in (across, curves)]
    groups = list(table.groupby(panels, sort=False)) if panels else [((), table)]
    columns = min(COLUMNS, len(groups))
    rows = -(-len(groups) // columns)
    figure = new_figure(max(6.0, 2.6 * columns), max(4.0, 2.2 * rows))
    all_axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for index, axes in enumerate(all_axes.flat):
        if index >= len(groups):
            axes.set_visible(False)
            continue
        values, part = groups[index]
        _draw_panel(axes, part, across, curves, table)
        named = values if isinstance(values, tuple) else (values,)
        axes.set_title(", ".join(f"{name} {value}" for name, value in zip(panels, named, strict=True)), fontsize=8)
    all_axes.flat[0].set_ylim(bottom=0)  # shared by all
    figure.supxlabel((across or "").replace("_", " "), fontsize=10)
    figure.supylabel("regret per normal agent at the horizon", fontsize=10)
    if curves is not None:
        handles, labels = all_axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, title=curves)
    return figure


def _across(table: "pandas.DataFrame", varied: Sequence[str]) -> str | None:
    return max(varied, key=lambda name: (_is_numeric(table[name]), table[name].nunique()), default=None)


def _is_numeric(column: Any) -> bool:
    from pandas.api.types import is_numeric_dtype

    return is_numeric_dtype(column) and column.dtype != bool


def _draw_panel(axes: "Axes", part: Any, across: str | None, curves: str | None, table: Any) -> None:
    from matplotlib.ticker import MaxNLocator
    from pandas.api.types import is_integer_dtype

    numbers = across is not None and _is_numeric(table[across])
    ticks = [""] if across is None else list(dict.fromkeys(table[across]))
    for index, (label, curve) in enumerate(part.groupby(curves, sort=False) if curves else [("", part)]):
        color, dashes = STYLES[index % len(STYLES)]
        if numbers:
            curve = curve.sort_values(across)
        axes.errorbar(
            curve[across] if numbers else [ticks.index(value) for value in (curve[across] if across else [""])],
            curve["mean"],
            yerr=[curve["mean"] - curve["low"], curve["high"] - curve["mean"]],
            color=color,
            linestyle=dashes if numbers else "none",
            linewidth=1.2,
            marker="o",
            markersize=3,
            capsize=2,
            label=str(label),
        )
    if numbers and is_integer_dtype(table[across]):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if not numbers:
        axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks], rotation=30, ha="right", fontsize=7)
    frame(axes)
    axes.tick_params(labelsize=7)
