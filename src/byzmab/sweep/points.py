"""Sweep files: a grid of settings, or single points, around one experiment."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput, nearest
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.files import RUN_KEYS, check_run_options, parse_toml, settings_of
from byzmab.simulation.settings import ABOUT

TABLES = {
    "experiment": "a table of settings",
    "grid": "a table whose keys hold lists",
    "point": "tables of settings, each headed [[point]]",
}
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Sweep:
    """Experiments to be run together."""

    points: tuple[Experiment, ...]
    varied: tuple[str, ...]  # the settings by which they differ, as the file names them
    options: Mapping[str, Any]  # how the file wants to be run: workers, json, out

    @classmethod
    def read(cls, path: str | Path, changes: Mapping[str, Any] | None = None) -> "Sweep":
        """Read a sweep file; `changes` win over all that it says."""
        path, changes = Path(path), dict(changes or {})
        place = f"sweep file {str(path)!r}"
        data = parse_toml(path, "sweep file")
        for key in data:
            if key not in TABLES:
                raise BadInput(f"{place}: {key!r} is no table of a sweep; {nearest(key, TABLES)}")
        base = settings_of(
            _table(data, "experiment", place), path, lambda _: f"{place}, [experiment]", [*ABOUT, *RUN_KEYS]
        )
        options = check_run_options({key: base.pop(key) for key in RUN_KEYS if key in base})
        grid = _settings(_table(data, "grid", place), path, f"{place}, [grid]", ABOUT)
        points = _points(data, path, place)
        for key, values in grid.items():
            if not isinstance(values, list) or not values:
                raise BadInput(f"{place}, [grid]: {key} {values!r} is not allowed; allowed: a list of values")
        chosen = [
            {key: value for key, value in {**combination, **point}.items() if key not in changes}
            for point in points
            for combination in _combinations(grid, place)
        ]
        varied = tuple(dict.fromkeys(key for point in chosen for key in point))
        experiments = tuple(_experiment({**base, **point, **changes}, point, place) for point in _unique(chosen))
        return cls(experiments, varied, options)


def _table(data: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise BadInput(f"{place}: {name} {table!r} is not allowed; allowed: {TABLES[name]}")
    return table


def _points(data: Mapping[str, Any], path: Path, place: str) -> list[dict[str, Any]]:
    tables = data.get("point", [{}])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{place}: point {tables!r} is not allowed; allowed: {TABLES['point']}")
    return [_settings(table, path, f"{place}, point {number}", ABOUT) for number, table in enumerate(tables, 1)]


def _settings(table: Mapping[str, Any], path: Path, place: str, known: Collection[str]) -> dict[str, Any]:
    return settings_of(table, path, lambda _: place, known)


def _combinations(grid: Mapping[str, list[Any]], place: str) -> Iterator[dict[str, Any]]:
    count = math.prod(map(len, grid.values()))
    if count > MOST_POINTS:
        raise BadInput(f"{place}: the grid has {count} points; allowed: at most {MOST_POINTS}")
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _unique(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points in their order, each once."""
    return list({repr(point): point for point in points}.values())


def _experiment(settings: dict[str, Any], point: Mapping[str, Any], place: str) -> Experiment:
    try:
        return Experiment(**settings)
    except BadInput as error:
        where = ", ".join(f"{key} = {value}" for key, value in point.items())
        raise BadInput(f"{place}{f', at {where}' if where else ''}: {error}") from None
