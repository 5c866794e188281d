"""Experiment files: TOML in and out, and the directory that a simulation leaves behind."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byzmab.core.errors import BadInput, nearest
from byzmab.graphs.given import Given, write_graph
from byzmab.simulation.experiment import Experiment
from byzmab.simulation.result import Result
from byzmab.simulation.settings import ABOUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMING_FILES = ("graph", "attack", "filter", "policy")  # settings that may name a file


def read_experiment(path: str | Path, changes: Mapping[str, Any] | None = None) -> Experiment:
    """Read an experiment file; `changes` win over what it says."""
    path = Path(path)
    text = _read(path)
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"experiment file {str(path)!r} is not TOML: {error}") from None
    for key in settings:
        if key not in ABOUT:
            hint = nearest(key, ABOUT)
            raise BadInput(
                f"experiment file {str(path)!r}, line {_line_of(text, key)}: key {key!r} is not known; {hint}"
            )
    for key in NAMING_FILES:
        settings[key] = _beside(path, settings[key]) if key in settings else None
    settings = {key: value for key, value in settings.items() if value is not None}
    changes = dict(changes or {})
    try:
        return Experiment(**{**settings, **changes})
    except BadInput as error:
        key = str(error).partition(" ")[0]
        if key in settings and key not in changes:
            place = f"experiment file {str(path)!r}, line {_line_of(text, key)}"
            raise BadInput(f"{place}: {error}") from None
        raise


def open_experiment(path: str | Path | None, changes: Mapping[str, Any]) -> Experiment:
    """The experiment of a file with changes, or of the changes alone."""
    return Experiment(**changes) if path is None else read_experiment(path, changes)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"experiment file {str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None


def _line_of(text: str, key: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf'\s*\[*["\']?{re.escape(key)}\b', line):
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
        if value is not None:
            lines += ["", f"# {ABOUT[name]}", f"{name} = {json.dumps(value, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n"


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


def write_result(result: Result, directory: Path) -> list[Path]:
    """Write the result, the experiment that reproduces it and the regret figure; the files written."""
    graph, changes = result.experiment.parts.graph, {}
    files = [directory / name for name in ("result.nc", "experiment.toml")]
    if type(graph) is Given:  # edge by edge, so that the directory needs no other file
        files.append(directory / "graph.json")
        write_graph(graph, files[-1])
        changes["graph"] = files[-1].name
    result.save(files[0])
    files[1].write_text(to_toml(result.experiment, **changes), encoding="utf-8")
    return files + save_figure(result.plot(), directory / "regret")


def save_figure(axes: "Axes", stem: Path) -> list[Path]:
    """Write the figure of some axes as PNG and PDF; the files written."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    files = [stem.with_suffix(suffix) for suffix in (".png", ".pdf")]
    for file in files:
        figure.savefig(file)
    return files
