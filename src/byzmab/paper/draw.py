"""Drawing: every figure as PNG and PDF fit for a paper, with its data as NetCDF and CSV and its caption."""

import csv
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.core.report import Floats
from byzmab.paper.figures import SOLO, About
from byzmab.paper.reproduction import FigureData
from byzmab.results.figure import STYLES, draw_band, dress, frame, new_axes, save_figure
from byzmab.results.statistics import band, describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ABOUT = "figure"  # an attribute of data files: what is said of the figure
THIRDS = ("first third", "second third", "last third")
THIRD_COLORS = [color for color, _ in (STYLES[3], STYLES[4], STYLES[1])]  # dark, middle, warm


def write_figure(data: FigureData, out: Path) -> list[Path]:
    """Draw a figure and write its data, its caption and the file that it was made from.

    All is first written to a hidden folder, then moved into place; the data file, from which the figure is read again,
    comes last.
    """
    with tempfile.TemporaryDirectory(prefix=f".{data.about.id}-", dir=out) as unfinished:
        return [path.replace(out / path.name) for path in _write(data, Path(unfinished))]


def _write(data: FigureData, out: Path) -> list[Path]:
    axes = new_axes()
    {"regret": draw_curves, "agents": draw_curves, "graph": draw_graph, "frequency": draw_shares}[data.about.kind](
        data, axes
    )
    stem = out / data.about.id
    files = save_figure(axes, stem)
    texts = {"txt": data.about.caption + "\n", "toml": data.about.source}
    for suffix, text in texts.items():
        files.append(stem.with_suffix(f".{suffix}"))
        files[-1].write_text(text, encoding="utf-8")
    return files + write_data(data, stem)


def draw_curves(data: FigureData, axes: "Axes") -> None:
    """Mean regret with bands; solo in grey."""
    for label, values in data.curves.items():
        draw_band(axes, data.rounds, values, label, alone=label == SOLO)
    dress(axes, int(data.rounds[-1]))


def positions(agents: int) -> Any:
    """Agents on a circle, the first at the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(agents) / agents
    return np.column_stack([np.cos(angles), np.sin(angles)])


def draw_graph(data: FigureData, axes: "Axes") -> None:
    """The graph on a circle; Byzantine agents grey."""
    agents, liars, pairs = data.graph
    points = positions(agents)
    for a, b in pairs:
        axes.plot(*points[[a, b]].T, color="#777777", linewidth=1.0, zorder=1)
    colors = ["#b0b0b0" if agent in liars else "white" for agent in range(agents)]
    axes.scatter(points[:, 0], points[:, 1], s=500, c=colors, edgecolors="black", zorder=2)
    for agent, (x, y) in enumerate(points):
        axes.text(x, y, str(agent + 1), ha="center", va="center", zorder=3)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.12)


def draw_shares(data: FigureData, axes: "Axes") -> None:
    """Bars per arm and third, with whiskers of one standard deviation over runs."""
    shares = data.shares
    arms = np.arange(1, shares.shape[2] + 1)
    for third, (color, hatch) in enumerate(zip(THIRD_COLORS, ("", "//", ".."), strict=True)):
        mean, std = band(shares[:, third])
        axes.bar(
            arms + 0.28 * (third - 1),
            mean,
            0.28,
            yerr=std,
            color=color,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.4,
            error_kw={"linewidth": 0.6, "capsize": 1.2, "capthick": 0.6},
            label=THIRDS[third],
        )
    axes.set_xlabel("arm, best first")
    axes.set_ylabel("share of pulls")
    axes.set_xticks(arms)
    axes.tick_params(axis="x", labelsize=7)
    axes.set_ylim(bottom=0)
    frame(axes)
    axes.legend(frameon=False)


def read_data(path: Path) -> FigureData:
    """The figure that a data file holds; ValueError, OSError or KeyError if it holds none."""
    import xarray

    with xarray.open_dataset(path, engine="h5netcdf") as file:
        data = file.load()
    try:
        about = About(**json.loads(data.attrs[ABOUT]))
    except TypeError as error:
        raise ValueError(str(error)) from None
    if about.kind == "graph":
        pairs = [(int(a) - 1, int(b) - 1) for a, b in data["edges"].values]
        liars = [int(agent) - 1 for agent in np.atleast_1d(data.attrs["byzantine"])]
        return FigureData(about, {}, {}, np.array([]), graph=(int(data.attrs["agents"]), liars, pairs))
    if about.kind == "frequency":
        final = dict(zip(map(str, data["curve"].values), data["regret"].values[:, :, np.newaxis], strict=True))
        return FigureData(about, final, {}, np.array([]), shares=data["share"].values)
    curves, differences = (
        dict(zip(map(str, data[name].values), data[array].values, strict=True))
        for name, array in (("curve", "regret"), ("difference", "against_alone"))
    )
    return FigureData(about, curves, differences, data["round"].values)


def write_data(data: FigureData, stem: Path) -> list[Path]:
    """The numbers behind a figure: NetCDF with every run, CSV with means and standard deviations."""
    import xarray

    files = [stem.with_suffix(".csv"), stem.with_suffix(".nc")]
    table: list[Any]
    if data.about.kind == "graph":
        agents, liars, pairs = data.graph
        _write_csv(files[0], ("agent", "neighbour"), [(a + 1, b + 1) for a, b in pairs])
        dataset = xarray.Dataset({"edges": (("edge", "end"), np.array(pairs).reshape(-1, 2) + 1)})
        dataset.attrs |= {"agents": agents, "byzantine": [agent + 1 for agent in liars]}
    elif data.about.kind == "frequency":
        shares = data.shares
        table = [
            (third + 1, arm + 1, *_mean_and_std(shares[:, third, arm]))
            for third in range(3)
            for arm in range(shares.shape[2])
        ]
        _write_csv(files[0], ("third", "arm", "mean", "std"), table)
        final = {label: values[:, -1] for label, values in data.curves.items()}
        coordinates = {"third": [1, 2, 3], "arm": np.arange(1, shares.shape[2] + 1), "curve": list(final)}
        arrays = {
            "share": (("run", "third", "arm"), shares),
            "regret": (("curve", "run"), np.stack(list(final.values()))),
        }
        dataset = xarray.Dataset(arrays, coordinates)
    else:
        series, rounds = data.curves, data.rounds
        table = [
            (label, int(when), *_mean_and_std(values[:, column]))
            for label, values in series.items()
            for column, when in enumerate(rounds)
        ]
        _write_csv(files[0], ("curve", "round", "mean", "std"), table)
        alone = data.differences
        coordinates = {"curve": list(series), "round": rounds, "difference": list(alone)}
        arrays = {
            "regret": (("curve", "run", "round"), np.stack(list(series.values()))),
            "against_alone": (("difference", "run"), np.stack(list(alone.values()))),
        }
        dataset = xarray.Dataset(arrays, coordinates)
    dataset.attrs |= {"caption": data.about.caption, ABOUT: json.dumps(asdict(data.about))}
    dataset.to_netcdf(files[1], engine="h5netcdf")
    return files


def _mean_and_std(values: Floats) -> tuple[float, float | str]:
    found = describe(values)
    return found["mean"], "" if found["std"] is None else found["std"]


def _write_csv(path: Path, header: tuple[str, ...], table: list[Any]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(table)
