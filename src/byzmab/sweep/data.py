"""The results of sweeps, opened: a table by point, a tidy table by run, and one lazy array over all dimensions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from byzmab.core.report import Floats, Integers
from byzmab.experiment.parts import audits_with
from byzmab.experiment.settings import ABOUT
from byzmab.results.outputs import Work
from byzmab.results.statistics import bootstrap_interval, describe
from byzmab.simulation.sizes import grid_of
from byzmab.sweep.find import find_all, find_some
from byzmab.sweep.identity import address
from byzmab.sweep.points import Sweep
from byzmab.sweep.store import Block, ResultStore, blocks_in, unpack

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

BLOCKS_IN_MEMORY = 64
read_block = lru_cache(maxsize=BLOCKS_IN_MEMORY)(unpack)


@dataclass(frozen=True)
class Point:
    """One experiment of a sweep, with the blocks that hold its runs."""

    settings: Mapping[str, Any]
    blocks: Sequence[Block]  # by first run
    runs: int  # those from 0 on count

    def pieces(self) -> Iterator[tuple[Integers, Floats]]:
        """Numbers of runs, and their regret by run, normal agent and round; each run once."""
        reached = 0
        for block in self.blocks:
            low, high = max(block.first, reached), min(block.end, self.runs)
            if low < high:
                yield np.arange(low, high), read_block(block).regret[low - block.first : high - block.first]
            reached = max(reached, block.end)

    @cached_property
    def final(self) -> Floats:
        """Regret at the horizon by run, averaged over the normal agents."""
        return np.concatenate([regret[:, :, -1].mean(axis=1) for _, regret in self.pieces()])

    @property
    def rounds(self) -> Integers:
        """The rounds on which regret was recorded."""
        return grid_of(self.settings["horizon"], self.settings["record"])  # type: ignore[no-any-return]

    def label(self, setting: str) -> Any:
        """The value of a setting as a coordinate: a number, or a text."""
        value = self.settings[setting]
        if isinstance(value, list):
            return ",".join(map(str, value))
        return "none" if value is None else value


class SweepData:
    """The points of a sweep, read from disk when they are looked at."""

    def __init__(self, points: Sequence[Point], varied: Sequence[str] | None = None) -> None:
        self.points = list(points)
        self.varied = _varied(self.points) if varied is None else list(varied)

    def __repr__(self) -> str:
        runs = sum(point.runs for point in self.points)
        over = ", ".join(self.varied) or "nothing"
        return f"<SweepData: {len(self.points)} points over {over}, {runs:,} runs; .table, .frame, .regret, .plot()>"

    @property
    def audits(self) -> bool:
        """Whether agents of some point expel those whose reports contradict each other."""
        return any(audits_with(point.settings["filter"], point.settings["audit"]) for point in self.points)

    def summary(self) -> list[dict[str, Any]]:
        """For every point its settings and its regret at the horizon: the points of `byzmab sweep --json`."""
        return [{"settings": dict(point.settings), "regret": describe(point.final)} for point in self.points]

    @cached_property
    def table(self) -> "pandas.DataFrame":
        """A row for every point: what was varied, and the mean regret with its 95 % bootstrap interval."""
        import pandas

        rows = []
        for point in self.points:
            low, high = bootstrap_interval(point.final)
            names = {name: point.label(name) for name in self.varied}
            rows.append({**names, **describe(point.final), "low": low, "high": high})
        return pandas.DataFrame(rows)

    @cached_property
    def frame(self) -> "pandas.DataFrame":
        """A tidy table: a row for every point and run, with the regret at the horizon."""
        import pandas

        tables = []
        for point in self.points:
            names = {name: point.label(name) for name in self.varied}
            runs = np.concatenate([numbers for numbers, _ in point.pieces()])
            tables.append(pandas.DataFrame({**names, "run": runs, "regret": point.final}))
        return pandas.concat(tables, ignore_index=True)

    @cached_property
    def dataset(self) -> "xarray.Dataset":
        """Regret by everything that was varied, run, agent and round; only what is looked at is read from disk.

        Agents are numbered from 1. Where a point has no number, as for agents that lie, there is none (NaN).
        Where the points are few on their grid they are numbered, and what was varied stands beside the number.
        """
        from byzmab.sweep.lazy import lazy_dataset

        return lazy_dataset(self.points, self.varied)

    @property
    def regret(self) -> "xarray.DataArray":
        """The regret of `dataset`."""
        return self.dataset["regret"]

    def plot(self) -> "Figure":
        """Small multiples: regret at the horizon over what was varied, with bootstrap intervals."""
        from byzmab.sweep.figure import draw_multiples

        return draw_multiples(self.table, self.varied)


def _varied(points: Sequence[Point]) -> list[str]:
    return [name for name in ABOUT if name != "runs" and len({repr(point.settings[name]) for point in points}) > 1]


def work_of(sweep: Sweep | None, store: ResultStore, plot: bool) -> Work:
    """What a sweep makes in its directory beside its results: the figure of its points, or of all that are there.

    The figure may be replaced by one of more points or runs.
    """
    if not plot:
        return Work("byzmab sweep", ())
    if sweep is None:
        points = {folder.name: max((block.end for block in blocks_in(folder)), default=0) for folder in store.folders()}
    else:
        points = {address(point).name: point.runs for point in sweep.points}
    return Work("byzmab sweep", ("sweep.png", "sweep.pdf"), grows={"points": points})


def open_sweep(where: str | Path | ResultStore, file: str | Path | Sweep | None = None) -> SweepData:
    """Open what sweeps have left in a directory, or hold in a store: all of it, or the points of one sweep file.

    Points whose plug-ins or graphs have one name but differ are told apart by a mark behind the name. The source of
    plug-ins is not needed.

    Parameters
    ----------
    where
        The directory of results, or a store.
    file
        A sweep file or a Sweep, for its points alone; if None, everything that is there.

    Returns
    -------
    SweepData
        `.table`, `.frame`, `.regret` and `.plot()`.
    """
    store = where if isinstance(where, ResultStore) else ResultStore(where)
    if file is None:
        return SweepData([Point(*found) for found in find_all(store)])
    sweep = file if isinstance(file, Sweep) else Sweep.read(file, must_play=False)
    return SweepData([Point(*found) for found in find_some(store, sweep.points)], sweep.varied)
