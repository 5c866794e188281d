"""Sweep files: a grid of settings, or single points, around one experiment."""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byzmab.core.errors import BadInput, nearest
from byzmab.experiment.absent import recall
from byzmab.experiment.experiment import Experiment, check_experiment
from byzmab.experiment.files import RUN_KEYS, SWEEP_TABLES, check_run_options, settings_of
from byzmab.experiment.settings import ABOUT
from byzmab.html import table
from byzmab.toml import TomlFile, read_toml

MOST_POINTS = 1_000_000
SHOWN = 20  # in a notebook


@dataclass(frozen=True)
class Sweep:
    """Experiments to be run together.

    Parameters
    ----------
    points
        The experiments.
    varied
        The settings by which they differ.
    options
        How a sweep file wants to be run: `workers`, `json`, `out`.
    """

    points: tuple[Experiment, ...]
    varied: tuple[str, ...]  # the settings by which they differ, as the file names them
    options: Mapping[str, Any]  # how the file wants to be run: workers, json, out

    def __iter__(self) -> Iterator[Experiment]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> Experiment:
        return self.points[index]

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.points)} points over {', '.join(self.varied) or 'nothing'}>"

    def _repr_html_(self) -> str:
        shown = [point.settings() for point in self.points[:SHOWN]]
        rows = [[settings[name] for name in self.varied] for settings in shown]
        more = f", the first {SHOWN}" if len(self.points) > SHOWN else ""
        return table(f"{len(self.points)} points{more}", [name.replace("_", " ") for name in self.varied], rows)

    @classmethod
    def read(cls, path: str | Path, changes: Mapping[str, Any] | None = None, must_play: bool = True) -> "Sweep":
        """Read a sweep file.

        Parameters
        ----------
        path
            The sweep file, in TOML.
        changes
            Settings that win over those of the file.
        must_play
            Whether the source of every plug-in must be here.

        Returns
        -------
        Sweep
            The points of the file.

        Raises
        ------
        BadInput
            If the file cannot be read, or a setting is not allowed.
        """
        path, changes = Path(path), dict(changes or {})
        file = read_toml(path, "sweep file")
        for key in file.data:
            if key.replace("-", "_") in ABOUT:
                where = "it belongs below [experiment]; a file without tables is played by byzmab simulate"
                raise BadInput(f"{file.at(key)}: {key!r} is a setting; {where}")
            if key not in SWEEP_TABLES:
                raise BadInput(f"{file.at(key)}: {key!r} is no table of a sweep; {nearest(key, SWEEP_TABLES)}")
        base = _settings(file, path, "experiment", _table(file, "experiment"), [*ABOUT, *RUN_KEYS])
        options = check_run_options({key: base.pop(key) for key in RUN_KEYS if key in base})
        grid = _settings(file, path, "grid", _table(file, "grid"), ABOUT)
        points = _points(file, path)
        for key, values in grid.items():
            if not isinstance(values, list) or not values:
                where = f"{file.at(f'grid.{key}')}, [grid]"
                raise BadInput(f"{where}: {key} {values!r} is not allowed; allowed: a list of values")
        chosen = [
            {key: value for key, value in {**combination, **point}.items() if key not in changes}
            for point in points
            for combination in _combinations(grid, file)
        ]
        varied = tuple(dict.fromkeys(key for point in chosen for key in point))
        make = _maker(must_play, path)
        experiments = tuple(_experiment(make, {**base, **point, **changes}, point, file) for point in _unique(chosen))
        return cls(experiments, varied, options)


def grid(base: Experiment, **lists: Iterable[Any]) -> Sweep:
    """Build a grid of experiments around a base.

    A grid is a sweep: `run_sweep(grid, store)` plays it, `open_sweep(store, grid)` opens its results, and
    `compare(grid[0], grid[1])` compares two of its points.

    Parameters
    ----------
    base
        The experiment whose settings hold for all points.
    **lists
        For each setting that varies a list of its values.

    Returns
    -------
    Sweep
        Every combination, in the order in which the lists are given, the last one fastest.

    Raises
    ------
    BadInput
        If a setting has no list of values, or a combination is not allowed.

    Examples
    --------
    >>> import byzmab
    >>> base = byzmab.Experiment(runs=2, horizon=50)
    >>> grid = byzmab.grid(base, filter=["trimmed", "guarded"], byzantine=[0, 1, 2])
    >>> len(grid), grid[5].filter, grid[5].byzantine
    (6, 'guarded', 2)
    """
    check_experiment(base)
    values: dict[str, list[Any]] = {}
    for name, given in lists.items():
        if name not in ABOUT:
            raise TypeError(f"grid() has no parameter {name!r}; {nearest(name, ABOUT)}")
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise BadInput(f"{name} {given!r} is not allowed in a grid; allowed: a list of values, as [{given!r}]")
        values[name] = list(given)
        if not values[name]:
            raise BadInput(f"{name} [] is not allowed in a grid; allowed: a list of at least one value")
    count = math.prod(map(len, values.values()))
    if count > MOST_POINTS:
        raise BadInput(f"the grid has {count} points; allowed: at most {MOST_POINTS}")
    combinations = itertools.product(*values.values())
    points = tuple(base.but(**dict(zip(values, combination, strict=True))) for combination in combinations)
    return Sweep(points, tuple(values), {})


def _maker(must_play: bool, path: Path) -> Callable[[dict[str, Any]], Experiment]:
    return (lambda settings: Experiment(**settings)) if must_play else (lambda settings: recall(settings, path))


def _table(file: TomlFile, name: str) -> Mapping[str, Any]:
    table = file.data.get(name, {})
    if not isinstance(table, dict):
        raise BadInput(f"{file.at(name)}: {name} {table!r} is not allowed; allowed: {SWEEP_TABLES[name]}")
    return table


def _points(file: TomlFile, path: Path) -> list[dict[str, Any]]:
    tables = file.data.get("point", [{}])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{file.at('point')}: point {tables!r} is not allowed; allowed: {SWEEP_TABLES['point']}")
    return [
        _settings(file, path, f"point[{index}]", table, ABOUT, f"point {index + 1}")
        for index, table in enumerate(tables)
    ]


def _settings(
    file: TomlFile, path: Path, name: str, table: Mapping[str, Any], known: Collection[str], called: str = ""
) -> dict[str, Any]:
    """The settings of a table of the file; `called` is what the table is called in messages."""
    called = called or f"[{name}]"
    return settings_of(table, path, lambda key: f"{file.at(f'{name}.{key}')}, {called}", known)


def _combinations(grid: Mapping[str, list[Any]], file: TomlFile) -> Iterator[dict[str, Any]]:
    count = math.prod(map(len, grid.values()))
    if count > MOST_POINTS:
        raise BadInput(f"{file.at('grid')}: the grid has {count} points; allowed: at most {MOST_POINTS}")
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _unique(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points in their order, each once."""
    return list({repr(point): point for point in points}.values())


def _experiment(
    make: Callable[[dict[str, Any]], Experiment], settings: dict[str, Any], point: Mapping[str, Any], file: TomlFile
) -> Experiment:
    try:
        return make(settings)
    except BadInput as error:
        where = ", ".join(f"{key} = {value}" for key, value in point.items())
        raise BadInput(f"{file.name}{f', at {where}' if where else ''}: {error}") from None
