"""Experiment files: TOML in and out, and the directory that a simulation leaves behind."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byzmab.core.errors import BadInput, nearest
from byzmab.graphs.given import Given, write_graph
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import Result
from byzmab.simulation.settings import ABOUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RUN_KEYS = {"workers": "a whole number of at least 1", "json": "true or false", "out": "a directory"}
NAMING_FILES = ("graph", "attack", "filter", "policy")  # settings that may name a file


def read_settings(path: str | Path) -> dict[str, Any]:
    """The keys of an experiment file, checked by name."""
    path = Path(path)
    text = _read(path, "experiment file")

    def place(key: str) -> str:
        return f"experiment file {str(path)!r}, line {_line_of(text, key)}"

    return settings_of(parse_toml(path, "experiment file"), path, place, [*ABOUT, *RUN_KEYS])


def parse_toml(path: Path, what: str) -> dict[str, Any]:
    """The content of a TOML file; `what` it is, for messages."""
    try:
        return tomllib.loads(_read(path, what))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{what} {str(path)!r} is not TOML: {error}") from None


def settings_of(
    table: Mapping[str, Any], path: Path, place: Callable[[str], str], known: Collection[str]
) -> dict[str, Any]:
    """A table's settings, checked by name; `-` is as good as `_`. `place` tells where a key is."""
    settings = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in known:
            raise BadInput(f"{place(key)}: key {key!r} is not known; {nearest(key, known)}")
        if name in NAMING_FILES:
            value = [_beside(path, item) for item in value] if isinstance(value, list) else _beside(path, value)
        settings[name] = value
    return settings


def read_experiment(path: str | Path, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Read an experiment file; `changes` win over what it says. How to run it, RUN_KEYS, is left to the caller."""
    settings = {key: value for key, value in read_settings(path).items() if key in ABOUT}
    changes = dict(changes or {})
    try:
        return Experiment(**{**settings, **changes})
    except BadInput as error:
        key = str(error).partition(" ")[0]
        if key in settings and key not in changes:
            place = f"experiment file {str(path)!r}, line {_line_of(_read(Path(path), 'experiment file'), key)}"
            raise BadInput(f"{place}: {error}") from None
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


def _read(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{what} {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _line_of(text: str, key: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*\[*["\']?{re.escape(key).replace("_", "[-_]")}\b', line):
            return number
    return 1


def _beside(path: Path, value: Any) -> Any:
    """A file named in an experiment file is looked for beside it, then in the current directory."""
    name, colon, rest = value.partition(":") if isinstance(value, str) else ("", "", "")
    if name.endswith((".json", ".py")) and (path.parent / name).exists():
        return f"{path.parent / name}{colon}{rest}"
    return value


def to_toml(experiment: Experiment, **changes: Any) -> str:
    """The experiment as a file that reproduces it, every setting explained; `changes` win."""
    lines = ["# byzmab simulate FILE.toml reproduces this experiment digit by digit."]
    for name, value in {**experiment.settings(), **changes}.items():
        if name in NAMING_FILES and name not in changes:
            value = anywhere(value)
        if value is not None:
            lines += ["", f"# {ABOUT[name]}", f"{name} = {json.dumps(value, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n"


def anywhere(value: str) -> str:
    """A plug-in's file by its absolute path, so that the experiment file can be moved."""
    name, colon, rest = value.partition(":")
    return f"{Path(name).absolute()}{colon}{rest}" if name.endswith(".py") and Path(name).is_file() else value


def make_directory(path: str | Path) -> Path:
    """A directory that can be written to, or BadInput; tried before anything is computed."""
    directory = Path(path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".byzmab-writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(
            f"out {str(path)!r} cannot be written to: {error.strerror}; allowed: a directory of yours"
        ) from None
    return directory


@contextmanager
def in_place(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; put in its place when all is written, so that no half file is ever seen."""
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"file {str(path)!r} cannot be written: {error.strerror or error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def write_result(result: Result, directory: Path) -> list[Path]:
    """Write the figure, the experiment that reproduces the result and, when these are there, the result itself."""
    graph, changes = result.experiment.parts.graph, {}
    files = save_figure(result.plot(), directory / "regret")
    if type(graph) is Given:  # edge by edge, so that the directory needs no other file
        files.append(directory / "graph.json")
        with in_place(files[-1]) as path:
            write_graph(graph, path)
        changes["graph"] = files[-1].name
    files += [directory / "experiment.toml", directory / "result.nc"]
    with in_place(files[-2]) as path:
        path.write_text(to_toml(result.experiment, **changes), encoding="utf-8")
    with in_place(files[-1]) as path:
        result.save(path)
    return files


def save_figure(drawn: "Axes | Figure", stem: Path) -> list[Path]:
    """Write a figure, or that of some axes, as PNG and PDF; the files written."""
    figure = drawn.get_figure(root=True)
    assert figure is not None
    files = [stem.with_suffix(suffix) for suffix in (".png", ".pdf")]
    for file in files:
        with in_place(file) as path:
            figure.savefig(path)
    return files
