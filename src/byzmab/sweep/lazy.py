"""One array over all points of a sweep, of which only the parts that are looked at are read from disk."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray
from xarray.backends.common import BackendArray
from xarray.core import indexing

from byzmab.core.report import Floats, Integers

if TYPE_CHECKING:
    from byzmab.sweep.data import Point

SPARSE = 4  # a grid with so many times more cells than points becomes a list of points
Cells = Mapping[tuple[int, ...], "Point"]


def lazy_dataset(points: Sequence["Point"], varied: Sequence[str]) -> xarray.Dataset:
    """Regret by what was varied, run, agent and round."""
    coordinates, cells = _grid(points, varied)
    if math.prod(len(coordinates[name][1]) for name in _dimensions(coordinates)) > SPARSE * len(points):
        coordinates, cells = _list(points, varied)
    dimensions = _dimensions(coordinates)
    inner = {
        "run": np.arange(max(point.runs for point in points)),
        "agent": np.arange(1, max(point.settings["agents"] for point in points) + 1),
        "round": np.unique(np.concatenate([point.rounds for point in points])),
    }
    shape = *(len(coordinates[name][1]) for name in dimensions), *map(len, inner.values())
    values = indexing.LazilyIndexedArray(LazyRegret(shape, cells, inner["round"]))
    return xarray.Dataset({"regret": xarray.Variable((*dimensions, *inner), values)}, {**coordinates, **inner})


Coordinates = dict[str, tuple[str, list[Any]]]  # by name: the dimension it goes along, and its values there


def _dimensions(coordinates: Coordinates) -> list[str]:
    return [name for name, (dimension, _) in coordinates.items() if name == dimension]


def _grid(points: Sequence["Point"], varied: Sequence[str]) -> tuple[Coordinates, Cells]:
    """A dimension for every setting, but none for one that follows from another, as f may from byzantine."""
    coordinates: Coordinates = {}
    for name in varied:
        labels = [point.label(name) for point in points]
        for dimension in _dimensions(coordinates):
            found = dict(zip((point.label(dimension) for point in points), labels, strict=True))
            if all(found[point.label(dimension)] == label for point, label in zip(points, labels, strict=True)):
                coordinates[name] = dimension, [found[value] for value in coordinates[dimension][1]]
                break
        else:
            values = list(dict.fromkeys(labels))
            coordinates[name] = name, sorted(values) if all(isinstance(v, (int, float)) for v in values) else values
    axes = [(name, coordinates[name][1]) for name in _dimensions(coordinates)]
    return coordinates, {tuple(values.index(point.label(name)) for name, values in axes): point for point in points}


def _list(points: Sequence["Point"], varied: Sequence[str]) -> tuple[Coordinates, Cells]:
    """One dimension, along which the points stand one after the other."""
    coordinates: Coordinates = {"point": ("point", list(range(len(points))))}
    coordinates |= {name: ("point", [point.label(name) for point in points]) for name in varied}
    return coordinates, {(index,): point for index, point in enumerate(points)}


class LazyRegret(BackendArray):
    """The array that xarray reads from: cells of points, each a table of run × agent × round, or nothing."""

    def __init__(self, shape: tuple[int, ...], cells: Cells, rounds: Integers) -> None:
        self.shape = shape
        self.dtype = np.dtype(np.float64)
        self._cells = cells
        self._rounds = rounds

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[int | slice, ...]) -> Floats:
        chosen = [np.atleast_1d(np.arange(size)[item]) for size, item in zip(self.shape, key, strict=True)]
        outer, inner = chosen[:-3], chosen[-3:]
        out = np.full([indices.size for indices in chosen], np.nan)
        for cell in np.ndindex(*(indices.size for indices in outer)):
            point = self._cells.get(tuple(int(indices[at]) for indices, at in zip(outer, cell, strict=True)))
            if point is not None:
                out[cell] = self._table(point)[np.ix_(*inner)]
        return out[tuple(slice(None) if isinstance(item, slice) else 0 for item in key)]

    def _table(self, point: "Point") -> Floats:
        """All of one point, at the indices of its runs, agents and rounds."""
        table = np.full(self.shape[-3:], np.nan)
        columns = np.searchsorted(self._rounds, point.rounds)
        liars = point.settings["byzantine"]
        listed = np.array(liars) - 1 if isinstance(liars, list) else np.arange(liars)
        normal = np.setdiff1d(np.arange(point.settings["agents"]), listed)
        for runs, regret in point.pieces():
            table[np.ix_(runs, normal, columns)] = regret
        return table
