"""Regret figures: mean over runs with a band of one standard deviation."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from byzmab.simulation.result import Result

# dark to light and each with its own dashes, so that curves can be told apart in black and white
STYLES = [
    ("#1b3a5c", "-"),
    ("#c44e1b", "--"),
    ("#2e8540", "-."),
    ("#8a5fbf", ":"),
    ("#b8860b", (0, (5, 1, 1, 1, 1, 1))),
]


def new_axes() -> "Axes":
    """Axes for a figure fit for a paper, made without a display."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6.0, 4.0), dpi=150, layout="constrained").subplots()


def draw_regret(result: "Result", ax: "Axes | None" = None, label: str | None = None) -> "Axes":
    """Draw one curve with its band; several calls on the same axes give several curves."""
    ax = new_axes() if ax is None else ax
    color, dashes = STYLES[len(ax.lines) % len(STYLES)]
    regret = result.network_regret
    mean = regret.mean(axis=0)
    if label is None:
        settings = result.experiment.settings()
        label = f"{settings['filter']}, {settings['policy']}"
    ax.plot(result.rounds, mean, color=color, linestyle=dashes, linewidth=1.8, label=label)
    if regret.shape[0] > 1:
        std = regret.std(axis=0, ddof=1)
        ax.fill_between(result.rounds, mean - std, mean + std, color=color, alpha=0.15, linewidth=0)
    ax.set_xlabel("round $t$")
    ax.set_ylabel("regret per normal agent")
    ax.set_xlim(0, result.experiment.horizon)
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    return ax
