"""Experiment files: TOML in and out."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byzmab.core.errors import BadInput, nearest
from byzmab.experiment.absent import NAMING_FILES, find_beside
from byzmab.experiment.experiment import Experiment
from byzmab.experiment.settings import ABOUT
from byzmab.toml import TomlFile, read_toml, toml_line

if TYPE_CHECKING:
    pass

RUN_KEYS = {"workers": "a whole number of at least 1", "json": "true or false", "out": "a directory"}
SWEEP_TABLES = {
    "experiment": "a table of settings",
    "grid": "a table whose keys hold lists",
    "point": "tables of settings, each headed [[point]]",
}


def read_settings(path: str | Path) -> dict[str, Any]:
    """The keys of an experiment file, checked by name."""
    return _settings(read_toml(path, "experiment file"), Path(path))


def _settings(file: TomlFile, path: Path) -> dict[str, Any]:
    for key in SWEEP_TABLES:
        if key in file.data:
            raise BadInput(f"{file.at(key)}: {key!r} is a table of a sweep; byzmab sweep plays such a file")
    return settings_of(file.data, path, file.at, [*ABOUT, *RUN_KEYS])


def settings_of(
    table: Mapping[str, Any], path: Path, where: Callable[[str], str], known: Collection[str]
) -> dict[str, Any]:
    """A table's settings, checked by name; `-` is as good as `_`. `where` tells where a key stands, for messages."""
    settings = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            raise BadInput(f"{where(key)}: key {key!r} is not known; {nearest(key, known)}")
        if name in (*NAMING_FILES, "arms"):
            value = find_beside(path, value)
        settings[name] = value
    return settings


def read_experiment(path: str | Path, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Read an experiment file. The keys `workers`, `json` and `out` are left to the caller.

    Parameters
    ----------
    path
        The experiment file, in TOML.
    changes
        Settings that win over those of the file.

    Returns
    -------
    Experiment
        The experiment of the file.

    Raises
    ------
    BadInput
        If the file cannot be read, or a setting is not allowed; the message names file and line.
    """
    file = read_toml(path, "experiment file")
    settings = {key: value for key, value in _settings(file, Path(path)).items() if key in ABOUT}
    changes = dict(changes or {})
    try:
        return Experiment(**{**settings, **changes})
    except BadInput as error:
        key = str(error).partition(" ")[0]
        if key in settings and key not in changes:
            raise BadInput(f"{file.at(key)}: {error}") from None
        raise


def run_options(path: str | Path | None) -> dict[str, Any]:
    """How an experiment file wants to be run: workers, json, out."""
    if path is None:
        return {}
    return check_run_options({key: value for key, value in read_settings(path).items() if key in RUN_KEYS})


def check_run_options(found: dict[str, Any]) -> dict[str, Any]:
    """Options of running as they were found, or BadInput."""
    kinds = {"workers": int, "json": bool, "out": str}
    for key, value in found.items():
        if not isinstance(value, kinds[key]) or (key == "workers" and isinstance(value, bool)):
            raise BadInput(f"{key} {value!r} is not allowed; allowed: {RUN_KEYS[key]}")
    return found


def open_experiment(path: str | Path | None, changes: Mapping[str, Any]) -> Experiment:
    """The experiment of a file with changes, or of the changes alone."""
    return Experiment(**changes) if path is None else read_experiment(path, changes)


def to_toml(experiment: Experiment, **changes: Any) -> str:
    """The experiment as a file that reproduces it, every setting explained; `changes` win."""
    lines = ["# byzmab simulate FILE.toml reproduces this experiment digit by digit."]
    for name, value in {**experiment.settings(), **changes}.items():
        if value is not None:
            lines += ["", f"# {ABOUT[name]}", toml_line(name, value)]
    return "\n".join(lines) + "\n"
